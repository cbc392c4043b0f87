import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// Translates BEGINSWITH, ENDSWITH, LIKE and MATCHES.
    func textMatch(_ left: QueryTerm, _ leaf: Leaf, _ right: QueryTerm, negated: Bool) throws -> SQLExpression {
        if case .entity(let row) = left { return try entityMatch(row, leaf, right, negated: negated) }
        guard let text = try scalar(left, leaf.left), let part = try scalar(right, leaf.right) else {
            return .boolean(negated)
        }
        return try textMatch(text, leaf, part, negated: negated)
    }

    /// Translates a test of two texts, which is false if one is nil.
    ///
    ///     name BEGINSWITH "ab"       // t0.ZNAME >= ? AND t0.ZNAME < ?        bindings "ab", "ac"
    ///     name CONTAINS[c] "ab"      // CDTextContains(t0.ZNAME, ?, 1)
    func textMatch(_ text: QueryScalar, _ leaf: Leaf, _ part: QueryScalar, negated: Bool) throws -> SQLExpression {
        try checkText(text, leaf, leaf.left)
        try checkText(part, leaf, leaf.right)
        if leaf.comparator == .matches, case .bind(.text(let pattern)) = part.sql {
            try checkPattern(pattern, leaf)
        }
        if narrows, !negated, let superset = superset(text, leaf.comparator, part, leaf.folding) { return superset }
        let absent = nulls(text) + nulls(part)
        if leaf.comparator == .beginsWith, leaf.folding == 0, let range = prefixRange(text, part) {
            let (low, high) = range
            if !negated { return .all([low] + [high].compactMap { $0 }) }
            let outside = [low, high].compactMap { $0.flatMap(Self.opposite) }
            return .any(outside + absent)
        }
        guard let function = leaf.function else {
            throw failure("unimplemented SQL generation for predicate", leaf.predicate)
        }
        let match = SQLExpression.function(function, [text.sql, part.sql, .integer(Int64(leaf.functionOptions))])
        if negated { return .any([.not(match)] + absent) }
        let ranges = leaf.comparator == .beginsWith ? candidates(text, part, leaf.folding) : nil
        guard let candidates = ranges ?? trigramCandidates(text, part, leaf) else { return match }
        return .all([candidates, match])
    }

    /// Returns the texts that may start with the part under folding, as ranges for an index: those with the part's
    /// first three scalars in any case, and those with a non-ASCII scalar there, which may fold to anything.
    ///
    ///     name BEGINSWITH[cd] "c"    // (t0.ZNAME >= ? AND t0.ZNAME < ? OR t0.ZNAME >= ? AND t0.ZNAME < ? OR t0.ZNAME >= ?)
    ///                                // AND CDTextBeginsWith(t0.ZNAME, ?, 3)            bindings "C", "D", "c", "d", "\u{80}"
    ///
    /// The result is `nil` if no index starts with the column, or if the part does not start with ASCII: folding
    /// changes ASCII only in case.
    func candidates(_ text: QueryScalar, _ part: QueryScalar, _ folding: UInt) -> SQLExpression? {
        guard text.isIndexed, folding != 0, case .bind(.text(let prefix)) = part.sql else { return nil }
        let scalars = TextComparison.fold(prefix, options: folding).unicodeScalars.prefix(3).prefix(while: \.isASCII)
        let forms = scalars.map { scalar -> [String] in
            let letter = String(Character(scalar))
            let isCased = folding & 1 != 0 && letter.uppercased() != letter
            return isCased ? [letter.uppercased(), letter] : [letter]
        }
        guard !forms.isEmpty else { return nil }
        var ranges: [SQLExpression] = []
        func range(from low: String, to high: String?) {
            let above = SQLExpression.comparison(.greaterOrEqual, text.sql, .bind(.text(low)))
            let below = high.map { SQLExpression.comparison(.less, text.sql, .bind(.text($0))) }
            ranges.append(.all([above] + [below].compactMap { $0 }))
        }
        func addRanges(of start: String, _ rest: ArraySlice<[String]>) {
            guard let next = rest.first else { return range(from: start, to: Self.successor(of: start)) }
            for form in next { addRanges(of: start + form, rest.dropFirst()) }
            range(from: start + Self.beyondASCII, to: start.isEmpty ? nil : Self.successor(of: start))
        }
        addRanges(of: "", forms[...])
        return .any(ranges)
    }

    private static let beyondASCII = "\u{80}"

    /// Returns the range of texts with the prefix, which an index can find.
    private func prefixRange(
        _ text: QueryScalar, _ part: QueryScalar
    ) -> (low: SQLExpression, high: SQLExpression?)? {
        guard case .column = text.sql, case .bind(.text(let prefix)) = part.sql, !prefix.isEmpty else { return nil }
        let low = SQLExpression.comparison(.greaterOrEqual, text.sql, part.sql)
        guard let next = Self.successor(of: prefix) else { return nil }
        return (low, .comparison(.less, text.sql, .bind(.text(next))))
    }

    /// Returns the least text above all texts with the prefix; `nil` if there is none.
    ///
    /// UTF-8 sorts in the order of scalars, so the last scalar is incremented.
    static func successor(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // Surrogates are not scalars.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            if let raised = Unicode.Scalar(next) {
                scalars.append(raised)
                var text = String.UnicodeScalarView()
                text.append(contentsOf: scalars)
                return String(text)
            }
        }
        return nil
    }

    private static func opposite(_ expression: SQLExpression) -> SQLExpression? {
        guard case .comparison(let comparison, let left, let right) = expression else { return nil }
        return .comparison(comparison.opposite, left, right)
    }

    private func checkText(_ scalar: QueryScalar, _ leaf: Leaf, _ expression: ExpressionNode) throws {
        guard !scalar.kind.isText else { return }
        throw failure(
            leaf.comparator == .matches
                ? "Can't do regex matching on \(scalar.kind.name)"
                : "Can't do a substring operation with something that isn't a string, but \(scalar.kind.name)",
            leaf.predicate, kind: .evaluation)
    }

    private func checkPattern(_ pattern: String, _ leaf: Leaf) throws {
        do throws(TextComparison.InvalidPattern) {
            _ = try TextComparison.matches("", pattern, options: leaf.folding)
        } catch {
            throw failure(error.message, leaf.predicate, kind: .evaluation)
        }
    }

    /// Compares two constant texts, as the evaluator does.
    func matches(_ text: String, _ leaf: Leaf, _ other: String) throws -> Bool {
        let options = leaf.functionOptions
        switch leaf.comparator {
        case .equalTo: return TextComparison.equal(text, other, options: options)
        case .notEqualTo: return !TextComparison.equal(text, other, options: options)
        case .lessThan: return TextComparison.compare(text, other, options: options) < 0
        case .lessThanOrEqualTo: return TextComparison.compare(text, other, options: options) <= 0
        case .greaterThan: return TextComparison.compare(text, other, options: options) > 0
        case .greaterThanOrEqualTo: return TextComparison.compare(text, other, options: options) >= 0
        case .beginsWith: return TextComparison.beginsWith(text, other, options: options)
        case .endsWith: return TextComparison.endsWith(text, other, options: options)
        case .contains: return TextComparison.contains(text, other, options: options)
        case .in: return TextComparison.contains(other, text, options: options)
        case .like: return TextComparison.like(text, other, options: options)
        case .matches:
            try checkPattern(other, leaf)
            return try TextComparison.matches(text, other, options: options)
        case .between, .customSelector:
            throw failure("unimplemented SQL generation for predicate", leaf.predicate)
        }
    }
}

extension PredicateTranslator.Leaf {
    /// The options for text functions, as far as the comparator uses them.
    var functionOptions: UInt {
        switch comparator {
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between: ordering
        case .equalTo, .notEqualTo, .matches, .like, .beginsWith, .endsWith, .in, .contains, .customSelector: folding
        }
    }

    /// The database's function that compares two texts; `nil` if there is none.
    fileprivate var function: SQLFunction? {
        switch comparator {
        case .beginsWith: .textBeginsWith
        case .endsWith: .textEndsWith
        case .like: .textLike
        case .matches: .textMatches
        case .contains, .in: .textContains
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .between,
            .customSelector:
            nil
        }
    }
}
