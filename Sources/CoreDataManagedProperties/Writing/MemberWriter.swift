import CoreDataPrimitives

/// Lists the members of managed object classes that key-value coding accesses, class by class.
struct MemberWriter {
    private let program: Program
    private var texts: [(type: TypeNode, text: MemberText)] = []
    private var isManaged: [ObjectIdentifier: Bool] = [:]
    private(set) var diagnostics: [Diagnostic] = []

    init(program: Program) { self.program = program }

    /// The lists, in the order in which the classes were found.
    var text: String { texts.map { $0.text.text() }.joined(separator: "\n") }

    mutating func add(_ declaration: MemberDeclaration, spelling: inout TypeSpelling) {
        guard let type = declaration.owner.type, isManagedObjectClass(type) else { return }
        if declaration.access.isOfFile || type.isOfFile || type.isGeneric {
            if declaration.member.role == .validator { warn(of: declaration, in: type) }
            return
        }
        guard let declared = type.declaration else { return }
        if texts.last?.type !== type, !texts.contains(where: { $0.type === type }) {
            texts.append((type, MemberText(type: spelling.text(declared), path: type.path)))
        }
        guard let index = texts.lastIndex(where: { $0.type === type }) else { return }
        texts[index].text.add(declaration.member, conditions: declaration.conditions)
    }

    private mutating func warn(of declaration: MemberDeclaration, in type: TypeNode) {
        let name = declaration.member.name
        let (reason, hint) =
            type.isGeneric
            ? ("'\(type.path)' is generic", "call it in an override of validateValue(_:forKey:)")
            : (
                declaration.access.isOfFile ? "it is private" : "'\(type.path)' is private",
                "make it internal, or call it in an override of validateValue(_:forKey:)"
            )
        guard let file = declaration.owner.file else { return }
        diagnostics.append(
            file.diagnostic(
                "'\(name)' is not called when objects are validated: \(reason)", .warning,
                at: declaration.member.position, hint: hint))
    }

    /// Returns whether a class is a managed object class, according to the sources.
    private mutating func isManagedObjectClass(_ type: TypeNode) -> Bool {
        if let known = isManaged[ObjectIdentifier(type)] { return known }
        // A class that inherits from itself is not one.
        isManaged[ObjectIdentifier(type)] = false
        guard case .nominal(.class) = type.kind, let superclass = type.inherited.first else { return false }
        var result = ["NSManagedObject", "CoreData.NSManagedObject"].contains(superclass.trimmedDescription)
        if !result {
            let resolver = TypeResolver(program: program, owner: type.owner)
            if let node = try? resolver.declaration(of: superclass) {
                result = isManagedObjectClass(node) || node.module.name == "CoreData" && node.path == "NSManagedObject"
            }
        }
        isManaged[ObjectIdentifier(type)] = result
        return result
    }
}
