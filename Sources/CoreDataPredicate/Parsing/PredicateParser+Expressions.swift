import CoreDataPrimitives
import Foundation

extension PredicateParser {
    /// Parses an expression where a predicate is not allowed.
    mutating func parseExpression() throws(PredicateFailure) -> ExpressionNode {
        let start = token
        let term = try parseTerm()
        return try expression(from: term, at: start)
    }

    private func expression(from term: Term, at start: PredicateToken) throws(PredicateFailure) -> ExpressionNode {
        switch term {
        case .expression(let expression): return expression
        case .predicate: throw failure("expected an expression, found a predicate", at: start)
        }
    }

    /// Parses an expression, or a predicate in parentheses.
    mutating func parseTerm() throws(PredicateFailure) -> Term {
        if case .variable(let name) = token.kind, peek(1).isSymbol(":=") {
            try enter()
            defer { leave() }
            advance()
            advance()
            return .expression(.assignment(variable: name, try parseExpression()))
        }
        return try parseBinary(1)
    }

    // MARK: Operators

    private enum BinaryOperator {
        case function(PredicateFunction)
        case set(PredicateWord)

        var precedence: Int {
            switch self {
            case .function(let function): function.infix?.precedence ?? 0
            case .set: 1
            }
        }

        func apply(_ left: ExpressionNode, _ right: ExpressionNode) -> ExpressionNode {
            switch self {
            case .function(let function): .function(function.rawValue, [left, right])
            case .set(.union): .union(left, right)
            case .set(.intersect): .intersection(left, right)
            case .set: .difference(left, right)
            }
        }
    }

    private static let infixFunctions = [String: PredicateFunction](
        uniqueKeysWithValues: PredicateFunction.allCases.compactMap { function in
            function.infix.map { ($0.symbol, function) }
        })

    private var binaryOperator: BinaryOperator? {
        switch token.kind {
        case .symbol(let symbol): Self.infixFunctions[symbol].map { .function($0) }
        case .reserved(let word, _):
            switch word {
            case .union, .intersect, .minus: .set(word)
            default: nil
            }
        default: nil
        }
    }

    private mutating func parseBinary(_ lowest: Int) throws(PredicateFailure) -> Term {
        let start = token
        let first = try parseUnary()
        guard case .expression(var left) = first else { return first }
        while let found = binaryOperator, found.precedence >= lowest {
            try addLink(at: start)
            try enter()
            defer { leave() }
            advance()
            let place = token
            let isPower = found.precedence == 8
            let term = try parseBinary(found.precedence + (isPower ? 0 : 1))
            let right = try expression(from: term, at: place)
            left = found.apply(left, right)
        }
        return .expression(left)
    }

    private mutating func parseUnary() throws(PredicateFailure) -> Term {
        guard token.isSymbol("-") || token.isSymbol("~") else { return try parsePostfix() }
        try enter()
        defer { leave() }
        let isMinus = token.isSymbol("-")
        advance()
        let place = token
        let term = try parseUnary()
        let operand = try expression(from: term, at: place)
        if !isMinus { return .expression(.function(PredicateFunction.onesComplement.rawValue, [operand])) }
        if case .constant(.value(let value)) = operand, let negative = Self.negative(value) {
            return .expression(.constant(.value(negative)))
        }
        return .expression(
            .function(PredicateFunction.subtract.rawValue, [.constant(.value(.integer(0))), operand]))
    }

    private static func negative(_ value: Value) -> Value? {
        switch value {
        case .integer(let number): return number == .min ? nil : .integer(-number)
        case .double(let number): return .double(-number)
        case .decimal(let number):
            // The only integer whose positive value does not fit.
            return number == Decimal(Int64.min) * -1 ? .integer(.min) : .decimal(-number)
        default: return nil
        }
    }

    private mutating func parsePostfix() throws(PredicateFailure) -> Term {
        let start = token
        let first = try parseAtom()
        guard token.isSymbol(".") || token.isSymbol("[") else { return first }
        var result = try expression(from: first, at: start)
        while true {
            try addLink(at: start)
            if token.isSymbol(".") {
                advance()
                for key in try parseKey() { result = result.appending(key) }
            } else if token.isSymbol("[") {
                advance()
                let position = try parseIndex()
                try expect("]", "after an index")
                result = .function(PredicateFunction.element.rawValue, [result, position])
            } else {
                return .expression(result)
            }
        }
    }

