import CoreDataModel
import CoreDataPrimitives

/// What the declaration of a model consists of: literals, and calls with literals.
struct SwiftExpression {
    enum Content {
        case text(String)
        case number(String)
        /// `0...5`
        case range(String, String)
        case boolean(Bool)
        case list([SwiftExpression])
        case dictionary([(key: SwiftExpression, value: SwiftExpression)])
        /// `ModelAttribute("a", .string)`, or with a leading point `.toMany(ordered: true)`.
        case call(SwiftCallExpression)
    }

    var content: Content
    var place: SourceLocation
}

struct SwiftCallExpression {
    struct Argument {
        var label: String?
        var value: SwiftExpression
    }

    var name: String
    var hasLeadingPoint: Bool
    var arguments: [Argument] = []
    /// The expressions in the trailing closure.
    var body: [SwiftExpression] = []
    /// The calls that follow with a point.
    var modifiers: [SwiftExpression] = []
}

/// Reads expressions from tokens; whatever is more than a literal or a call is an error at its place.
struct SwiftParser {
    private var tokens: [SwiftToken]
    private var index = 0

    init(_ tokens: [SwiftToken]) { self.tokens = tokens }

    var token: SwiftToken { tokens[index] }

    mutating func advance() { if index < tokens.count - 1 { index += 1 } }

    func failure(_ message: String) -> ModelFailure {
        ModelFailure(diagnostics: [Diagnostic(.error, message, at: token.place)])
    }

    mutating func skip(_ sign: Character) -> Bool {
        guard token.kind == .sign(sign) else { return false }
        advance()
        return true
    }

    mutating func expect(_ sign: Character) throws(ModelFailure) {
        if !skip(sign) {
            throw failure("'\(sign)' should be here; only literals and calls of the declaration are read")
        }
    }

    mutating func skip(word: String) -> Bool {
        guard token.kind == .identifier(word) else { return false }
        advance()
        return true
    }

    mutating func identifier() throws(ModelFailure) -> String {
        guard case .identifier(let name) = token.kind else { throw failure("a name should be here") }
        advance()
        return name
    }

    mutating func expression() throws(ModelFailure) -> SwiftExpression {
        let place = token.place
        switch token.kind {
        case .text(let text):
            advance()
            return SwiftExpression(content: .text(text), place: place)
        case .number(let digits):
            advance()
            guard skip(".") else { return SwiftExpression(content: .number(digits), place: place) }
            try expect(".")
            try expect(".")
            guard case .number(let upper) = token.kind else { throw failure("a number should be here") }
            advance()
            return SwiftExpression(content: .range(digits, upper), place: place)
        case .identifier("true"), .identifier("false"):
            let isTrue = token.kind == .identifier("true")
            advance()
            return SwiftExpression(content: .boolean(isTrue), place: place)
        case .sign("["):
            advance()
            return SwiftExpression(content: try collection(), place: place)
        case .sign("."):
            advance()
            return try call(hasLeadingPoint: true, at: place)
        case .identifier(let name):
            if ["if", "for", "switch", "let", "var", "while", "guard", "func", "return"].contains(name) {
                throw failure("'\(name)' is not read here; only literals and calls of the declaration are")
            }
            return try call(hasLeadingPoint: false, at: place)
        default: throw failure("a literal or a call of the declaration should be here")
        }
    }

    private mutating func collection() throws(ModelFailure) -> SwiftExpression.Content {
        if skip(":") {
            try expect("]")
            return .dictionary([])
        }
        var elements: [SwiftExpression] = []
        var entries: [(key: SwiftExpression, value: SwiftExpression)] = []
        while !skip("]") {
            let element = try expression()
            if skip(":") {
                entries.append((element, try expression()))
            } else {
                elements.append(element)
            }
            if !skip(",") {
                try expect("]")
                break
            }
        }
        if !entries.isEmpty, !elements.isEmpty { throw failure("a list and a dictionary in one") }
        return entries.isEmpty ? .list(elements) : .dictionary(entries)
    }

    private mutating func call(hasLeadingPoint: Bool, at place: SourceLocation) throws(ModelFailure) -> SwiftExpression
    {
        var call = SwiftCallExpression(name: try identifier(), hasLeadingPoint: hasLeadingPoint)
        if skip("(") { call.arguments = try arguments() }
        if !hasLeadingPoint {
            if skip("{") { call.body = try body() }
            while token.kind == .sign(".") {
                let place = token.place
                advance()
                var modifier = SwiftCallExpression(name: try identifier(), hasLeadingPoint: true)
                try expect("(")
                modifier.arguments = try arguments()
                call.modifiers.append(SwiftExpression(content: .call(modifier), place: place))
            }
        }
        return SwiftExpression(content: .call(call), place: place)
    }

    private mutating func arguments() throws(ModelFailure) -> [SwiftCallExpression.Argument] {
        var arguments: [SwiftCallExpression.Argument] = []
        while !skip(")") {
            var label: String?
            if case .identifier(let name) = token.kind, tokens[index + 1].kind == .sign(":") {
                label = name
                advance()
                advance()
            }
            arguments.append(.init(label: label, value: try expression()))
            if !skip(",") {
                try expect(")")
                break
            }
        }
        return arguments
    }

    private mutating func body() throws(ModelFailure) -> [SwiftExpression] {
        var expressions: [SwiftExpression] = []
        while !skip("}") { expressions.append(try expression()) }
        return expressions
    }
}
