import SwiftSyntax

/// Ports `#selector` to a method reference or a name.
extension PortVisitor {
    func portSelector(_ node: MacroExpansionExprSyntax) {
        let range = node.span
        if let name = accessorName(node) {
            rewrite(range, to: "NSSelectorFromString(\"\(name)\")", as: .selector)
            return
        }
        if let argument = node.arguments.first, node.arguments.count == 1, argument.label == nil {
            if let name = Self.comparison(argument.expression) {
                rewrite(range, to: "NSSelectorFromString(\"\(name)\")", as: .selector)
                return
            }
            if let observer = Self.observer(ofCallWith: node),
                let method = method(argument.expression, of: observer, at: Syntax(node))
            {
                rewrite(range, to: method, as: .selector)
                return
            }
        }
        remark(
            "#selector needs Objective-C", at: range.lowerBound,
            hint: "use a closure, or put the call in #if canImport(ObjectiveC)")
    }

    /// Ports `NSStringFromSelector(#selector(getter: Book.title))`, whose value is a string constant.
    ///
    /// - Returns: whether the call had this form.
    func portSelectorName(_ node: FunctionCallExprSyntax) -> Bool {
        guard node.calledExpression.trimmedDescription == "NSStringFromSelector", node.arguments.count == 1,
            let selector = node.arguments.first?.expression.as(MacroExpansionExprSyntax.self),
            selector.macroName.text == "selector", let name = accessorName(selector)
        else { return false }
        rewrite(node.span, to: "\"\(name)\"", as: .selectorName)
        return true
    }

    /// Returns `title` of `#selector(getter: Book.title)`, `setTitle:` of `#selector(setter: Book.title)`.
    private func accessorName(_ node: MacroExpansionExprSyntax) -> String? {
        guard node.arguments.count == 1, let argument = node.arguments.first, let label = argument.label?.text,
            ["getter", "setter"].contains(label), var components = Self.components(of: argument.expression)
        else { return nil }
        if components.count > 1, components[0] == "self" { components.removeFirst() }
        let (type, names) = property(components, at: Syntax(node))
        guard let last = names.last else { return nil }
        // The type of a property in the path is unknown.
        let owner = names.count == 1 ? type : nil
        if label == "getter" { return index.getterName(of: last, in: owner) }
        let name = index.objectiveCName(of: last, in: owner)
        return "set\(name.prefix(1).uppercased())\(name.dropFirst()):"
    }

    /// Returns the first argument of the `addObserver(_:selector:name:object:)` call that has the expression as its
    /// selector.
    private static func observer(ofCallWith node: MacroExpansionExprSyntax) -> ExprSyntax? {
        guard let argument = node.parent?.as(LabeledExprSyntax.self), argument.label?.text == "selector",
            let call = argument.parent?.parent?.as(FunctionCallExprSyntax.self),
            call.arguments.map({ $0.label?.text }) == [nil, "selector", "name", "object"],
            let callee = call.calledExpression.as(MemberAccessExprSyntax.self),
            callee.declName.baseName.text == "addObserver"
        else { return nil }
        return call.arguments.first?.expression
    }

    /// Returns the method as a function of its object: `Library.didSave(_:)`.
    private func method(_ expression: ExprSyntax, of observer: ExprSyntax, at node: Syntax) -> String? {
        let isSelf = observer.trimmedDescription == "self"
        let own = isSelf ? node.enclosingTypeName : nil
        func ofObserver(_ name: String) -> String { own.map { "\($0).\(name)" } ?? "{ $0.\(name) }" }

        if let reference = expression.as(DeclReferenceExprSyntax.self) {
            return isSelf ? ofObserver(reference.trimmedDescription) : nil
        }
        guard let access = expression.as(MemberAccessExprSyntax.self), let base = access.base else { return nil }
        let name = access.declName.trimmedDescription
        let baseText = base.trimmedDescription
        if baseText == observer.trimmedDescription || (isSelf && baseText == "Self") { return ofObserver(name) }
        return baseText.first?.isUppercase == true ? "\(baseText).\(name)" : nil
    }

    /// Returns the selector of a Foundation comparison, which sort descriptors accept by name.
    private static func comparison(_ expression: ExprSyntax) -> String? {
        guard let access = expression.as(MemberAccessExprSyntax.self), let base = access.base?.trimmedDescription,
            ["NSString", "NSNumber", "NSDate", "NSDecimalNumber"].contains(base)
        else { return nil }
        let name = access.declName.baseName.text
        let names: Set<String> = [
            "compare", "caseInsensitiveCompare", "localizedCompare", "localizedCaseInsensitiveCompare",
            "localizedStandardCompare",
        ]
        return names.contains(name) ? name + ":" : nil
    }
}
