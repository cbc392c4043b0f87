import SwiftSyntax

/// Ports `@objc` and related attributes.
extension PortVisitor {
    func portAttribute(_ node: AttributeSyntax) {
        let name = node.attributeName.trimmedDescription
        use(name, at: node.span.lowerBound)
        switch name {
        case "objc", "objcMembers":
            if let given = node.objectiveCName { remarkRenaming(node, to: given) }
            removeAttribute(node)
        case "IBOutlet", "IBAction", "IBInspectable", "IBDesignable", "IBSegueAction", "GKInspectable":
            remark("@\(name) connects to a user interface that does not exist here", at: node.span.lowerBound)
        default: break
        }
    }

    /// Reports a class that models find by its Objective-C name; here they find it by its Swift name.
    private func remarkRenaming(_ node: AttributeSyntax, to name: String) {
        guard let type = node.parent?.parent?.as(ClassDeclSyntax.self), type.name.plainText != name,
            !index.isArchived(type.name.plainText)
        else { return }
        remark(
            "class \(type.name.plainText) is not known as '\(name)' here", at: node.span.lowerBound,
            hint: "a model that names its class '\(name)' must say '\(type.name.plainText)'")
    }

    /// Removes an attribute with the spaces after it, and its line if it has one of its own.
    func removeAttribute(_ node: AttributeSyntax) {
        let attribute = node.span
        let next = node.nextToken(viewMode: .sourceAccurate)
        let following = (node.trailingTrivia.pieces + (next?.leadingTrivia.pieces ?? []))
        let end = next?.positionAfterSkippingLeadingTrivia.utf8Offset ?? attribute.upperBound
        let isBlank = following.allSatisfy(\.isWhitespace)
        let blanks = text.bytes[attribute.upperBound...].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let range = attribute.lowerBound..<(isBlank ? end : attribute.upperBound + blanks.count)
        add(
            .replace(range, with: "", in: text), as: .objectiveCAttribute, before: text.text(attribute), after: "")
    }

    /// Ports an Objective-C protocol. It becomes a class-only protocol; optional requirements have no equivalent in
    /// Swift.
    ///
    /// - Returns: whether to port the protocol's members too.
    func portProtocol(_ node: ProtocolDeclSyntax) -> Bool {
        guard node.attributes.attribute(named: "objc") != nil else { return true }
        let optional = node.memberBlock.members.lazy.compactMap { $0.decl.asProtocol((any WithModifiersSyntax).self) }
            .compactMap { $0.modifiers.modifier("optional") }.first
        if let optional {
            remark(
                "protocol \(node.name.plainText) has optional requirements, which need Objective-C",
                at: optional.span.lowerBound,
                hint: "give them a default in an extension of the protocol, on both sides, and drop 'optional'")
            return false
        }
        let inherited = node.inheritanceClause?.inheritedTypes.map { $0.type.trimmedDescription } ?? []
        guard Set(inherited).isDisjoint(with: ["AnyObject", "NSObjectProtocol", "class"]) else { return true }
        if let clause = node.inheritanceClause {
            rewrite(
                clause.colon.span.upperBound..<clause.colon.span.upperBound, to: " AnyObject,", as: .classBoundProtocol)
        } else {
            let end = node.primaryAssociatedTypeClause?.span.upperBound ?? node.name.span.upperBound
            rewrite(end..<end, to: ": AnyObject", as: .classBoundProtocol)
        }
        return true
    }
}
