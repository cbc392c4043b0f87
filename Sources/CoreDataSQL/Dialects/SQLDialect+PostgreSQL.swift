extension SQLDialect {
    /// PostgreSQL 15 and later with ICU, as a server is that nobody has given functions of ours.
    ///
    /// Whole numbers are BIGINT, so that what is reckoned from them has 64 bits as in memory; truth is SMALLINT, since
    /// predicates compare it with 0 and 1; dates are seconds in DOUBLE PRECISION, as in rows. Text is ordered by its bytes
    /// (`COLLATE "C"`), as in memory.
    ///
    /// Equality of text with `[c]` and `[d]` goes by collations that the schema brings along; whatever else is said of
    /// folded text, patterns, and functions that would fail where ours give nil (a root, a logarithm, a quotient), it lacks.
    package static let postgreSQL = SQLDialect(postgreSQLTraits)

    private static var postgreSQLTraits: Traits {
        var traits = Traits()
        traits.placeholder = .numbered
        traits.quoting = .always
        traits.identity = .distinctFrom
        traits.jsonArrays = .texts
        traits.catalog = .informationSchema
        traits.schema = .standard
        traits.maximumBindings = 65535
        traits.sortsNullFirst = false
        traits.offsetNeedsLimit = false
        traits.insertsUpToFailure = false
        traits.crossJoinsInOrder = false
        traits.selectHidesConflict = false
        traits.columnTypes = [
            .rowKey: "BIGINT PRIMARY KEY", .integer: "BIGINT", .boolean: "SMALLINT", .real: "DOUBLE PRECISION",
            .date: "DOUBLE PRECISION", .decimal: "NUMERIC", .text: "TEXT COLLATE \"C\"",
            .shortText: "VARCHAR(255) COLLATE \"C\"", .bytes: "BYTEA",
        ]
        traits.castTypes = [
            .rowKey: "BIGINT", .integer: "BIGINT", .boolean: "SMALLINT", .real: "DOUBLE PRECISION",
            .date: "DOUBLE PRECISION", .decimal: "NUMERIC", .text: "TEXT", .shortText: "TEXT", .bytes: "BYTEA",
        ]
        traits.functions = [
            .coalesce: .call("COALESCE"), .ifNull: .call("COALESCE"), .greatest: .call("GREATEST"),
            .least: .call("LEAST"), .absolute: .call("ABS"), .byteLength: .call("OCTET_LENGTH"),
            .hexadecimal: .template("UPPER(ENCODE({0}, 'hex'))"), .substring: .call("SUBSTR"),
            .textEqual: .collated(textCollations.map(\.name)),
            // The empty text is no part of any.
            .textBeginsWith: .plainTemplate("(STARTS_WITH({0}, {1}) AND {1} <> '')"),
            .textEndsWith: .plainTemplate("(RIGHT({0}, LENGTH({1})) = {1} AND {1} <> '')"),
            .textContains: .plainTemplate("(STRPOS({0}, {1}) > 0 AND {1} <> '')"),
            .bitwiseXor: .infix("#"), .decimalAdd: .infix("+"), .decimalSubtract: .infix("-"),
            .decimalMultiply: .infix("*"),
            .now: .template("CAST(EXTRACT(EPOCH FROM statement_timestamp()) - 978307200 AS DOUBLE PRECISION)"),
        ]
        traits.aggregates = standardAggregates
        traits.aggregates[.decimalSum] = .call("SUM")
        traits.aggregates[.decimalAverage] = .call("AVG")
        traits.aggregates[.median] = .ordered("PERCENTILE_CONT(0.5)")
        traits.aggregates[.standardDeviation] = .call("STDDEV_POP")
        for (collation, _) in sortCollations { traits.collations[collation] = collation.rawValue }
        return traits
    }

    /// Those of equality with `[c]`, `[d]` and `[cd]`, by the options from 1 on, and what ICU makes them of.
    static let textCollations = [
        (name: "CDFoldCase", locale: "und-u-ks-level2"),
        (name: "CDFoldDiacritics", locale: "und-u-kc-true-ks-level1"),
        (name: "CDFoldBoth", locale: "und-u-ks-level1"),
    ]

    /// Those of sort descriptors. An order by folded bytes no server has.
    static let sortCollations: [(collation: SQLCollation, locale: String)] = [
        (.localized, "und"), (.localizedCaseInsensitive, "und-u-ks-level2"), (.localizedStandard, "und-u-kn-true"),
    ]
}
