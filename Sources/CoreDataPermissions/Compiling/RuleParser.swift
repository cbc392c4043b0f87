import CoreDataPredicate

/// Reads the text of a rule.
///
///     group, role:editor, price < 3     // [.group, .role("editor"), .predicate(price < 3)]
struct RuleParser {
    struct Mistake: Error {
        var reason: String
        var advice: String
    }

    static var words: [(name: String, clause: Rule.Clause)] {
        [
            ("nobody", .nobody), ("anyone", .anyone), ("signedIn", .signedIn), ("owner", .owner), ("group", .group),
            ("administrator", .administrator),
        ]
    }

    static func parse(_ text: String) throws(Mistake) -> Rule {
        var clauses: [Rule.Clause] = []
        for part in parts(of: text) { clauses.append(try clause(part)) }
        return Rule(text: text.trimmed, clauses: clauses)
    }

    private static let known =
        "Write one of \(words.map(\.name).joined(separator: ", ")), role:NAME, or a predicate such as isPublic == YES"

    private static func clause(_ text: String) throws(Mistake) -> Rule.Clause {
        if text.isEmpty { throw Mistake(reason: "a word is missing", advice: known) }
        if let word = words.first(where: { $0.name == text }) { return word.clause }
        if text.hasPrefix("role:") {
            let role = String(text.dropFirst(5)).trimmed
            if role.isEmpty || role.contains(where: { $0.isWhitespace || $0 == ":" }) {
                throw Mistake(reason: "'\(text)' names no role", advice: "Write for example role:editor")
            }
            return .role(role)
        }
        let isWord = text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == ":" || $0 == "-" }
        if isWord, !["TRUEPREDICATE", "FALSEPREDICATE"].contains(text.uppercased()) {
            let near = words.first { $0.name.lowercased() == text.lowercased() }?.name
            throw Mistake(reason: "unknown word '\(text)'", advice: near.map { "Write \($0)" } ?? known)
        }
        do {
            return .predicate(try PredicateParser.parse(format: text, arguments: []).flattened())
        } catch let failure {
            throw Mistake(
                reason: "'\(text)' is no predicate: \(failure.diagnostic.message)",
                advice: "Write a condition in the predicate language, such as isPublic == YES")
        }
    }

    /// Returns the parts between commas that are not in quotation marks or parentheses.
    private static func parts(of text: String) -> [String] {
        var parts: [String] = []
        var part = ""
        var depth = 0
        var quote: Character?
        var isEscaped = false
        for character in text {
            if let open = quote {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == open {
                    quote = nil
                }
            } else {
                switch character {
                case "'", "\"": quote = character
                case "(", "{", "[": depth += 1
                case ")", "}", "]": depth -= 1
                case "," where depth == 0:
                    parts.append(part.trimmed)
                    part = ""
                    continue
                default: break
                }
            }
            part.append(character)
        }
        return parts + [part.trimmed]
    }
}

extension String {
    /// The text without white space at its ends.
    var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
