import SwiftSyntax

/// The reason why a type cannot be resolved.
struct ResolutionFailure: Error {
    var message: String
    var hint: String
    var position: AbsolutePosition
}

/// Resolves a written type to its canonical form: without aliases and syntactic sugar.
///
///     [Shape]?        // optional of Swift.Array with Shapes.Shape
struct TypeResolver {
    let program: Program
    let owner: Owner
    /// The types bound to the generic parameters of an alias.
    var bindings: [String: MangledType] = [:]
    /// The number of aliases that were followed.
    var depth = 0

    init(program: Program, owner: Owner) {
        self.program = program
        self.owner = owner
    }

    /// The meaning of a name, without its generic arguments.
    private enum Meaning {
        case type(MangledType)
        case declaration(TypeNode, levels: [[MangledType]])
    }

    func resolve(_ syntax: TypeSyntax) throws(ResolutionFailure) -> MangledType {
        switch syntax.as(TypeSyntaxEnum.self) {
        case .optionalType(let type): return .optional(try resolve(type.wrappedType))
        case .implicitlyUnwrappedOptionalType(let type): return .optional(try resolve(type.wrappedType))
        case .arrayType(let type): return bound("Array", [try resolve(type.element)])
        case .dictionaryType(let type): return bound("Dictionary", [try resolve(type.key), try resolve(type.value)])
        case .attributedType(let type): return try resolve(type.baseType)
        case .someOrAnyType(let type) where type.someOrAnySpecifier.text == "any": return try resolve(type.constraint)
        case .tupleType(let type): return try resolve(type)
        case .compositionType(let type): return try composition(type.elements.map(\.type), at: syntax)
        case .identifierType, .memberType: return try type(of: try meaning(syntax), at: syntax)
        default: throw unsupported(syntax)
        }
    }

    /// Returns the declared type that the syntax names, ignoring generic arguments.
    func declaration(of syntax: TypeSyntax) throws(ResolutionFailure) -> TypeNode {
        let plain: TypeSyntax
        if let identifier = syntax.as(IdentifierTypeSyntax.self) {
            plain = TypeSyntax(identifier.with(\.genericArgumentClause, nil))
        } else {
            plain = syntax.as(AttributedTypeSyntax.self)?.baseType ?? syntax
        }
        if case .declaration(let node, _) = try meaning(plain) { return node }
        throw unsupported(syntax)
    }

    // MARK: Names

    private func meaning(_ syntax: TypeSyntax) throws(ResolutionFailure) -> Meaning {
        if let identifier = syntax.as(IdentifierTypeSyntax.self) {
            let name = identifier.name.identifierText
            if let bound = bindings[name] { return .type(bound) }
            switch name {
            case "Any": return .type(.existential([], isClass: false))
            case "AnyObject": return .type(.existential([], isClass: true))
            case "Void": return .type(.void)
            default: break
            }
            let node = try one(of: program.lookUp(name, in: owner), named: name, at: syntax)
            return try apply(identifier.genericArgumentClause, to: node, outer: nil, at: syntax)
        }
        guard let member = syntax.as(MemberTypeSyntax.self) else { throw unsupported(syntax) }
        let name = member.name.identifierText
        if let module = member.baseType.as(IdentifierTypeSyntax.self)?.name.identifierText,
            program.lookUp(module, in: owner).isEmpty,
            let found = program.lookUp(name, inModule: module, seenFrom: owner)
        {
            if module == "Swift", name == "AnyObject" { return .type(.existential([], isClass: true)) }
            let node = try one(of: found, named: "\(module).\(name)", at: syntax)
            return try apply(member.genericArgumentClause, to: node, outer: nil, at: syntax)
        }
        guard case .declaration(let base, let levels) = try meaning(member.baseType) else { throw unsupported(syntax) }
        let found = program.members(name, of: base, seenFrom: owner)
        let node = try one(of: found, named: "\(base.path).\(name)", at: syntax)
        return try apply(member.genericArgumentClause, to: node, outer: levels, at: syntax)
    }

    private func one(
        of found: [TypeNode], named name: String, at syntax: TypeSyntax
    ) throws(ResolutionFailure) -> TypeNode {
        if let first = found.first, found.count == 1 { return first }
        let position = syntax.positionAfterSkippingLeadingTrivia
        if found.isEmpty {
            throw ResolutionFailure(
                message: "cannot find type '\(name)', which the symbol of the property names",
                hint: "declare it in this target or in a target it depends on and import it in this file; types of "
                    + "binary modules and those that macros or other plugins make cannot be read",
                position: position)
        }
        throw ResolutionFailure(
            message: "type '\(name)' is ambiguous: "
                + found.map { "\($0.module.name).\($0.path)" }.joined(separator: ", "),
            hint: "write its module before it: '\(found[0].module.name).\(found[0].path)'", position: position)
    }

