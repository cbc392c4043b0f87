/// Lists the arguments that a format takes, for reading them from a C argument list.
package enum PredicatePlaceholders {
    package enum Kind: Sendable {
        case object
        case integer(isLong: Bool)
        case double
        case cString
    }

    /// Returns the kind of argument of each placeholder, in order.
    package static func kinds(in format: String) throws(PredicateFailure) -> [Kind] {
        let source = PredicateSource(format)
        var kinds: [Kind] = []
        for token in try PredicateLexer.tokens(of: source) {
            guard case .placeholder(let placeholder) = token.kind else { continue }
            switch placeholder {
            case .object, .keyPath: kinds.append(.object)
            case .double: kinds.append(.double)
            case .text: kinds.append(.cString)
            case .integer:
                let modifiers = source.string(token.start..<token.end).dropFirst().dropLast()
                kinds.append(.integer(isLong: modifiers.contains { "lqjzt".contains($0) }))
            }
        }
        return kinds
    }
}
