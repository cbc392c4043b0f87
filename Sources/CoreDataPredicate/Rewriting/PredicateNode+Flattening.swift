import CoreDataPrimitives

// Compounds that code adds up, one condition after another, are as deep as they are many: (((a AND b) AND c) AND d) …
extension PredicateNode {
    /// So deep may AND, OR and NOT lie in one another, those of one kind in each other aside.
    package static let nestingLimit = 200

    /// Predicates that are no deeper than this are left as they are.
    private static let usualNesting = 16

    /// The same with AND in AND, and OR in OR, as one.
    ///
    /// Everything that goes through a predicate calls itself for what lies deeper: so it takes its stack for what alternates only.
    ///
    /// - Throws: ``PredicateFailure`` for more than ``nestingLimit`` levels that alternate.
    package func flattened() throws(PredicateFailure) -> PredicateNode {
        guard kind != nil else { return self }
        let (levels, alternations) = nesting
        if alternations > Self.nestingLimit {
            throw PredicateFailure(
                .unsupported,
                Diagnostic(
                    .error, "AND, OR and NOT are nested more than \(Self.nestingLimit) levels deep",
                    hint: "join conditions of one kind in one compound"))
        }
        return levels > Self.usualNesting ? joined() : self
    }

    /// How many compounds lie in one another, and how often their kinds change.
    private var nesting: (levels: Int, alternations: Int) {
        var (levels, alternations) = (0, 0)
        var open: [(node: PredicateNode, kind: Kind?, levels: Int, alternations: Int)] = [(self, nil, 0, 0)]
        while let (node, outer, depth, changes) = open.popLast() {
            guard let kind = node.kind else { continue }
            let here = (depth + 1, changes + (kind == outer && kind != .not ? 0 : 1))
            (levels, alternations) = (max(levels, here.0), max(alternations, here.1))
            for part in node.parts { open.append((part, kind, here.0, here.1)) }
        }
        return (levels, alternations)
    }

    private func joined() -> PredicateNode {
        guard let kind else { return self }
        if case .not(let part) = self { return .not(part.joined()) }
        var leaves: [PredicateNode] = []
        var open = [self]
        while let node = open.popLast() {
            if node.kind == kind { open += node.parts.reversed() } else { leaves.append(node.joined()) }
        }
        return kind == .and ? .and(leaves) : .or(leaves)
    }

    private enum Kind {
        case and
        case or
        case not
    }

    private var kind: Kind? {
        switch self {
        case .and: .and
        case .or: .or
        case .not: .not
        case .constant, .comparison, .block: nil
        }
    }

    private var parts: [PredicateNode] {
        switch self {
        case .and(let parts), .or(let parts): parts
        case .not(let part): [part]
        case .constant, .comparison, .block: []
        }
    }
}
