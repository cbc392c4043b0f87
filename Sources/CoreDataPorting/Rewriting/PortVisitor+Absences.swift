import SwiftSyntax

/// Reports missing features that no missing module explains: key-value observing, and messages by selector.
extension PortVisitor {
    // MARK: Names

    /// Reports the missing names that the source uses.
    func reportAbsentNames(except told: Set<String>) {
        for (name, offset) in usedNames.sorted(by: { $0.value < $1.value }) {
            guard !index.typeNames.contains(name), !told.contains(name), AppleModules.owner(ofNotImported: name) == nil,
                let absence = AbsentNames.absence(of: name)
            else { continue }
            remark(absence.message, at: offset, hint: absence.hint)
        }
    }

    // MARK: Calls

    /// Reports calls that need Objective-C, recognised by names and labels.
    func remarkAbsentCall(_ node: FunctionCallExprSyntax) {
        let callee = node.calledExpression
        let name: String
        if let access = callee.as(MemberAccessExprSyntax.self) {
            name = access.declName.baseName.plainText
        } else if let reference = callee.as(DeclReferenceExprSyntax.self) {
            name = reference.baseName.plainText
        } else {
            return
        }
        let labels = node.arguments.map { $0.label?.text }
        guard let hint = Self.hint(forCallOf: name, labels, node) else { return }
        let spelled = labels.map { ($0 ?? "_") + ":" }.joined()
        let place = callee.as(MemberAccessExprSyntax.self)?.declName.span ?? callee.span
        remark("'\(name)(\(spelled))' does not exist here", at: place.lowerBound, hint: hint)
    }

    private static func hint(
        forCallOf name: String, _ labels: [String?], _ node: FunctionCallExprSyntax
    ) -> String? {
        let observing =
            "observe(_:options:changeHandler:) takes a key path, of managed objects, migration managers and progress objects"
        let selectors = "there are no messages by selector: call the method, or keep a closure"
        switch (name, labels) {
        case ("publisher", ["for"]), ("publisher", ["for", "object"]), ("publisher", ["for", "options"]):
            return "there is no Combine: use addObserver(forName:object:queue:using:)"
        case ("notifications", ["named"]), ("notifications", ["named", "object"]):
            return "use addObserver(forName:object:queue:using:), or an AsyncStream on top of it"
        case ("addObserver", [nil, "forKeyPath", "options", "context"]), ("removeObserver", [nil, "forKeyPath"]),
            ("removeObserver", [nil, "forKeyPath", "context"]):
            return observing
        case ("containerURL", ["forSecurityApplicationGroupIdentifier"]):
            return "there are no groups of applications here: name a folder that the programs share, "
                + "and put the call in #if canImport(Darwin)"
        case ("responds", ["to"]), ("instancesRespond", ["to"]), ("conforms", ["to"]):
            return "ask with 'as? Protocol' instead"
        case ("perform", [nil, "with"]), ("perform", [nil, "with", "with"]), ("perform", [nil, "with", "afterDelay"]),
            ("performSelector", _):
            return selectors
        case ("perform", [nil]) where node.trailingClosure == nil && isSelector(node.arguments.first?.expression):
            return selectors
        default: return nil
        }
    }

    private static func isSelector(_ expression: ExprSyntax?) -> Bool {
        if let macro = expression?.as(MacroExpansionExprSyntax.self) { return macro.macroName.text == "selector" }
        let callee = expression?.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription
        return callee == "Selector" || callee == "NSSelectorFromString"
    }

    // MARK: Overrides

    /// Reports overrides of methods of Objective-C's root class, which do not exist here.
    func remarkAbsentOverride(_ node: FunctionDeclSyntax) {
        guard node.modifiers.modifier("override") != nil else { return }
        let labels = node.signature.parameterClause.parameters.map(\.firstName.text)
        let isOfType = node.modifiers.modifier("class", "static") != nil
        let isAbsent =
            switch (node.name.plainText, labels, isOfType) {
            case ("description", [], true), ("debugDescription", [], true), ("initialize", [], true),
                ("load", [], true),
                ("keyPathsForValuesAffectingValue", ["forKey"], true),
                ("automaticallyNotifiesObservers", ["forKey"], true),
                ("resolveInstanceMethod", _, true), ("observeValue", ["forKeyPath", "of", "change", "context"], false),
                ("addObserver", _, false), ("removeObserver", _, false), ("responds", ["to"], false),
                ("forwardingTarget", ["for"], false), ("method", ["for"], false):
                true
            default: false
            }
        guard isAbsent else { return }
        remark(
            "'\(node.name.plainText)' cannot be overridden: NSObject has no such method here",
            at: node.name.span.lowerBound, hint: "put it in #if canImport(ObjectiveC)")
    }
}
