import CoreDataPrimitives

// Compounds that code builds one condition at a time are as deep as they are long: (((a AND b) AND c) AND d) …
extension PredicateNode {
    /// The maximum nesting depth of AND, OR and NOT; nested compounds of the same kind count once.
    package static let nestingLimit = 200

    /// Predicates up to this depth are left unchanged.
    private static let usualNesting = 16

    /// Returns the predicate with nested ANDs, and nested ORs, merged into one compound.
    ///
    /// All passes over a predicate are recursive. After flattening, only alternating levels use stack.
    ///
    /// - Throws: ``PredicateFailure`` for more than ``nestingLimit`` alternating levels.
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

    /// The depth of the nested compounds, and the number of levels at which the kind alternates.
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
