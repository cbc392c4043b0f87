import CoreDataPrimitives

/// Parses the predicate language: converts a format and its arguments to a tree.
///
///     try PredicateParser.parse(format: "age > %d AND name BEGINSWITH[c] %@", arguments: [.integer(3), .string("a")])
///
/// The parser works in one pass without backtracking: a parenthesis yields its content, a predicate or an expression,
/// and the caller checks which it needs. Nesting is limited, so no text can exhaust the stack.
package struct PredicateParser {
    static let nestingLimit = 100
    static let linkLimit = 2000

    let source: PredicateSource
    private let tokens: [PredicateToken]
    private var index = 0
    private var arguments: ArraySlice<FormatArgument>
    private let argumentCount: Int
    private var nesting = 0
    /// The number of operators and keys so far: each increases the tree's height by at most one.
    private var links = 0

    /// Parses the predicate of a format.
    ///
    /// - Throws: ``PredicateFailure`` of kind `.syntax` with line, column and a hint.
    package static func parse(
        format: String, arguments: [FormatArgument] = []
    ) throws(PredicateFailure) -> PredicateNode {
        var parser = try PredicateParser(format, arguments)
        let start = parser.token
        let term = try parser.parseOr()
        let predicate = try parser.predicate(from: term, at: start)
        try parser.expectEnd()
        return predicate
    }

    /// Parses the expression of a format.
    package static func parseExpression(
        format: String, arguments: [FormatArgument] = []
    ) throws(PredicateFailure) -> ExpressionNode {
        var parser = try PredicateParser(format, arguments)
        let expression = try parser.parseExpression()
        try parser.expectEnd()
        return expression
    }

    private init(_ format: String, _ arguments: [FormatArgument]) throws(PredicateFailure) {
        source = PredicateSource(format)
        tokens = try PredicateLexer.tokens(of: source)
        self.arguments = arguments[...]
        argumentCount = arguments.count
    }

    // MARK: Predicates

    /// The content of a parenthesis.
    enum Term {
        case predicate(PredicateNode)
        case expression(ExpressionNode)
    }

    mutating func parseOr() throws(PredicateFailure) -> Term {
        try parseChain(.or, "||", { parser throws(PredicateFailure) in try parser.parseAnd() }, PredicateNode.or)
    }

    private mutating func parseAnd() throws(PredicateFailure) -> Term {
        try parseChain(.and, "&&", { parser throws(PredicateFailure) in try parser.parseNot() }, PredicateNode.and)
    }

    private mutating func parseChain(
        _ word: PredicateWord, _ symbol: String,
        _ parseNext: (inout PredicateParser) throws(PredicateFailure) -> Term,
        _ join: ([PredicateNode]) -> PredicateNode
    ) throws(PredicateFailure) -> Term {
        var start = token
        let first = try parseNext(&self)
        guard token.word == word || token.isSymbol(symbol) else { return first }
        var parts = [try predicate(from: first, at: start)]
        while token.word == word || token.isSymbol(symbol) {
            advance()
            start = token
            let term = try parseNext(&self)
            parts.append(try predicate(from: term, at: start))
        }
        return .predicate(join(parts))
    }

    private mutating func parseNot() throws(PredicateFailure) -> Term {
        guard token.word == .not || token.isSymbol("!") else { return try parseComparison() }
        try enter()
        defer { nesting -= 1 }
        advance()
        let start = token
        let term = try parseNot()
        return .predicate(.not(try predicate(from: term, at: start)))
    }

    private mutating func parseComparison() throws(PredicateFailure) -> Term {
        if let word = token.word, word == .truePredicate || word == .falsePredicate {
            advance()
            return .predicate(.constant(word == .truePredicate))
        }
        let modifierToken = token
        let modifier = parseModifier()
        let start = token
        let term = try parseTerm()
        guard case .expression(let left) = term else {
            if modifier != nil {
                throw failure("ANY and ALL stand before a comparison, not before a predicate", at: start)
            }
            return term
        }
        guard let comparison = try parseOperator() else {
            if modifier != nil {
                throw failure(
                    "'\(text(of: modifierToken))' needs a comparison", at: token,
                    hint: "for example: ANY tags.name == \"new\"")
            }
            return term
        }
        let right = try parseExpression()
        let node = PredicateNode.comparison(
            .init(
                left, comparison.comparator, right, modifier: modifier?.modifier ?? .direct,
                options: comparison.options))
        let isNegated = (modifier?.isNegated ?? false) != comparison.isNegated
        return .predicate(isNegated ? .not(node) : node)
    }

    private mutating func parseModifier() -> (modifier: PredicateNode.Modifier, isNegated: Bool)? {
        let modifier: (PredicateNode.Modifier, Bool)
        switch token.word {
        case .any, .someOf: modifier = (.any, false)
        case .all: modifier = (.all, false)
        case .noneOf: modifier = (.any, true)
        default: return nil
        }
        advance()
        return modifier
    }

    private typealias Operator = (comparator: PredicateNode.Comparator, options: TextOptions, isNegated: Bool)

    private mutating func parseOperator() throws(PredicateFailure) -> Operator? {
        // `x NOT IN y`
        var isNegated = false
        if token.word == .not, let next = peek(1).word, Self.comparator(of: next) != nil {
            isNegated = true
            advance()
        }
        let comparator: PredicateNode.Comparator?
        switch token.kind {
        case .symbol(let symbol): comparator = Self.comparator(of: symbol)
        case .reserved(let word, _):
            if word == .conformsToType || word == .equalsType {
                throw failure(
                    "uniform type identifiers cannot be compared here", at: token,
                    hint: "compare the identifiers' text with == or BEGINSWITH")
            }
            comparator = Self.comparator(of: word)
        default: comparator = nil
        }
        guard let comparator else { return nil }
        advance()
        return (comparator, try parseOptions(), isNegated)
    }

    private static func comparator(of symbol: String) -> PredicateNode.Comparator? {
        switch symbol {
        case "=", "==": .equalTo
        case "!=", "<>": .notEqualTo
        case "<": .lessThan
        case ">": .greaterThan
        case "<=", "=<": .lessThanOrEqualTo
        case ">=", "=>": .greaterThanOrEqualTo
        default: nil
        }
    }

    private static func comparator(of word: PredicateWord) -> PredicateNode.Comparator? {
        switch word {
        case .in: .in
        case .contains: .contains
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .like: .like
        case .matches: .matches
        case .between: .between
        default: nil
        }
    }

    private mutating func parseOptions() throws(PredicateFailure) -> TextOptions {
        guard token.isSymbol("[") else { return [] }
        advance()
        var options: TextOptions = []
        while !token.isSymbol("]") {
            guard case .word(let letters) = token.kind else {
                throw failure("expected options such as [cd]", at: token)
            }
            for letter in letters.lowercased() {
                switch letter {
                case "c": options.insert(.caseInsensitive)
                case "d": options.insert(.diacriticInsensitive)
                case "n": options.insert(.normalized)
                case "l": options.insert(.localeSensitive)
                default:
                    throw failure(
                        "'\(letter)' is not an option of a comparison", at: token,
                        hint: "c ignores case, d ignores diacritics, n compares normalized text, l uses collation")
                }
            }
            advance()
        }
        advance()
        return options
    }

    func predicate(from term: Term, at start: PredicateToken) throws(PredicateFailure) -> PredicateNode {
        switch term {
        case .predicate(let predicate): return predicate
        case .expression:
            if case .end = start.kind {
                throw failure("expected a comparison", at: start, hint: "for example: name == \"Anna\"")
            }
            if case .end = token.kind {
                throw failure(
                    "this is an expression, not a predicate", at: start,
                    hint: "compare it with something: \(source.string(start.start..<previousEnd)) == YES")
            }
            throw failure("expected a comparison operator such as == or CONTAINS", at: token)
        }
    }

    // MARK: Tokens

    var token: PredicateToken { tokens[index] }

    func peek(_ offset: Int) -> PredicateToken { tokens[min(index + offset, tokens.count - 1)] }

    mutating func advance() { if index < tokens.count - 1 { index += 1 } }

    private var previousEnd: Int { index > 0 ? tokens[index - 1].end : 0 }

    func text(of token: PredicateToken) -> String { source.string(token.start..<token.end) }

    mutating func expect(_ symbol: String, _ purpose: String) throws(PredicateFailure) {
        guard token.isSymbol(symbol) else {
            throw failure("expected '\(symbol)' \(purpose), found \(describe(token))", at: token)
        }
        advance()
    }

    private func expectEnd() throws(PredicateFailure) {
        if case .end = token.kind { return }
        if case .symbol(let symbol) = token.kind, Self.comparator(of: symbol) != nil {
            throw failure("comparisons cannot be chained", at: token, hint: "join two comparisons with AND")
        }
        throw failure("unexpected \(describe(token))", at: token, hint: "join predicates with AND or OR")
    }

    func describe(_ token: PredicateToken) -> String {
        if case .end = token.kind { return "the end of the format" }
        return "'\(text(of: token))'"
    }

    func failure(_ message: String, at token: PredicateToken, hint: String? = nil) -> PredicateFailure {
        source.failure(message, at: token.start, hint: hint)
    }

    /// Enters one level of nesting; the caller leaves it again.
    mutating func enter() throws(PredicateFailure) {
        nesting += 1
        if nesting > Self.nestingLimit {
            throw failure("this is nested more than \(Self.nestingLimit) levels deep", at: token)
        }
    }

    mutating func leave() { nesting -= 1 }

    mutating func addLink(at place: PredicateToken) throws(PredicateFailure) {
        links += 1
        if links > Self.linkLimit { throw failure("more than \(Self.linkLimit) operators and keys", at: place) }
    }

    // MARK: Arguments

    mutating func nextArgument(for token: PredicateToken) throws(PredicateFailure) -> FormatArgument {
        guard let argument = arguments.popFirst() else {
            throw failure(
                "there is no argument for '\(text(of: token))'", at: token,
                hint: "the format was given \(argumentCount) argument\(argumentCount == 1 ? "" : "s")")
        }
        return argument
    }
}
