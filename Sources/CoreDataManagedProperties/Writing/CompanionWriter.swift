import CoreDataPrimitives
import SwiftSyntax

/// Writes a companion, declaration by declaration.
struct CompanionWriter {
    private let program: Program
    private var spelling: TypeSpelling
    private var keys = SourceLines()
    private var accessors = SourceLines()
    private var keyNames: [KeyIdentity: String] = [:]
    private var usedNames: Set<String> = []
    private var imports: [String: Set<String>] = [:]
    private var members: MemberWriter
    private var ownDiagnostics: [Diagnostic] = []
    var diagnostics: [Diagnostic] { ownDiagnostics + members.diagnostics }
    private(set) var symbols: [String] = []

    private struct KeyIdentity: Hashable {
        var type: ObjectIdentifier
        var key: String
        var valueType: String
        var conditions: [String]
    }

    /// A declaration with its class and file.
    private struct Subject {
        let declaration: ManagedDeclaration
        let type: TypeNode
        let context: NominalDeclaration.Context
        let file: SourceFile

        var discriminator: String? { declaration.access.isOfFile ? file.discriminator : nil }

        /// The modifier that makes the function visible to the linker of other modules.
        var modifier: String {
            switch min(declaration.access, type.effectiveAccess) {
            case .public: "public "
            case .package: "package "
            default: ""
            }
        }
    }

    init(program: Program) {
        self.program = program
        spelling = TypeSpelling(program: program)
        members = MemberWriter(program: program)
    }

    // MARK: Declarations

    mutating func add(_ declaration: ManagedDeclaration) {
        do {
            let subject = try subject(of: declaration)
            switch declaration.shape {
            case .variable(let type): try addVariable(subject, type)
            case .method(let parameters, let returnsValue): try addMethod(subject, parameters, returnsValue)
            }
        } catch {
            guard let file = declaration.owner.file else { return }
            ownDiagnostics.append(file.diagnostic(error.message, at: error.position, hint: error.hint))
        }
    }

    mutating func add(_ declaration: MemberDeclaration) {
        members.add(declaration, spelling: &spelling)
        for (module, text) in declaration.owner.file?.imports ?? [:] { imports[module, default: []].insert(text) }
    }

    private func subject(of declaration: ManagedDeclaration) throws(ResolutionFailure) -> Subject {
        if case .extension(let node) = declaration.owner, node.extended == nil {
            _ = try TypeResolver(program: program, owner: .file(node.file)).declaration(of: node.typeSyntax)
        }
        guard let type = declaration.owner.type, let file = declaration.owner.file else {
            throw failure(declaration, "@NSManaged needs a class around it", "move '\(declaration.name)' into a class")
        }
        guard case .nominal(.class) = type.kind else {
            throw failure(
                declaration, "'\(type.path)' is not a class", "only classes of managed objects have managed properties")
        }
        if type.isGeneric {
            throw failure(
                declaration, "'\(declaration.name)' is in a generic class", "take the class out of the generic type")
        }
        if type.isOfFile {
            throw failure(
                declaration,
                "'\(declaration.name)' cannot be reached: '\(type.path)' is private, so no other file can extend it",
                "make the class internal; its properties may stay private")
        }
        let context: NominalDeclaration.Context? =
            if case .extension(let node) = declaration.owner { node.context } else {
                type.declaration.map { .type($0) }
            }
        guard let context else {
            throw failure(declaration, "cannot tell what '\(type.path)' is declared in", "declare it at file level")
        }
        return Subject(declaration: declaration, type: type, context: context, file: file)
    }

    private mutating func addVariable(_ subject: Subject, _ syntax: TypeSyntax) throws(ResolutionFailure) {
        let declaration = subject.declaration
        let type = try resolve(syntax, for: subject)
        let member = MangledMember(
            in: subject.context, name: declaration.name, discriminator: subject.discriminator, .variable(type))
        let valueType = spelling.text(type)
        let primitive = primitiveKey(subject)
        let key = keyName(subject, key: primitive ?? declaration.name, valueType: valueType)
        let access = primitive == nil ? "self[\(key)]" : "self[primitive: \(key)]"
        addFunction(
            member.getter, "\(uniqueName(subject, declaration.name))() -> \(valueType) { \(access) }", subject)
        addFunction(
            member.setter,
            "\(uniqueName(subject, "set" + declaration.name.capitalizedFirst))(_ value: __owned \(valueType)) { \(access) = value }",
            subject)
    }

    private mutating func addMethod(
        _ subject: Subject, _ parameters: [ManagedDeclaration.Parameter], _ returnsValue: Bool
    ) throws(ResolutionFailure) {
        let declaration = subject.declaration
        var types: [MangledType] = []
        for parameter in parameters { types.append(try resolve(parameter.type, for: subject)) }
        guard !returnsValue,
            let method = CollectionMethod(
                name: declaration.name, labels: parameters.map(\.label), selector: declaration.objectiveCName,
                isMany: types.first?.isCollection == true,
                isDeclared: { declaredProperty($0, in: subject.type) != nil })
        else {
            throw failure(
                declaration, "'\(declaration.name)' is no method that a managed object supplies",
                "supplied are addToItems(_:), removeFromItems(_:), insertIntoItems(_:at:), removeFromItems(at:) and "
                    + "replaceItems(at:with:); write others yourself")
        }
        let member = MangledMember(
            in: subject.context, name: declaration.name, discriminator: subject.discriminator,
            .method(labels: parameters.map(\.label), parameters: types))
        let key = keyName(
            subject, key: propertyName(method.capitalizedKey, in: subject.type), valueType: "Foundation.NSSet")
        // Methods with indexes pass their members as arrays.
        let isPlaced = method.operation == .insert || method.operation == .replace
        let arguments = types.enumerated().map { number, type in
            isPlaced && type.isCollection ? "p\(number)" : type.argumentForm("p\(number)")
        }
        let texts = types.enumerated().map { "_ p\($0.offset): \(spelling.text($0.element))" }
        addFunction(
            member.method,
            "\(uniqueName(subject, declaration.name))(\(texts.joined(separator: ", "))) { "
                + "\(method.body(arguments, key: key)) }", subject)
    }

