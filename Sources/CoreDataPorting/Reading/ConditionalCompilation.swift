import SwiftSyntax

/// Decides which clauses of `#if` the compiler ignores outside Apple's platforms; those are not changed.
enum ConditionalCompilation {
    /// Returns the clauses that may be compiled here.
    static func compiledClauses(of node: IfConfigDeclSyntax) -> [IfConfigClauseSyntax] {
        var clauses: [IfConfigClauseSyntax] = []
        for clause in node.clauses {
            let value = clause.condition.map(holds)
            if value != .some(.no) { clauses.append(clause) }
            if value == .some(.yes) { break }
        }
        return clauses
    }

    private enum Answer {
        case yes
        case no
        case unknown
    }

    private static let applePlatforms: Set<String> = [
        "macOS", "OSX", "iOS", "tvOS", "watchOS", "visionOS", "xrOS", "macCatalyst",
    ]

    private static func holds(_ condition: ExprSyntax) -> Answer {
        if let tuple = condition.as(TupleExprSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
            return holds(only.expression)
        }
        if let prefix = condition.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "!" {
            switch holds(prefix.expression) {
            case .yes: return .no
            case .no: return .yes
            case .unknown: return .unknown
            }
        }
        if let sequence = condition.as(SequenceExprSyntax.self) { return holds(Array(sequence.elements)) }
        if let literal = condition.as(BooleanLiteralExprSyntax.self) {
            return literal.literal.text == "true" ? .yes : .no
        }
        guard let call = condition.as(FunctionCallExprSyntax.self), let argument = call.arguments.first?.expression
        else { return .unknown }
        let text = argument.trimmedDescription
        switch call.calledExpression.trimmedDescription {
        case "os", "targetEnvironment": return applePlatforms.contains(text) || text == "simulator" ? .no : .unknown
        case "canImport":
            let module = text.split(separator: ".").first.map(String.init) ?? text
            if FoundationModules.isPart(module) { return .yes }
            return AppleModules.isAppleOnly(module) ? .no : .unknown
        default: return .unknown
        }
    }

    /// Evaluates `a && b || c` with the precedence of `#if`.
    private static func holds(_ elements: [ExprSyntax]) -> Answer {
        let alternatives = elements.split { $0.trimmedDescription == "||" }.map { conjunction in
            let parts = conjunction.split { $0.trimmedDescription == "&&" }.map { part in
                part.count == 1 ? part.first.map(holds) ?? .unknown : .unknown
            }
            if parts.contains(.no) { return Answer.no }
            return parts.allSatisfy { $0 == .yes } ? .yes : .unknown
        }
        if alternatives.contains(.yes) { return .yes }
        return alternatives.allSatisfy { $0 == .no } ? .no : .unknown
    }
}
