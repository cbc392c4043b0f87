extension SQLDialect {
    /// PostgreSQL 15 and later with ICU, on a server without functions of this library.
    ///
    /// Columns have the types that a reader of the schema expects. As in memory, predicates treat booleans as numbers
    /// and integers as 64-bit integers, with casts in the SQL (`CAST(t0."done" AS INTEGER)`). Dates are compared
    /// directly, but date arithmetic runs only in memory. Text is ordered by its bytes (`COLLATE "C"`), as in memory.
    ///
    /// The dialect lacks folded text, orders other than by bytes, patterns and bit operations. It also lacks functions
    /// that fail where this library's return NULL (square root, logarithm, division): ICU's equivalents of some of
    /// these differ slightly. Regular expressions find the rows for which a comparison of folded text may be true;
    /// memory then checks these rows.
    package static let postgreSQL = SQLDialect(postgreSQLTraits)

    /// A double represents every integer below 2⁵³; doubles from there on are integers.
    private static let numberOrder = """
        (CASE WHEN {0} IS NULL THEN NULL WHEN ABS({1}) < 9007199254740992 THEN SIGN(CAST({0} AS DOUBLE PRECISION) - {1}) \
        WHEN {1} >= -9223372036854775808 AND {1} < 9223372036854775808 \
        THEN SIGN(CAST({0} AS NUMERIC) - CAST(CAST({1} AS BIGINT) AS NUMERIC)) ELSE -SIGN({1}) END)
        """

    private static var postgreSQLTraits: Traits {
        var traits = Traits()
        traits.placeholder = .numbered
        traits.quoting = .always
        traits.identity = .distinctFrom
        traits.jsonArrays = .texts
        traits.catalog = .catalogs
        traits.schema = .standard
        traits.maximumBindings = 65535
        traits.sortsNullFirst = false
        traits.offsetNeedsLimit = false
        traits.insertsUpToFailure = false
        traits.crossJoinsInOrder = false
        traits.selectHidesConflict = false
        traits.names = .readable
        traits.typesBindings = true
        traits.typesValues = true
        traits.naming = .models
        traits.readsWhole = true
        traits.writesTogether = true
        traits.isRemote = true
        traits.sharesSchema = true
        traits.notesCommits = true
        traits.keepsComments = true
        traits.altersTables = true
        traits.hasConstraints = true
        traits.keepsTexts = false
        traits.updatesByInserting = false
        traits.bindsArrays = true
        traits.columnTypes = [
            .rowKey: "BIGINT PRIMARY KEY", .integer: "BIGINT", .smallInteger: "SMALLINT", .mediumInteger: "INTEGER",
            .boolean: "BOOLEAN", .real: "DOUBLE PRECISION", .date: "TIMESTAMPTZ", .decimal: "NUMERIC",
            .text: "TEXT COLLATE \"C\"", .shortText: "VARCHAR(255) COLLATE \"C\"", .bytes: "BYTEA",
            .identifier: "UUID",
        ]
        traits.castTypes = [
            .rowKey: "BIGINT", .integer: "BIGINT", .smallInteger: "SMALLINT", .mediumInteger: "INTEGER",
            .boolean: "BOOLEAN", .real: "DOUBLE PRECISION", .date: "TIMESTAMPTZ", .decimal: "NUMERIC", .text: "TEXT",
            .shortText: "TEXT", .bytes: "BYTEA", .identifier: "UUID",
        ]
        traits.catalogTypes = [
            .rowKey: "bigint", .integer: "bigint", .smallInteger: "smallint", .mediumInteger: "integer",
            .boolean: "boolean", .real: "double precision", .date: "timestamp with time zone", .decimal: "numeric",
            .text: "text", .shortText: "character varying", .bytes: "bytea", .identifier: "uuid",
        ]
        traits.functions = [
            .coalesce: .call("COALESCE"), .ifNull: .call("COALESCE"), .greatest: .call("GREATEST"),
            .least: .call("LEAST"), .absolute: .call("ABS"), .byteLength: .call("OCTET_LENGTH"),
            .hexadecimal: .template("UPPER(ENCODE({0}, 'hex'))"), .substring: .call("SUBSTR"),
            // The empty text is not part of any text.
            .textBeginsWith: .plainTemplate("(STARTS_WITH({0}, {1}) AND {1} <> '')"),
            .textEndsWith: .plainTemplate("(RIGHT({0}, LENGTH({1})) = {1} AND {1} <> '')"),
            .textContains: .plainTemplate("(STRPOS({0}, {1}) > 0 AND {1} <> '')"),
            .decimalAdd: .infix("+"), .decimalSubtract: .infix("-"),
            .decimalMultiply: .infix("*"),
            .now: .template("statement_timestamp()"), .number: .template("CAST({0} AS INTEGER)"),
            .wideNumber: .template("CAST({0} AS BIGINT)"), .truth: .template("({0} <> 0)"),
            .schemaVersion: .template(ServerText.callSchemaNumber),
            .numberOrder: .template(numberOrder), .bytesOfText: .template("CONVERT_TO({0}, 'UTF8')"),
            .bytesOfDate: .template(
                "CONVERT_TO(CAST(CAST(EXTRACT(EPOCH FROM {0}) * 1000000 AS BIGINT) AS TEXT), 'UTF8')"),
        ]
        traits.aggregates = standardAggregates
        traits.aggregates[.decimalSum] = .call("SUM")
        traits.aggregates[.decimalAverage] = .call("AVG")
        traits.aggregates[.median] = .ordered("PERCENTILE_CONT(0.5)")
        // Without the cast, integers would give a decimal with few digits, and infinite values NaN.
        traits.aggregates[.standardDeviation] = .template("NULLIF(STDDEV_POP(CAST({0} AS DOUBLE PRECISION)), 'NaN')")
        traits.aggregates[.mode] = .ordered("MODE()")
        traits.aggregates[.first] = .ordered("PERCENTILE_DISC(0)")
        traits.aggregates[.last] = .ordered("PERCENTILE_DISC(1)")
        // For derived attributes, the server's functions suffice; predicates need exact equivalents.
        traits.schemaFunctions = [
            // Characters with two UTF-16 code units count twice.
            .textLength: .template(
                "(CHAR_LENGTH({0}) + CHAR_LENGTH(REGEXP_REPLACE({0}, '[^\u{10000}-\u{10FFFF}]', '', 'g')))"),
            .uppercase: .template("UPPER({0} COLLATE \"und-x-icu\")"),
            .lowercase: .template("LOWER({0} COLLATE \"und-x-icu\")"),
            .canonical: .template(
                "REGEXP_REPLACE(NORMALIZE(LOWER({0} COLLATE \"und-x-icu\"), NFD), '[\u{300}-\u{36F}\u{1AB0}-\u{1AFF}\u{1DC0}-\u{1DFF}\u{20D0}-\u{20FF}\u{FE20}-\u{FE2F}]', '', 'g')"
            ),
        ]
        traits.arithmetic = [.add, .subtract, .multiply, .concatenate]
        traits.failsOnValues = true
        traits.findsPatterns = true
        traits.exactDecimals = true
        traits.mixesNumbers = false
        traits.groupsLoosely = false
        return traits
    }
}
