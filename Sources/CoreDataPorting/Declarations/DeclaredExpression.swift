import CoreDataDeclarations
import CoreDataPrimitives
import SwiftSyntax

/// Reads the expressions of a model declaration; anything except literals and calls is a problem.
struct DeclaredExpression {
    let text: SourceText
    private(set) var problems: [ModelDeclarations.Problem] = []
    private var depth = 0

    /// The maximum nesting; models need half of it. In debug builds, the parser overflows only slightly deeper.
    private static let greatestDepth = 16

    init(_ text: SourceText) { self.text = text }

    mutating func report(_ message: String, at node: some SyntaxProtocol) {
        problems.append(.init(message, at: text.location(of: node)))
    }

    /// Returns the expression; `nil` if it cannot be read, which is reported in ``problems``.
    mutating func read(_ node: ExprSyntax) -> SwiftExpression? {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.greatestDepth else {
            report("this nests too deep for a declaration of a model", at: node)
            return nil
        }
        return content(of: node).map { SwiftExpression(content: $0, place: text.location(of: node)) }
    }

    private mutating func content(of node: ExprSyntax) -> SwiftExpression.Content? {
        if let literal = node.as(StringLiteralExprSyntax.self) { return string(literal) }
        if let literal = node.as(BooleanLiteralExprSyntax.self) {
            return .boolean(literal.literal.tokenKind == .keyword(.true))
        }
        if let digits = number(node) { return .number(digits) }
        if let array = node.as(ArrayExprSyntax.self) { return .list(array.elements.compactMap { read($0.expression) }) }
        if let dictionary = node.as(DictionaryExprSyntax.self) { return self.dictionary(dictionary) }
        if let sequence = node.as(SequenceExprSyntax.self) { return range(sequence) }
        if let statement = Self.keyword(of: node) {
            report("'\(statement)' is not read here; only literals and calls of the declaration are", at: node)
            return nil
        }
        return call(node).map(SwiftExpression.Content.call)
    }

    // MARK: Literals

    private mutating func string(_ literal: StringLiteralExprSyntax) -> SwiftExpression.Content? {
        if let value = literal.representedLiteralValue { return .text(value) }
        if let part = literal.segments.first(where: { $0.is(ExpressionSegmentSyntax.self) }) {
            report("a value in a text is no literal", at: part)
        } else {
            report("there is no such escape in Swift", at: literal)
        }
        return nil
    }

    /// Returns the digits of a decimal number, without underscores.
    private func number(_ node: ExprSyntax) -> String? {
        if let sign = node.as(PrefixOperatorExprSyntax.self) {
            guard sign.operator.text == "-", let digits = number(sign.expression), !digits.hasPrefix("-") else {
                return nil
            }
            return "-" + digits
        }
        let literal = node.as(IntegerLiteralExprSyntax.self)?.literal ?? node.as(FloatLiteralExprSyntax.self)?.literal
        guard let literal else { return nil }
        let digits = literal.text.filter { $0 != "_" }
        // Reject other bases: the receiver would misread the digits.
        return digits.allSatisfy { $0.isNumber || ".eE+-".contains($0) } ? digits : nil
    }

    private mutating func range(_ sequence: SequenceExprSyntax) -> SwiftExpression.Content? {
        let parts = Array(sequence.elements)
        if parts.count == 3, let sign = parts[1].as(BinaryOperatorExprSyntax.self), sign.operator.text == "...",
            let lower = number(parts[0]), let upper = number(parts[2])
        {
            return .range(lower: lower, upper: upper)
        }
        report("a literal or a call of the declaration should be here", at: sequence)
        return nil
    }

    private mutating func dictionary(_ node: DictionaryExprSyntax) -> SwiftExpression.Content {
        guard case .elements(let elements) = node.content else { return .dictionary([]) }
        var entries: [SwiftExpression.Entry] = []
        for element in elements {
            if let key = read(element.key), let value = read(element.value) {
                entries.append(.init(key: key, value: value))
            }
        }
        return .dictionary(entries)
    }

    // MARK: Calls

    /// Reads a call, a name alone, or either with a leading dot.
    private mutating func call(_ node: ExprSyntax) -> SwiftCallExpression? {
        if let name = node.as(DeclReferenceExprSyntax.self), name.argumentNames == nil {
            return SwiftCallExpression(name: name.baseName.identifierName, hasLeadingPoint: false)
        }
        if let member = node.as(MemberAccessExprSyntax.self), member.base == nil {
            return SwiftCallExpression(name: member.declName.baseName.identifierName, hasLeadingPoint: true)
        }
        guard let function = node.as(FunctionCallExprSyntax.self), function.additionalTrailingClosures.isEmpty else {
            report("a literal or a call of the declaration should be here", at: node)
            return nil
        }
        if let member = function.calledExpression.as(MemberAccessExprSyntax.self), let base = member.base {
            return modified(base, by: member, function)
        }
        guard var call = call(function.calledExpression) else { return nil }
        guard call.arguments.isEmpty, call.body.isEmpty, call.modifiers.isEmpty else {
            report("a literal or a call of the declaration should be here", at: node)
            return nil
        }
        call.arguments = arguments(of: function)
        if let closure = function.trailingClosure { call.body = body(of: closure) }
        return call
    }

    /// Adds a modifier to a call: `ModelAttribute("a", .string).required()`.
    private mutating func modified(
        _ base: ExprSyntax, by member: MemberAccessExprSyntax, _ function: FunctionCallExprSyntax
    ) -> SwiftCallExpression? {
        guard function.trailingClosure == nil, var call = call(base), !call.hasLeadingPoint else {
            report("a literal or a call of the declaration should be here", at: member)
            return nil
        }
        var modifier = SwiftCallExpression(name: member.declName.baseName.identifierName, hasLeadingPoint: true)
        modifier.arguments = arguments(of: function)
        call.modifiers.append(
            SwiftExpression(content: .call(modifier), place: text.location(of: member.period)))
        return call
    }

    private mutating func arguments(of function: FunctionCallExprSyntax) -> [SwiftCallExpression.Argument] {
        function.arguments.compactMap { argument in
            read(argument.expression).map { .init(label: argument.label?.identifierName, value: $0) }
        }
    }

    private mutating func body(of closure: ClosureExprSyntax) -> [SwiftExpression] {
        if let signature = closure.signature { report("a closure has no parameters here", at: signature) }
        return closure.statements.compactMap { item in
            guard case .expr(let expression) = item.item else {
                let word = item.firstToken(viewMode: .sourceAccurate)?.text ?? ""
                report("'\(word)' is not read here; only literals and calls of the declaration are", at: item)
                return nil
            }
            return read(expression)
        }
    }

    /// Returns the keyword of an expression: `if` of an `if` expression.
    private static func keyword(of node: ExprSyntax) -> String? {
        switch node.kind {
        case .ifExpr: "if"
        case .switchExpr: "switch"
        default: nil
        }
    }
}

extension TokenSyntax {
    /// The name without backticks.
    var identifierName: String { identifier?.name ?? text }
}

extension SourceText {
    func location(of node: some SyntaxProtocol) -> CoreDataPrimitives.SourceLocation {
        location(at: node.positionAfterSkippingLeadingTrivia.utf8Offset)
    }
}
