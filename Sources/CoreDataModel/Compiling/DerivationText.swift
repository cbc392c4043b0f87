/// Converts between the two spellings of a derived attribute's expression.
///
/// Developers write collection operators in the key path; archives contain functions:
///
///     pages.@count       // count:(pages)
///     pages.@sum.words   // sum:(pages.words)
///     author.name        // author.name
package enum DerivationText {
    private static let operators = ["count", "sum", "min", "max", "avg"]

    /// Returns the function form, which the version hash includes.
    static func hashed(_ text: String) -> String {
        let text = text.filter { !$0.isWhitespace }
        guard let mark = text.range(of: ".@") else { return text }
        let collection = text[..<mark.lowerBound]
        let rest = text[mark.upperBound...].split(separator: ".", maxSplits: 1)
        guard let name = rest.first.map(String.init), operators.contains(name) else { return text }
        return rest.count == 2 ? "\(name):(\(collection).\(rest[1]))" : "\(name):(\(collection))"
    }

    /// Returns the key-path form of a function over a collection; other expressions are unchanged.
    package static func written(_ text: String) -> String {
        guard let mark = text.range(of: ":("), text.hasSuffix(")") else { return text }
        let name = String(text[..<mark.lowerBound].drop { $0 == "@" })
        let argument = text[mark.upperBound...].dropLast()
        guard operators.contains(name), !argument.contains(where: { "(), ".contains($0) }) else { return text }
        if name == "count" { return "\(argument).@count" }
        guard let dot = argument.lastIndex(of: ".") else { return text }
        return "\(argument[..<dot]).@\(name).\(argument[argument.index(after: dot)...])"
    }
}
