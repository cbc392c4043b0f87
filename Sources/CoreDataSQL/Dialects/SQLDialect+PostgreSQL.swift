extension SQLDialect {
    /// PostgreSQL 15 and later with ICU, as a server is that nobody has given functions of ours.
    ///
    /// Whole numbers are BIGINT, so that what is reckoned from them has 64 bits as in memory; truth is SMALLINT, since
    /// predicates compare it with 0 and 1; dates are seconds in DOUBLE PRECISION, as in rows. Text is ordered by its bytes
    /// (`COLLATE "C"`), as in memory.
    ///
    /// Whatever is said of folded text, orders other than that of bytes, patterns, bits, and functions that would fail where ours
    /// give nil (a root, a logarithm, a quotient), it lacks: ICU's words for some of these mean nearly the same.
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
        traits.names = .readable
        traits.typesBindings = true
        traits.naming = .models
        traits.writesTogether = true
        traits.updatesByInserting = false
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
            // The empty text is no part of any.
            .textBeginsWith: .plainTemplate("(STARTS_WITH({0}, {1}) AND {1} <> '')"),
            .textEndsWith: .plainTemplate("(RIGHT({0}, LENGTH({1})) = {1} AND {1} <> '')"),
            .textContains: .plainTemplate("(STRPOS({0}, {1}) > 0 AND {1} <> '')"),
            .decimalAdd: .infix("+"), .decimalSubtract: .infix("-"),
            .decimalMultiply: .infix("*"),
            .now: .template("CAST(EXTRACT(EPOCH FROM statement_timestamp()) - 978307200 AS DOUBLE PRECISION)"),
        ]
        traits.aggregates = standardAggregates
        traits.aggregates[.decimalSum] = .call("SUM")
        traits.aggregates[.decimalAverage] = .call("AVG")
        traits.aggregates[.median] = .ordered("PERCENTILE_CONT(0.5)")
        traits.aggregates[.standardDeviation] = .call("STDDEV_POP")
        // Derived attributes are the server's to make; predicates ask for what is ours to the letter.
        traits.schemaFunctions = [
            .uppercase: .template("UPPER({0} COLLATE \"und-x-icu\")"),
            .lowercase: .template("LOWER({0} COLLATE \"und-x-icu\")"),
            .canonical: .template(
                "REGEXP_REPLACE(NORMALIZE(LOWER({0} COLLATE \"und-x-icu\"), NFD), '[\u{300}-\u{36F}\u{1AB0}-\u{1AFF}\u{1DC0}-\u{1DFF}\u{20D0}-\u{20FF}\u{FE20}-\u{FE2F}]', '', 'g')"
            ),
        ]
        traits.arithmetic = [.add, .subtract, .multiply, .concatenate]
        traits.failsOnValues = true
        traits.exactDecimals = true
        return traits
    }
}
