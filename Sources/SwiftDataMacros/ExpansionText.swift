import SwiftSyntax
import SwiftSyntaxMacros

// The compiler takes an expansion as text, and parses that. So text is passed on as one token: to parse and to format
// it here, too, takes most of the time that a macro needs in a debug build. Expansions are not formatted
// (`formatMode`).

extension DeclSyntax {
    /// Declarations as text.
    init(text: String) {
        self.init(MissingDeclSyntax(placeholder: .identifier(text)))
    }
}

extension AccessorDeclSyntax {
    /// Accessors as text.
    init(text: String) {
        self.init(accessorSpecifier: .identifier(text))
    }
}

extension AttributeSyntax {
    /// An attribute as text, without the `@`.
    init(text: String) {
        self.init(attributeName: TypeSyntax(IdentifierTypeSyntax(name: .identifier(text))))
    }
}

extension ExtensionDeclSyntax {
    /// An extension as text, without the braces.
    init(text: String) {
        self.init(
            extensionKeyword: .identifier(text),
            extendedType: IdentifierTypeSyntax(name: .identifier(" ")), memberBlock: MemberBlockSyntax(members: []))
    }
}
