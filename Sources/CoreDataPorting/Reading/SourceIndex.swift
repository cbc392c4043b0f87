import SwiftSyntax

/// An index of the declarations in a folder's sources, which rewriting one source may need from another.
struct SourceIndex: Sendable {
    struct Class: Sendable {
        var superclass: String?
        var path: String
        var isGeneric = false
        /// Whether it is marked `@objcMembers`.
        var hasObjectiveCMembers = false
    }

    /// Classes by name, without enclosing types.
    private(set) var classes: [String: Class] = [:]
    private(set) var typeNames: Set<String> = []
    /// A property marked with `@NSManaged`.
    struct ManagedProperty: Hashable, Sendable {
        var name: String
        /// The name, with backticks if it has them.
        var spelling: String
        var path: String
        /// Whether only its file can access it.
        var isPrivate: Bool
        /// Whether only its type can access it.
        var isHidden: Bool
    }

    /// Properties marked with `@NSManaged`, by their type's name, in the order of the sources.
    private(set) var managedProperties: [String: [ManagedProperty]] = [:]
    /// The names that `@objc(name)` gives to properties, by type and property.
    private var objectiveCNames: [String: [String: String]] = [:]
    /// The names that `@objc(name) get` gives to properties' getters.
    private var getterNames: [String: [String: String]] = [:]
    /// The types that conform to `NSCoding`, according to their declarations or extensions.
    private var codingTypes: Set<String> = []
    /// The modules that one of these sources re-exports to all others: `@_exported import UIKit`.
    private(set) var exportedModules: Set<String> = []
    /// Apple's modules that a package provides to the target here.
    let presentModules: Set<String>

    init(
        _ sources: [(path: String, tree: SourceFileSyntax)], beside others: [(path: String, tree: SourceFileSyntax)],
        having presentModules: Set<String> = []
    ) {
        self.presentModules = presentModules
        for source in others {
            let visitor = DeclarationVisitor(path: source.path)
            visitor.walk(source.tree)
            typeNames.formUnion(visitor.typeNames)
        }
        for source in sources {
            let visitor = DeclarationVisitor(path: source.path)
            visitor.walk(source.tree)
            classes.merge(visitor.classes) { first, _ in first }
            typeNames.formUnion(visitor.typeNames)
            managedProperties.merge(visitor.managedProperties) { $0 + $1 }
            objectiveCNames.merge(visitor.objectiveCNames) { $0.merging($1) { first, _ in first } }
            getterNames.merge(visitor.getterNames) { $0.merging($1) { first, _ in first } }
            codingTypes.formUnion(visitor.codingTypes)
            exportedModules.formUnion(visitor.exportedModules)
        }
    }

    /// Returns whether a class is a managed object class, according to these sources.
    func isManagedObjectClass(_ name: String) -> Bool {
        var seen: Set<String> = []
        var current = name
        while seen.insert(current).inserted, let superclass = classes[current]?.superclass {
            if superclass == "NSManagedObject" { return true }
            current = superclass
        }
        return false
    }

    /// Returns whether Objective-C sees the members of a class, because it or a superclass has `@objcMembers`.
    func hasObjectiveCMembers(_ name: String) -> Bool {
        lineage(of: name).contains { classes[$0]?.hasObjectiveCMembers == true }
    }

    /// Returns whether objects of a class are archived: it is not a managed object class, and it conforms to
    /// `NSCoding`.
    func isArchived(_ name: String) -> Bool {
        !isManagedObjectClass(name) && lineage(of: name).contains(where: codingTypes.contains)
    }

    /// Returns a class and its superclasses, as far as these sources declare them.
    private func lineage(of type: String) -> [String] {
        var names: [String] = []
        var current: String? = type
        while let name = current, !names.contains(name) {
            names.append(name)
            current = classes[name]?.superclass
        }
        return names
    }

    /// Returns a class's own and inherited properties, each name once.
    func allManagedProperties(of type: String) -> [ManagedProperty] {
        var names: Set<String> = []
        return lineage(of: type).flatMap { managedProperties[$0] ?? [] }.filter { names.insert($0.name).inserted }
    }

    /// Returns the Objective-C name of an own or inherited property.
    func objectiveCName(of property: String, in type: String?) -> String {
        guard let type else { return property }
        return lineage(of: type).lazy.compactMap { objectiveCNames[$0]?[property] }.first ?? property
    }

