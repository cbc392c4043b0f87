import SwiftSyntax

extension AttributeListSyntax {
    /// The attribute of that name, with or without the name of its module: `@Transient`, `@SwiftData.Transient`.
    func attribute(named name: String) -> AttributeSyntax? {
        lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.unqualifiedName == name }
    }

    /// The `@available` attributes, as text, one a line.
    var availability: String {
        compactMap { $0.as(AttributeSyntax.self) }.filter { $0.unqualifiedName == "available" }
            .map { $0.trimmedDescription + "\n" }.joined()
    }
}

extension AttributeSyntax {
    /// The last component of the attribute's name.
    var unqualifiedName: String {
        if let member = attributeName.as(MemberTypeSyntax.self) { return member.name.text }
        if let identifier = attributeName.as(IdentifierTypeSyntax.self) { return identifier.name.text }
        return attributeName.trimmedDescription
    }

    /// The text of the arguments between the parentheses; empty without any.
    var argumentText: String { arguments?.trimmedDescription ?? "" }

    /// The arguments, where they are an ordinary list.
    var labeledArguments: LabeledExprListSyntax {
        guard case .argumentList(let list) = arguments else { return [] }
        return list
    }
}

extension DeclModifierListSyntax {
    /// Whether the declaration has one of these modifiers, whatever stands behind it in parentheses.
    func contains(_ keywords: Keyword...) -> Bool {
        contains { modifier in
            // `private(set)` says nothing about reading.
            guard modifier.detail == nil || !Self.isAccess(modifier) else { return false }
            return keywords.contains { modifier.name.tokenKind == .keyword($0) }
        }
    }

    private static let accessLevels: [Keyword] = [
        .private,
        .fileprivate,
        .internal,
        .package,
        .public,
        .open,
    ]

    private static func isAccess(_ modifier: DeclModifierSyntax) -> Bool {
        accessLevels.contains { modifier.name.tokenKind == .keyword($0) }
    }

    /// What the members that a protocol of another module requires need in front of them.
    var memberAccess: String {
        if contains(.public, .open) { return "public " }
        return contains(.package) ? "package " : ""
    }
}

extension TypeSyntax {
    /// Whether the type is written as an optional: `T?`, `T!`, `Optional<T>`.
    var isOptional: Bool {
        if self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return true }
        if let name = self.as(IdentifierTypeSyntax.self) { return name.name.text == "Optional" }
        if let member = self.as(MemberTypeSyntax.self) { return member.name.text == "Optional" }
        return false
    }

    /// The type as it can stand in an expression: `T?` for `T!`.
    var expressible: TypeSyntax {
        guard let unwrapped = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) else { return trimmed }
        return TypeSyntax(OptionalTypeSyntax(wrappedType: unwrapped.wrappedType.trimmed))
    }
}

extension TokenSyntax {
    /// An identifier without the backticks of `` `default` ``.
    var unescaped: String {
        text.count > 2 && text.hasPrefix("`") && text.hasSuffix("`") ? String(text.dropFirst().dropLast()) : text
    }
}
