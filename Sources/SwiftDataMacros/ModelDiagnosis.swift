import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// What a declaration with `@Model` or `@ModelActor` cannot have.
enum ModelDiagnosis {
    /// Reports a declaration that is no class, or a generic one.
    ///
    /// - Returns: whether it can be a model.
    static func reportKind(
        of declaration: some DeclGroupSyntax, attribute: AttributeSyntax, in context: some MacroExpansionContext
    ) -> Bool {
        guard let node = declaration.as(ClassDeclSyntax.self) else {
            context.diagnose(notAClass(declaration, attribute: attribute))
            return false
        }
        if node.name.text == "ID" {
            // The name of the class would be found in the class first.
            let message = MacroMessage(
                "name",
                "A model cannot be named 'ID', which is the type of its identifier inside the class: rename the class")
            context.diagnose(Diagnostic(node: node.name, message: message))
            return false
        }
        guard let generic = genericContext(of: node, in: context) else { return true }
        let message = MacroMessage(
            "generic",
            """
            '@Model' cannot be applied to class '\(node.name.text)' in a generic context: an entity has one class; \
            remove the generic parameters
            """)
        context.diagnose(Diagnostic(node: generic, message: message))
        return false
    }

    /// Reports the members that a model cannot have, and those that it lacks, at the place where they have to be
    /// changed.
    static func reportMembers(of model: ModelDeclaration, in context: some MacroExpansionContext) {
        let node = model.node
        for member in node.memberBlock.members {
            if let variable = member.decl.as(VariableDeclSyntax.self) {
                PropertyDiagnosis(variable).diagnostics.forEach(context.diagnose)
            } else if let condition = member.decl.as(IfConfigDeclSyntax.self) {
                conditionalProperties(in: condition).forEach(context.diagnose)
            }
        }
        if !model.hasInitializer { context.diagnose(missingInitializer(model)) }
    }

    // MARK: Kinds of declarations

    /// The generic parameters of the class itself or of a declaration around it.
    static func genericContext(of node: ClassDeclSyntax, in context: some MacroExpansionContext) -> Syntax? {
        if let parameters = node.genericParameterClause { return Syntax(parameters) }
        // The class itself is part of the lexical context of its members, and of no other.
        let isAround = context.lexicalContext.contains { node in
            node.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
        }
        return isAround ? Syntax(node.name) : nil
    }

    private static func notAClass(_ declaration: some DeclGroupSyntax, attribute: AttributeSyntax) -> Diagnostic {
        let (kind, name) = kindAndName(of: declaration)
        let message = MacroMessage(
            "notAClass", "'@Model' cannot be applied to \(kind) '\(name)': a model is a class")
        guard let structure = declaration.as(StructDeclSyntax.self) else {
            return Diagnostic(node: attribute, message: message)
        }
        let fixIt = FixIt.replace(
            message: MacroMessage("makeClass", "replace 'struct' with 'final class'"),
            oldNode: structure.structKeyword,
            newNode: structure.structKeyword.with(\.tokenKind, .identifier("final class")))
        return Diagnostic(node: attribute, message: message, fixIts: [fixIt])
    }

    static func notAnActor(_ declaration: some DeclGroupSyntax, attribute: AttributeSyntax) -> Diagnostic {
        let (kind, name) = kindAndName(of: declaration)
        return Diagnostic(
            node: attribute,
            message: MacroMessage(
                "notAnActor", "'@ModelActor' cannot be applied to \(kind) '\(name)': only an actor has an executor"))
    }

    private static func kindAndName(of declaration: some DeclGroupSyntax) -> (kind: String, name: String) {
        let kind = declaration.introducer.text
        if let named = declaration.asProtocol((any NamedDeclSyntax).self) { return (kind, named.name.text) }
        let extended = declaration.as(ExtensionDeclSyntax.self)?.extendedType.trimmedDescription
        return (kind, extended ?? "")
    }

    // MARK: Members

    private static func missingInitializer(_ model: ModelDeclaration) -> Diagnostic {
        let message = MacroMessage(
            "noInitializer", "@Model requires an initializer be provided for '\(model.name)'")
        guard let text = InitializerSuggestion(model).text else {
            return Diagnostic(node: model.node.name, message: message)
        }
        let members = model.node.memberBlock.members
        let item = MemberBlockItemSyntax(leadingTrivia: .newlines(2), decl: DeclSyntax("\(raw: text)"))
        let fixIt = FixIt.replace(
            message: MacroMessage("addInitializer", "add an initializer with a parameter for each property"),
            oldNode: members, newNode: members + [item])
        return Diagnostic(node: model.node.name, message: message, fixIts: [fixIt])
    }

    /// Which branch is compiled is unknown when the macro expands, and so is the number of each property.
    private static func conditionalProperties(in condition: IfConfigDeclSyntax) -> [Diagnostic] {
        condition.clauses.flatMap { clause -> [Diagnostic] in
            guard case .decls(let members) = clause.elements else { return [] }
            return members.compactMap { member in
                guard let variable = member.decl.as(VariableDeclSyntax.self), variable.isPersisted else { return nil }
                let message = MacroMessage(
                    "conditional",
                    """
                    A persisted property cannot be declared inside '#if': a store needs one schema; \
                    declare it outside, or mark it '@Transient'
                    """)
                return Diagnostic(node: variable, message: message)
            }
        }
    }
}

/// The initializer that the class lacks.
private struct InitializerSuggestion {
    /// `nil` where a property's type is not written.
    let text: String?

    init(_ model: ModelDeclaration) {
        var parameters: [String] = []
        var assignments: [String] = []
        for property in model.properties where !(property.isConstant && property.initialValue != nil) {
            guard property.type != nil || property.initialValue != nil else {
                text = nil
                return
            }
            // A property with a value and no type keeps the value.
            guard let type = property.type?.expressible else { continue }
            let value = property.initialValue.map { " = \($0.trimmedDescription)" } ?? (type.isOptional ? " = nil" : "")
            parameters.append("\(property.identifier.text): \(type.description)\(value)")
            assignments.append("        self.\(property.identifier.text) = \(property.identifier.text)")
        }
        let body = assignments.isEmpty ? "{}" : "{\n\(assignments.joined(separator: "\n"))\n    }"
        text = "    \(model.access)init(\(parameters.joined(separator: ", "))) \(body)"
    }
}