    /// Parses the part after a dot: one key, or the keys of a `%K`.
    private mutating func parseKey() throws(PredicateFailure) -> [String] {
        let place = token
        advance()
        switch place.kind {
        case .word(let name), .key(let name), .collectionOperator(let name): return [name]
        case .reserved(_, let name): return [name]
        case .placeholder(.keyPath):
            let argument = try nextArgument(for: place)
            return try keys(of: argument, at: place)
        default: throw failure("expected a key after the period, found \(describe(place))", at: place)
        }
    }

    private mutating func parseIndex() throws(PredicateFailure) -> ExpressionNode {
        if let word = token.word, word == .first || word == .last || word == .size {
            advance()
            return .constant(.symbol(word.rawValue.uppercased()))
        }
        try enter()
        defer { leave() }
        return try parseExpression()
    }

    // MARK: Atoms

    private mutating func parseAtom() throws(PredicateFailure) -> Term {
        try enter()
        defer { leave() }
        let place = token
        switch place.kind {
        case .symbol("("):
            advance()
            let term = try parseOr()
            try expect(")", "to close the parenthesis")
            return term
        case .symbol("{"):
            advance()
            return .expression(.aggregate(try parseList(until: "}")))
        case .literal(let value):
            advance()
            return .expression(.constant(.value(value)))
        case .placeholder(let placeholder):
            advance()
            return .expression(try argument(placeholder, at: place))
        case .variable(let name):
            advance()
            return .expression(.variable(name))
        case .word(let name), .key(let name), .collectionOperator(let name):
            advance()
            return .expression(.keyPath(operand: .evaluatedObject, [name]))
        case .functionName(let name):
            advance()
            return .expression(try parseCall(name, at: place))
        case .reserved(let word, let spelling):
            return .expression(try parseReserved(word, spelling, at: place))
        case .end, .symbol:
            throw failure("expected a value, a key or a function, found \(describe(place))", at: place)
        }
    }

    private mutating func parseReserved(
        _ word: PredicateWord, _ spelling: String, at place: PredicateToken
    ) throws(PredicateFailure) -> ExpressionNode {
        advance()
        switch word {
        case .null, .nil: return .constant(.value(.null))
        case .true, .yes: return .constant(.value(.integer(1)))
        case .false, .no: return .constant(.value(.integer(0)))
        case .self: return .evaluatedObject
        case .anyKey: return .anyKey
        case .subquery where token.isSymbol("("): return try parseSubquery()
        case .cast where token.isSymbol("("): return try parseCast()
        case .ternary: return try parseConditional()
        case .function: return try parseMessage()
        case .fetch where token.isSymbol("("): return try parseFetch()
        default:
            throw failure(
                "'\(spelling)' is a reserved word", at: place, hint: "write #\(spelling) to use it as a key")
        }
    }

    private mutating func parseList(until end: String) throws(PredicateFailure) -> [ExpressionNode] {
        var elements: [ExpressionNode] = []
        if token.isSymbol(end) {
            advance()
            return elements
        }
        while true {
            elements.append(try parseExpression())
            if token.isSymbol(end) { break }
            guard token.isSymbol(",") else {
                throw failure("expected ',' or '\(end)', found \(describe(token))", at: token)
            }
            advance()
        }
        advance()
        return elements
    }

