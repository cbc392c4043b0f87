/// How names of a model are spelled in Swift.
package enum SwiftNames {
    /// The class above all of them, which is also that of entities without a class of their own.
    static let baseClass = "NSManagedObject"

    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "precedencegroup", "private", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
        "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "switch", "throw", "where", "while",
        "Any", "Protocol", "Self", "Type", "as", "await", "false", "is", "nil", "self", "super", "throws", "true",
        "try",
    ]

    /// The name as an identifier: in backticks where it is a keyword.
    package static func identifier(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// `tags` → `Tags`, as in `addToTags`.
    static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    /// A class's own name of what a model calls it (`Item`, `.Item`, `Shop.Item`); `nil` for `NSManagedObject` and
    /// where it says nothing.
    ///
    /// The module is left out: it is the application's on Apple's platforms, which need not be called so elsewhere.
    static func className(_ modelName: String?) -> String? {
        guard let last = modelName?.split(separator: ".", omittingEmptySubsequences: false).last, !last.isEmpty,
            last != baseClass
        else { return nil }
        return String(last)
    }

    /// The type that a transformable attribute names: a class as above, or any type as it is written (`[String]`).
    static func customType(_ name: String?) -> String? {
        guard let name, !name.isEmpty else { return nil }
        let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        return isPlain ? className(name) : name
    }

    /// The text as the inside of a string literal.
    static func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
