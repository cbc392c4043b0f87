/// Converts names of a model to Swift.
package enum SwiftNames {
    /// The superclass of all classes, also used for entities without a class of their own.
    static let baseClass = "NSManagedObject"

    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "precedencegroup", "private", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
        "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "switch", "throw", "where", "while",
        "Any", "Protocol", "Self", "Type", "as", "await", "false", "is", "nil", "self", "super", "throws", "true",
        "try",
    ]

    /// Returns the name as an identifier: in backticks if it is a keyword.
    package static func identifier(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Capitalises a name: `tags` → `Tags`, as in `addToTags`.
    static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    /// Returns the class name without module (`Item`, `.Item`, `Shop.Item`); `nil` for `NSManagedObject` and if the
    /// model names no class.
    ///
    /// The module is omitted: on Apple's platforms it is the application's, whose name may differ elsewhere.
    static func className(_ modelName: String?) -> String? {
        guard let last = modelName?.split(separator: ".", omittingEmptySubsequences: false).last, !last.isEmpty,
            last != baseClass
        else { return nil }
        return String(last)
    }

    /// Returns the type that a transformable attribute names: a class as above, or any Swift type (`[String]`).
    static func customType(_ name: String?) -> String? {
        guard let name, !name.isEmpty else { return nil }
        let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        return isPlain ? className(name) : name
    }

    /// Escapes the text for a string literal.
    static func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