    private mutating func parseCall(_ name: String, at place: PredicateToken) throws(PredicateFailure) -> ExpressionNode
    {
        try expect("(", "after a function's name")
        let arguments = try parseList(until: ")")
        guard let function = PredicateFunction(spelled: name) else {
            throw failure(
                "there is no function '\(name)'", at: place,
                hint: "functions are \(PredicateFunction.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard function.argumentCount.contains(arguments.count) else {
            throw failure(
                "'\(name)' takes \(function.argumentCount.lowerBound) argument(s), not \(arguments.count)", at: place)
        }
        if function == .cast, case .constant(.value(.string(let type))) = arguments[1] {
            return Self.cast(arguments[0], to: type)
        }
        return .function(function.rawValue, arguments)
    }

    private mutating func parseSubquery() throws(PredicateFailure) -> ExpressionNode {
        advance()
        let collection = try parseExpression()
        try expect(",", "after the collection of SUBQUERY")
        guard case .variable(let name) = token.kind else {
            throw failure(
                "the second argument of SUBQUERY is a variable, found \(describe(token))", at: token,
                hint: "for example: SUBQUERY(items, $item, $item.price > 5).@count > 0")
        }
        advance()
        try expect(",", "after the variable of SUBQUERY")
        let start = token
        let term = try parseOr()
        let predicate = try predicate(from: term, at: start)
        try expect(")", "to close SUBQUERY")
        return .subquery(collection, variable: name, predicate)
    }

    private mutating func parseCast() throws(PredicateFailure) -> ExpressionNode {
        advance()
        let operand = try parseExpression()
        try expect(",", "after the first argument of CAST")
        let place = token
        guard case .constant(.value(.string(let type))) = try parseExpression() else {
            throw failure("the second argument of CAST is a type's name in quotes", at: place)
        }
        try expect(")", "to close CAST")
        return Self.cast(operand, to: type)
    }

    /// Evaluates a cast of a constant; this is the notation of dates and UUIDs.
    private static func cast(_ operand: ExpressionNode, to type: String) -> ExpressionNode {
        if case .constant(.value(let value)) = operand,
            let target = CastTarget(type), let result = try? target.cast(value), !result.isNull
        {
            switch (target, value) {
            case (.date, .integer), (.date, .double), (.date, .decimal), (.uuid, .string), (.url, .string),
                (.decimal, .string), (.number, .string):
                return .constant(.value(result))
            default: break
            }
        }
        return .function(PredicateFunction.cast.rawValue, [operand, .constant(.value(.string(type)))])
    }

    private mutating func parseConditional() throws(PredicateFailure) -> ExpressionNode {
        try expect("(", "after TERNARY")
        let start = token
        let term = try parseOr()
        let condition = try predicate(from: term, at: start)
        try expect(",", "after the condition of TERNARY")
        let yes = try parseExpression()
        try expect(",", "after the second argument of TERNARY")
        let no = try parseExpression()
        try expect(")", "to close TERNARY")
        return .conditional(condition, yes, no)
    }

    private mutating func parseMessage() throws(PredicateFailure) -> ExpressionNode {
        try expect("(", "after FUNCTION")
        let target = try parseExpression()
        try expect(",", "after the first argument of FUNCTION")
        let place = token
        guard case .constant(.value(.string(let selector))) = try parseExpression() else {
            throw failure("the second argument of FUNCTION is a selector in quotes", at: place)
        }
        var arguments: [ExpressionNode] = []
        if token.isSymbol(",") {
            advance()
            arguments = try parseList(until: ")")
        } else {
            try expect(")", "to close FUNCTION")
        }
        return .message(target: target, selector: selector, arguments)
    }

    private mutating func parseFetch() throws(PredicateFailure) -> ExpressionNode {
        advance()
        let request = try parseExpression()
        try expect(",", "after the request of FETCH")
        let context = try parseExpression()
        try expect(",", "after the context of FETCH")
        let place = token
        guard case .constant(.value(.integer(let countOnly))) = try parseExpression() else {
            throw failure("the third argument of FETCH is YES or NO", at: place)
        }
        try expect(")", "to close FETCH")
        return .fetch(request: request, context: context, countOnly: countOnly != 0)
    }

    // MARK: Arguments

    private mutating func argument(
        _ placeholder: PredicateToken.Placeholder, at place: PredicateToken
    ) throws(PredicateFailure) -> ExpressionNode {
        let argument = try nextArgument(for: place)
        switch placeholder {
        case .object:
            switch argument {
            case .constant(let constant): return .constant(constant)
            case .expression(let expression): return expression
            }
        case .keyPath:
            if case .expression(let expression) = argument, case .keyPath = expression { return expression }
            var keys = try keys(of: argument, at: place)
            if keys.first?.lowercased() == "self" { keys.removeFirst() }
            return keys.isEmpty ? .evaluatedObject : .keyPath(operand: .evaluatedObject, keys)
        case .integer, .double:
            if case .constant(.value(let value)) = argument {
                let wanted: CastTarget = placeholder == .integer ? .integer : .double
                switch value {
                case .integer, .double, .decimal:
                    if let number = try? wanted.cast(value), !number.isNull { return .constant(.value(number)) }
                default: break
                }
            }
            throw failure("the argument for '\(text(of: place))' is not a number", at: place, hint: "use %@")
        case .text:
            if case .constant(.value(.string(let text))) = argument { return .constant(.value(.string(text))) }
            throw failure("the argument for '\(text(of: place))' is not a string", at: place, hint: "use %@")
        }
    }

    private func keys(of argument: FormatArgument, at place: PredicateToken) throws(PredicateFailure) -> [String] {
        guard case .constant(.value(.string(let path))) = argument else {
            throw failure("the argument for %K is a key path, as a string", at: place, hint: "use %@ for a value")
        }
        let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if keys.contains(where: \.isEmpty) {
            throw failure("the argument for %K, \"\(path)\", is not a key path", at: place)
        }
        return keys
    }
}

extension ExpressionNode {
    /// Returns the key path with one more key.
    package func appending(_ key: String) -> ExpressionNode {
        switch self {
        case .keyPath(let operand, let keys): .keyPath(operand: operand, keys + [key])
        default: .keyPath(operand: self, [key])
        }
    }
}