    /// Applies generic arguments to a declaration; an alias is followed.
    private func apply(
        _ clause: GenericArgumentClauseSyntax?, to node: TypeNode, outer: [[MangledType]]?, at syntax: TypeSyntax
    ) throws(ResolutionFailure) -> Meaning {
        var arguments: [MangledType] = []
        for argument in clause?.arguments ?? [] {
            // Before swift-syntax 601, the argument is a type; since then, a type or a value.
            guard let type = Syntax(argument.argument).as(TypeSyntax.self) else { throw unsupported(syntax) }
            arguments.append(try resolve(type))
        }
        guard case .alias(let target) = node.kind else {
            let parents = outer ?? node.owner.type.map { emptyLevels(for: $0) } ?? []
            return .declaration(node, levels: parents + [arguments])
        }
        var inner = TypeResolver(program: program, owner: node.owner)
        inner.depth = depth + 1
        guard depth < 64, arguments.count == node.genericParameters.count else { throw unsupported(syntax) }
        for (name, argument) in zip(node.genericParameters, arguments) { inner.bindings[name] = argument }
        do {
            if target.is(IdentifierTypeSyntax.self) || target.is(MemberTypeSyntax.self) {
                return try inner.meaning(target)
            }
            return .type(try inner.resolve(target))
        } catch {
            // The alias may be in another file; report the property's location in this one.
            throw ResolutionFailure(
                message: "in alias '\(node.path)': \(error.message)", hint: error.hint,
                position: syntax.positionAfterSkippingLeadingTrivia)
        }
    }

    private func emptyLevels(for node: TypeNode) -> [[MangledType]] {
        (node.owner.type.map { emptyLevels(for: $0) } ?? []) + [[]]
    }

    // MARK: Types

    private func type(of meaning: Meaning, at syntax: TypeSyntax) throws(ResolutionFailure) -> MangledType {
        switch meaning {
        case .type(let type): return type
        case .declaration(let node, let levels):
            guard let declaration = node.declaration else { throw unsupported(syntax) }
            if declaration.kind == .protocol { return .existential([declaration], isClass: false) }
            if node.module.name == "Swift", node.path == "Optional", let wrapped = levels.last?.first {
                return .optional(wrapped)
            }
            if levels.last?.count != node.genericParameters.count {
                throw ResolutionFailure(
                    message: "'\(syntax.trimmedDescription)' needs its generic arguments",
                    hint: "write them: '\(node.name)<\(node.genericParameters.joined(separator: ", "))>'",
                    position: syntax.positionAfterSkippingLeadingTrivia)
            }
            return levels.allSatisfy(\.isEmpty) ? .nominal(declaration) : .bound(declaration, levels)
        }
    }

    private func resolve(_ tuple: TupleTypeSyntax) throws(ResolutionFailure) -> MangledType {
        var elements: [MangledType.Element] = []
        for element in tuple.elements {
            elements.append(.init(label: element.firstName?.identifierText, try resolve(element.type)))
        }
        return elements.count == 1 ? elements[0].type : .tuple(elements)
    }

    private func composition(_ types: [TypeSyntax], at syntax: TypeSyntax) throws(ResolutionFailure) -> MangledType {
        var protocols: Set<NominalDeclaration> = []
        var isClass = false
        for type in types {
            guard case .existential(let some, let needsClass) = try resolve(type) else { throw unsupported(syntax) }
            protocols.formUnion(some)
            isClass = isClass || needsClass
        }
        let sorted = protocols.sorted { ($0.module, $0.name) < ($1.module, $1.name) }
        return .existential(sorted, isClass: isClass)
    }

    private func bound(_ name: String, _ arguments: [MangledType]) -> MangledType {
        .bound(NominalDeclaration(.struct, name, in: .module("Swift")), [arguments])
    }

    private func unsupported(_ syntax: TypeSyntax) -> ResolutionFailure {
        ResolutionFailure(
            message: "type '\(syntax.trimmedDescription)' is not supported for a property marked @NSManaged",
            hint: "use a type that a managed object can store, or a computed property on top of one",
            position: syntax.positionAfterSkippingLeadingTrivia)
    }
}

extension TypeNode {
    /// The type in symbols; `nil` for an alias, and inside an extension of an unknown type.
    var declaration: NominalDeclaration? {
        guard case .nominal(let kind) = kind else { return nil }
        let context: NominalDeclaration.Context
        switch owner {
        case .file: context = .module(module.name)
        case .type(let type):
            guard let outer = type.declaration else { return nil }
            context = .type(outer)
        case .extension(let node):
            guard let outer = node.context else { return nil }
            context = outer
        }
        let isOutermostPrivate = access.isOfFile && owner.type?.isOfFile != true
        return NominalDeclaration(
            kind, name, in: context, discriminator: isOutermostPrivate ? file?.discriminator : nil)
    }
}

extension ExtensionNode {
    /// The context of the extension's members in symbols.
    var context: NominalDeclaration.Context? {
        guard let extended, let type = extended.declaration else { return nil }
        return extended.module === file.module ? .type(type) : .extension(of: type, module: file.module.name)
    }
}

extension SourceFile {
    var discriminator: String { FileDiscriminator.text(module: module.name, fileName: name) }
}
