extension SQLDialect {
    /// SQLite with the functions and collations that the driver registers on its connections. It supports all features.
    package static let sqlite = SQLDialect(sqliteTraits)

    private static var sqliteTraits: Traits {
        var traits = Traits()
        traits.jsonArrays = .members
        traits.columnTypes = [
            .rowKey: "INTEGER PRIMARY KEY", .integer: "INTEGER", .boolean: "INTEGER", .real: "FLOAT",
            .date: "TIMESTAMP", .decimal: "DECIMAL", .text: "VARCHAR", .shortText: "VARCHAR(255)", .bytes: "BLOB",
            .smallInteger: "INTEGER", .mediumInteger: "INTEGER", .identifier: "BLOB",
        ]
        traits.castTypes = [
            .rowKey: "INTEGER", .integer: "INTEGER", .boolean: "INTEGER", .real: "REAL", .date: "REAL",
            .decimal: "NUMERIC", .text: "TEXT", .shortText: "TEXT", .bytes: "BLOB",
            .smallInteger: "INTEGER", .mediumInteger: "INTEGER", .identifier: "BLOB",
        ]
        for function in SQLFunction.allCases { traits.functions[function] = .call(function.rawValue) }
        // SQLite's columns store values of any type.
        for function in [
            SQLFunction.number, .truth, .wideNumber, .secondsOfDate, .dateOfSeconds, .bytesOfText, .bytesOfDate,
        ] {
            traits.functions[function] = .template("{0}")
        }
        traits.functions[.numberOrder] = .template("(({0} > {1}) - ({0} < {1}))")
        traits.functions[.coalesce] = .call("COALESCE")
        traits.functions[.ifNull] = .call("IFNULL")
        traits.functions[.greatest] = .call("MAX")
        traits.functions[.least] = .call("MIN")
        traits.functions[.absolute] = .call("abs")
        traits.functions[.byteLength] = .call("length")
        traits.functions[.hexadecimal] = .call("hex")
        traits.functions[.substring] = .call("SUBSTR")
        traits.functions[.storageClass] = .call("typeof")
        traits.aggregates = standardAggregates
        for aggregate in [SQLAggregate.decimalSum, .decimalAverage, .median, .standardDeviation, .mode] {
            traits.aggregates[aggregate] = .call(aggregate.rawValue)
        }
        traits.aggregates[.first] = .call("MIN")
        traits.aggregates[.last] = .call("MAX")
        for collation in SQLCollation.allCases { traits.collations[collation] = collation.rawValue }
        return traits
    }

    static var standardAggregates: [SQLAggregate: SQLForm] {
        [
            .count: .call("COUNT"), .sum: .call("SUM"), .average: .call("AVG"), .minimum: .call("MIN"),
            .maximum: .call("MAX"),
        ]
    }
}
