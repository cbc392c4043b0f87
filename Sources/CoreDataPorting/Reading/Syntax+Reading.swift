import SwiftSyntax

extension SyntaxProtocol {
    /// The range of the node's own text, without surrounding white space and comments.
    var span: Range<Int> {
        positionAfterSkippingLeadingTrivia.utf8Offset..<endPositionBeforeTrailingTrivia.utf8Offset
    }
}

extension Syntax {
    /// The type that contains the node, in the spelling of its declaration or extension; `nil` at the top level and in
    /// protocols.
    var enclosingTypeName: String? {
        var node = parent
        while let current = node {
            if let type = current.as(ClassDeclSyntax.self) { return type.name.plainText }
            if let type = current.as(StructDeclSyntax.self) { return type.name.plainText }
            if let type = current.as(EnumDeclSyntax.self) { return type.name.plainText }
            if let type = current.as(ActorDeclSyntax.self) { return type.name.plainText }
            if let type = current.as(ExtensionDeclSyntax.self) { return type.extendedType.trimmedDescription }
            if current.is(ProtocolDeclSyntax.self) { return nil }
            node = current.parent
        }
        return nil
    }

    /// The class that has the node as a member.
    var enclosingClass: ClassDeclSyntax? {
        var node = parent
        while let current = node {
            if let type = current.as(ClassDeclSyntax.self) { return type }
            if current.isProtocol((any DeclGroupSyntax).self) { return nil }
            node = current.parent
        }
        return nil
    }
}

extension Syntax {
    /// Whether the node is inside `#if`.
    var isInConditionalCompilation: Bool {
        sequence(first: self, next: \.parent).contains { $0.is(IfConfigClauseSyntax.self) }
    }
}

extension SourceFileSyntax {
    /// The position after the comment at the top, if a blank line follows it, and before the first declaration's
    /// comment.
    var head: Int {
        guard let first = firstToken(viewMode: .sourceAccurate) else { return 0 }
        var offset = first.positionAfterSkippingLeadingTrivia.utf8Offset
        for piece in first.leadingTrivia.pieces.reversed() {
            switch piece {
            case .newlines(let count) where count > 1, .carriageReturnLineFeeds(let count) where count > 1:
                return offset
            default: offset -= piece.sourceLength.utf8Length
            }
        }
        return offset
    }
}

extension TokenSyntax {
    /// The name without backticks.
    var plainText: String { text.filter { $0 != "`" } }
}

extension TypeSyntax {
    /// Returns `Item` for `Outer.Item`, `Item` and `Item<Int>`.
    var lastTypeName: String? {
        if let type = self.as(IdentifierTypeSyntax.self) { return type.name.plainText }
        if let type = self.as(MemberTypeSyntax.self) { return type.name.plainText }
        if let type = self.as(AttributedTypeSyntax.self) { return type.baseType.lastTypeName }
        return nil
    }
}

extension AttributeListSyntax {
    func attribute(named name: String) -> AttributeSyntax? {
        for element in self {
            if case .attribute(let attribute) = element, attribute.attributeName.trimmedDescription == name {
                return attribute
            }
        }
        return nil
    }
}

extension AttributeSyntax {
    /// Returns `Name` of `@objc(Name)`.
    var objectiveCName: String? {
        guard let arguments else { return nil }
        let name = arguments.trimmedDescription
        return name.isEmpty ? nil : name
    }
}

extension DeclModifierListSyntax {
    func modifier(_ names: String...) -> DeclModifierSyntax? {
        first { names.contains($0.name.text) && $0.detail == nil }
    }
}