    private func resolve(_ syntax: TypeSyntax, for subject: Subject) throws(ResolutionFailure) -> MangledType {
        let type = try TypeResolver(program: program, owner: subject.declaration.owner).resolve(syntax)
        if let hidden = type.privateDeclaration {
            throw ResolutionFailure(
                message:
                    "'\(subject.declaration.name)' has the private type '\(hidden.name)', which no other file can name",
                hint: "make '\(hidden.name)' internal", position: syntax.positionAfterSkippingLeadingTrivia)
        }
        return type
    }

    // MARK: Keys

    /// Returns the property whose primitive value is `primitiveName`.
    private func primitiveKey(_ subject: Subject) -> String? {
        let prefix = "primitive"
        let name = subject.declaration.name
        guard name.hasPrefix(prefix), let first = name.dropFirst(prefix.count).first, !first.isLowercase else {
            return nil
        }
        return propertyName(String(name.dropFirst(prefix.count)), in: subject.type)
    }

    /// Returns the property for a capitalised name: a declared one, else the name with a lower-case first letter.
    private func propertyName(_ capitalized: String, in type: TypeNode) -> String {
        declaredProperty(capitalized, in: type) ?? capitalized.prefix(1).lowercased() + capitalized.dropFirst()
    }

    private func declaredProperty(_ capitalized: String, in type: TypeNode) -> String? {
        program.managed.first { declaration in
            guard case .variable = declaration.shape, declaration.owner.type === type else { return false }
            return declaration.name.capitalizedFirst == capitalized
        }?.name
    }

    private mutating func keyName(_ subject: Subject, key: String, valueType: String) -> String {
        let identity = KeyIdentity(
            type: ObjectIdentifier(subject.type), key: key, valueType: valueType,
            conditions: subject.declaration.conditions)
        if let known = keyNames[identity] { return known }
        let name = unique(subject.type.path.replacing(".", with: "_") + "_" + key)
        keys.add(
            ["    nonisolated static let \(name) = PropertyKey<\(valueType)>(\"\(key)\")"],
            conditions: subject.declaration.conditions)
        keyNames[identity] = "ManagedKeys.\(name)"
        return "ManagedKeys.\(name)"
    }

    // MARK: Text

    private mutating func addFunction(_ symbol: String, _ signature: String, _ subject: Subject) {
        symbols.append(symbol)
        guard let type = subject.type.declaration else { return }
        for (module, text) in subject.file.imports { imports[module, default: []].insert(text) }
        // `@NSManaged` implies dynamic. A function visible to other modules must be dynamic here too; otherwise the
        // compiler crashes on an optimised client, because it finds two different descriptions of one symbol.
        let dynamic = subject.modifier.isEmpty ? "" : "dynamic "
        accessors.add(
            [
                "extension \(spelling.text(type)) {",
                "    @_silgen_name(\"\(symbol)\")",
                "    nonisolated \(subject.modifier)\(dynamic)func \(signature)",
                "}",
            ], conditions: subject.declaration.conditions)
    }

    /// Returns a name that no override in a subclass of any module has.
    private mutating func uniqueName(_ subject: Subject, _ name: String) -> String {
        unique("_managed_\(program.target.name)_\(subject.type.path.replacing(".", with: "_"))_\(name)")
    }

    private mutating func unique(_ name: String) -> String {
        var candidate = name
        var number = 2
        while !usedNames.insert(candidate).inserted {
            candidate = "\(name)_\(number)"
            number += 1
        }
        return candidate
    }

    private func failure(_ declaration: ManagedDeclaration, _ message: String, _ hint: String) -> ResolutionFailure {
        ResolutionFailure(message: message, hint: hint, position: declaration.position)
    }

    var text: String {
        var text = """
            // The accessors of the @NSManaged declarations of module \(program.target.name), and what key-value coding
            // finds in its classes; written by NSManagedPlugin at each build. See docs/managed-properties.md of
            // OpenCoreData.

            """
        let members = members.text
        if symbols.isEmpty, members.isEmpty { return text }
        text += "#if !canImport(ObjectiveC)\n" + importLines.joined(separator: "\n") + "\n\n"
        if !symbols.isEmpty { text += "private enum ManagedKeys {\n" + keys.text + "}\n\n" + accessors.text }
        text += members + "#endif\n"
        return text
    }

    /// The imports of the modules in the text, with the access levels of the declaring files.
    private var importLines: [String] {
        var modules = spelling.modules.subtracting(["Swift", program.target.name])
        modules = modules.filter { !$0.hasPrefix("Foundation") }.union(["CoreData", "Foundation"])
        return modules.sorted().map { module in
            let texts = imports[module] ?? []
            return ["public", "package"].lazy.compactMap { access in texts.first { $0.hasPrefix(access) } }.first
                ?? "import \(module)"
        }
    }
}

/// Lines of source, grouped by `#if` condition.
private struct SourceLines {
    private(set) var text = ""

    mutating func add(_ lines: [String], conditions: [String]) {
        if !conditions.isEmpty { text += "#if " + conditions.map { "(\($0))" }.joined(separator: " && ") + "\n" }
        for line in lines { text += line + "\n" }
        if !conditions.isEmpty { text += "#endif\n" }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
