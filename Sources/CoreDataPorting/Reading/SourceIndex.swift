import SwiftSyntax

/// What the sources of a folder declare, so that a source can be rewritten by what another one says.
struct SourceIndex: Sendable {
    struct Class: Sendable {
        var superclass: String?
        var path: String
    }

    /// Classes by their name without those around it.
    private(set) var classes: [String: Class] = [:]
    private(set) var typeNames: Set<String> = []
    /// A property marked with `@NSManaged`.
    struct ManagedProperty: Hashable, Sendable {
        var name: String
        /// The name with the backticks it has.
        var spelling: String
        var path: String
        /// Whether only its file can see it.
        var isPrivate: Bool
        /// Whether only its type can see it.
        var isHidden: Bool
    }

    /// Properties marked with `@NSManaged`, by their type's name, in the order of the sources.
    private(set) var managedProperties: [String: [ManagedProperty]] = [:]
    /// The names that `@objc(name)` gives to properties, by type and property.
    private(set) var objectiveCNames: [String: [String: String]] = [:]

    init(_ sources: [(path: String, tree: SourceFileSyntax)]) {
        for source in sources {
            let visitor = DeclarationVisitor(path: source.path)
            visitor.walk(source.tree)
            classes.merge(visitor.classes) { first, _ in first }
            typeNames.formUnion(visitor.typeNames)
            managedProperties.merge(visitor.managedProperties) { $0 + $1 }
            objectiveCNames.merge(visitor.objectiveCNames) { $0.merging($1) { first, _ in first } }
        }
    }

    /// Whether a class is one of managed objects, as far as these sources tell.
    func isManagedObjectClass(_ name: String) -> Bool {
        var seen: Set<String> = []
        var current = name
        while seen.insert(current).inserted, let superclass = classes[current]?.superclass {
            if superclass == "NSManagedObject" { return true }
            current = superclass
        }
        return false
    }

    /// A class's own and inherited properties, each name once.
    func allManagedProperties(of type: String) -> [ManagedProperty] {
        var properties: [ManagedProperty] = []
        var names: Set<String> = []
        var seen: Set<String> = []
        var current: String? = type
        while let name = current, seen.insert(name).inserted {
            properties += (managedProperties[name] ?? []).filter { names.insert($0.name).inserted }
            current = classes[name]?.superclass
        }
        return properties
    }

    /// The property that a to-many method such as `addToPages(_:)` is about.
    func managedProperty(named capitalised: String, of type: String) -> String {
        let lowercased = capitalised.prefix(1).lowercased() + capitalised.dropFirst()
        let known = Set((managedProperties[type] ?? []).map(\.name))
        return known.contains(lowercased) || !known.contains(capitalised) ? lowercased : capitalised
    }
}

/// Collects the declarations of one source.
private final class DeclarationVisitor: SyntaxVisitor {
    let path: String
    var classes: [String: SourceIndex.Class] = [:]
    var typeNames: Set<String> = []
    var managedProperties: [String: [SourceIndex.ManagedProperty]] = [:]
    var objectiveCNames: [String: [String: String]] = [:]

    init(path: String) {
        self.path = path
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        // A class has its superclass first; a protocol there does no harm.
        let superclass = node.inheritanceClause?.inheritedTypes.first?.type.lastTypeName
        classes[node.name.plainText] = SourceIndex.Class(superclass: superclass, path: path)
        typeNames.insert(node.name.plainText)
        return .visitChildren
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
        if let name = node.attributes.attribute(named: "objc")?.objectiveCName, names.count == 1 {
            objectiveCNames[type, default: [:]][names[0].plainText] = name
        }
        return .visitChildren
    }
}
