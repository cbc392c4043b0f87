import SwiftSyntax

/// What a model class declares, as far as its macro needs it.
struct ModelDeclaration {
    let node: ClassDeclSyntax
    /// The persisted properties in the order of the source; their indexes are those of the schema's metadata.
    let properties: [StoredProperty]
    /// `#Index` and `#Unique` in the class, indexes first.
    let constraints: [Constraint]

    /// An `#Index` or `#Unique`.
    struct Constraint {
        /// `Index` or `Unique`.
        let kind: String
        /// The arguments without their parentheses.
        let arguments: String
    }

    init(_ node: ClassDeclSyntax) {
        self.node = node
        var properties: [StoredProperty] = []
        var indexes: [Constraint] = []
        var uniques: [Constraint] = []
        for member in node.memberBlock.members {
            if let variable = member.decl.as(VariableDeclSyntax.self), variable.isPersisted {
                // Several variables in one declaration are an error, which is reported elsewhere.
                guard variable.bindings.count == 1, let binding = variable.bindings.first,
                    let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
                else { continue }
                properties.append(
                    StoredProperty(
                        index: properties.count, declaration: variable, binding: binding,
                        identifier: pattern.identifier.trimmed))
            } else if let macro = member.decl.as(MacroExpansionDeclSyntax.self) {
                let constraint = Constraint(
                    kind: macro.macroName.text, arguments: macro.arguments.trimmedDescription)
                switch constraint.kind {
                case "Index": indexes.append(constraint)
                case "Unique": uniques.append(constraint)
                default: break
                }
            }
        }
        self.properties = properties
        constraints = indexes + uniques
    }

    /// The class's name as expressions inside it use it.
    var name: String { node.name.text }
    var access: String { node.modifiers.memberAccess }
    var isFinal: Bool { node.modifiers.contains(.final) }
    var isOfMainActor: Bool { node.attributes.attribute(named: "MainActor") != nil }
    /// Whether the class declares a property `id`, which hides the identifier of the row.
    var declaresIdentity: Bool {
        node.memberBlock.members.contains { member in
            guard let variable = member.decl.as(VariableDeclSyntax.self), !variable.modifiers.contains(.static, .class)
            else { return false }
            return variable.bindings.contains { $0.pattern.trimmedDescription == "id" }
        }
    }
    var hasInitializer: Bool { node.memberBlock.members.contains { $0.decl.is(InitializerDeclSyntax.self) } }

    /// The first type that the class inherits from: its superclass, if it has one.
    var firstInheritedType: TypeSyntax? { node.inheritanceClause?.inheritedTypes.first?.type.trimmed }

    /// The persisted property that the member declares; `nil` where the macro leaves it alone.
    func property(declaredBy member: some DeclSyntaxProtocol) -> StoredProperty? {
        guard let variable = member.as(VariableDeclSyntax.self), variable.isPersisted,
            let pattern = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)
        else { return nil }
        return properties.first { $0.identifier.text == pattern.identifier.text }
    }
}
