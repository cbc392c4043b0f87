import SwiftSyntax

/// Ports `#keyPath`, whose value is a string constant.
extension PortVisitor {
    func portKeyPath(_ node: MacroExpansionExprSyntax) {
        let range = node.span
        guard node.arguments.count == 1, let argument = node.arguments.first, argument.label == nil,
            let components = Self.components(of: argument.expression)
        else {
            remark("cannot tell the key path's names", at: range.lowerBound, hint: "write it as a string")
            return
        }
        var (type, names) = property(components, at: Syntax(node))
        if let first = names.first { names[0] = index.objectiveCName(of: first, in: type) }
        rewrite(range, to: "\"\(names.joined(separator: "."))\"", as: .keyPath)
    }

    /// Splits a path of names into the type that it starts with and the properties after it.
    ///
    /// In `Module.Outer.Book.author.name`, the types come first and are capitalised; the last name is a property.
    func property(_ components: [String], at node: Syntax) -> (type: String?, names: [String]) {
        let types = components.prefix { $0.first?.isUppercase == true }.prefix(components.count - 1)
        let own = node.enclosingTypeName?.split(separator: ".").last.map(String.init)
        let type = types.last.flatMap { $0 == "Self" ? own : $0 } ?? own
        return (type, Array(components.dropFirst(types.count)))
    }

    /// Returns the names of `A.b.c`; `nil` for any other expression.
    static func components(of expression: ExprSyntax) -> [String]? {
        if let reference = expression.as(DeclReferenceExprSyntax.self), reference.argumentNames == nil {
            return [reference.baseName.plainText]
        }
        if let generic = expression.as(GenericSpecializationExprSyntax.self) {
            return components(of: generic.expression)
        }
        guard let access = expression.as(MemberAccessExprSyntax.self), access.declName.argumentNames == nil,
            let base = access.base, let before = components(of: base)
        else { return nil }
        return before + [access.declName.baseName.plainText]
    }
}