    /// Returns the Objective-C name of a property's getter: `isRead` of `var read: Bool { @objc(isRead) get }`.
    func getterName(of property: String, in type: String?) -> String {
        let own = type.map(lineage)?.lazy.compactMap { getterNames[$0]?[property] }.first
        return own ?? objectiveCName(of: property, in: type)
    }

    /// Returns the property of a to-many method such as `addToPages(_:)`.
    func managedProperty(named capitalised: String, of type: String) -> String {
        declaredManagedProperty(named: capitalised, of: type)
            ?? capitalised.prefix(1).lowercased() + capitalised.dropFirst()
    }

    /// Returns `pages` or `Pages` for `Pages`, if the class has or inherits it.
    func declaredManagedProperty(named capitalised: String, of type: String) -> String? {
        let lowercased = capitalised.prefix(1).lowercased() + capitalised.dropFirst()
        let known = Set(allManagedProperties(of: type).map(\.name))
        return [lowercased, capitalised].first(where: known.contains)
    }
}

/// Collects the declarations of one source.
private final class DeclarationVisitor: SyntaxVisitor {
    let path: String
    var classes: [String: SourceIndex.Class] = [:]
    var typeNames: Set<String> = []
    var managedProperties: [String: [SourceIndex.ManagedProperty]] = [:]
    var objectiveCNames: [String: [String: String]] = [:]
    var getterNames: [String: [String: String]] = [:]
    var codingTypes: Set<String> = []
    var exportedModules: Set<String> = []

    init(path: String) {
        self.path = path
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        if node.attributes.attribute(named: "_exported") != nil, let module = node.path.first?.name.plainText {
            exportedModules.insert(module)
        }
        return .skipChildren
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        // A class lists its superclass first; a protocol in this position does no harm.
        let superclass = node.inheritanceClause?.inheritedTypes.first?.type.lastTypeName
        classes[node.name.plainText] = SourceIndex.Class(
            superclass: superclass, path: path, isGeneric: node.genericParameterClause != nil,
            hasObjectiveCMembers: node.attributes.attribute(named: "objcMembers") != nil)
        typeNames.insert(node.name.plainText)
        noteCoding(node.inheritanceClause, of: node.name.plainText)
        return .visitChildren
    }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        if let name = node.extendedType.lastTypeName { noteCoding(node.inheritanceClause, of: name) }
        return .visitChildren
    }

    private func noteCoding(_ clause: InheritanceClauseSyntax?, of name: String) {
        let inherited = Set(clause?.inheritedTypes.compactMap { $0.type.lastTypeName } ?? [])
        if !inherited.isDisjoint(with: ["NSCoding", "NSSecureCoding"]) { codingTypes.insert(name) }
    }

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { note(node.name) }

    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { note(node.name) }

    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind { note(node.name) }

    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind { note(node.name) }

    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { note(node.name) }

    private func note(_ name: TokenSyntax) -> SyntaxVisitorContinueKind {
        typeNames.insert(name.plainText)
        return .visitChildren
    }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        guard let type = Syntax(node).enclosingTypeName?.split(separator: ".").last.map(String.init) else {
            return .visitChildren
        }
        let names = node.bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier }
        if node.attributes.attribute(named: "NSManaged") != nil {
            managedProperties[type, default: []] += names.map {
                SourceIndex.ManagedProperty(
                    name: $0.plainText, spelling: $0.text, path: path,
                    isPrivate: node.modifiers.modifier("private", "fileprivate") != nil,
                    isHidden: node.modifiers.modifier("private") != nil)
            }
        }
        guard names.count == 1, let property = names.first?.plainText else { return .visitChildren }
        if let name = node.attributes.attribute(named: "objc")?.objectiveCName {
            objectiveCNames[type, default: [:]][property] = name
        }
        if case .accessors(let accessors) = node.bindings.first?.accessorBlock?.accessors,
            let getter = accessors.first(where: { $0.accessorSpecifier.text == "get" }),
            let name = getter.attributes.attribute(named: "objc")?.objectiveCName
        {
            getterNames[type, default: [:]][property] = name
        }
        return .visitChildren
    }
}
