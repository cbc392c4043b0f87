// A migration as a script that another program, such as psql, runs on a server: one transaction with all values in the
// text.
extension SQLRenderable {
    /// Returns the text with its values written as constants.
    package func script(in dialect: SQLDialect) -> String {
        var renderer = SQLRenderer(dialect)
        renderer.writesConstants = true
        render(with: &renderer)
        return renderer.text.sql
    }
}

extension ServerText {
    private static let former = SQLIdentifier.quoted("_former_entities")

    /// Begins the transaction, as a driver's session does, and locks out all writers of the store.
    ///
    /// - Parameters:
    ///   - identifier: the store's UUID.
    ///   - propertyList: the store's metadata when the migration was planned; the script stops if the metadata or their
    ///     version changed.
    package static func beginScript(
        schema: String, identifier: String, propertyList: [UInt8], in dialect: SQLDialect
    ) -> [String] {
        let metadata = "\(quoted("Z_METADATA")) WHERE \(quoted("Z_UUID")) = \(constant(identifier, dialect)) AND "
        let isSame = "SELECT 1 FROM \(metadata)\(quoted("Z_PLIST")) = \(bytes(propertyList, dialect))"
        return [
            begin,
            "SET LOCAL search_path = \(SQLIdentifier.quoted(schema))",
            "SET LOCAL TimeZone = 'UTC'",
            "SELECT pg_advisory_xact_lock(hashtextextended(\(constant("OpenCoreData \(schema)", dialect)), 7))",
            refusal(
                unless: isSame,
                "the store is another one, or its version or metadata have changed since this script was made: make it anew",
                in: dialect),
            "CREATE TEMPORARY TABLE \(former) ON COMMIT DROP AS SELECT * FROM \(quoted("Z_PRIMARYKEY"))",
        ]
    }

    /// Continues an entity's keys after the keys of the former entities that it replaces.
    package static func keepKeys(of number: Int64, from former: [Int64]) -> String {
        let (entity, last) = (quoted("Z_ENT"), quoted("Z_MAX"))
        let numbers = former.map(String.init).joined(separator: ", ")
        return """
            UPDATE \(quoted("Z_PRIMARYKEY")) SET \(last) = GREATEST(\(last), \
            (SELECT MAX(o.\(last)) FROM \(self.former) AS o WHERE o.\(entity) IN (\(numbers)))) WHERE \(entity) = \(number)
            """
    }

    /// Stops the script if the query finds a row.
    package static func refusal(if query: String, _ reason: String, in dialect: SQLDialect) -> String {
        block("IF EXISTS (\(query)) THEN RAISE EXCEPTION USING MESSAGE = \(constant(reason, dialect)); END IF; ")
    }

    private static func refusal(unless query: String, _ reason: String, in dialect: SQLDialect) -> String {
        block("IF NOT EXISTS (\(query)) THEN RAISE EXCEPTION USING MESSAGE = \(constant(reason, dialect)); END IF; ")
    }

    /// Moves the bits of an entity's updates in the history to new positions; see `HistoryBits`.
    ///
    /// - Parameter places: the new bit of each old bit; -1 for a removed one. Bits are counted from the highest bit of
    ///   the first byte.
    package static func moveHistoryBits(
        of entity: Int64, places: [Int], byteCount: Int, in dialect: SQLDialect
    ) -> String {
        // A server counts bits from the lowest bit of each byte.
        func number(_ bit: Int) -> Int { bit / 8 * 8 + 7 - bit % 8 }
        let column = quoted("ZCOLUMNS")
        // A value may be shorter than the entity's bits.
        let old = "(\(column) || \(bytes([UInt8](repeating: 0, count: (places.count + 7) / 8), dialect)))"
        var new = bytes([UInt8](repeating: 0, count: byteCount), dialect)
        for (place, target) in places.enumerated() where target >= 0 {
            new = "set_bit(\(new), \(number(target)), get_bit(\(old), \(number(place))))"
        }
        return """
            UPDATE \(quoted("ACHANGE")) SET \(column) = \(new) WHERE \(quoted("ZENTITY")) = \(entity) \
            AND \(column) IS NOT NULL
            """
    }

    /// Validates a constraint. If existing rows violate it, it applies only to new and changed rows.
    package static func validateIfMet(_ statement: String) -> String {
        block("\(statement); EXCEPTION WHEN foreign_key_violation OR check_violation THEN RAISE NOTICE '%', SQLERRM; ")
    }

    /// Makes programs with an open store read its model again, and commits.
    ///
    /// - Parameter tables: the tables whose rows the migration changed.
    package static func endScript(schema: String, changed tables: [String], in dialect: SQLDialect) -> [String] {
        let function = "\(quoted(schemaNumber))()"
        return (tables.isEmpty ? [] : [lock(tables: tables)]) + [
            changeSchemaVersion,
            // Drop a function that its trigger did not update: it would keep returning the old number.
            block(
                """
                IF to_regprocedure(\(constant(function, dialect))) IS NOT NULL THEN \
                IF \(callSchemaNumber) <> (\(schemaVersion)) THEN \(dropSchemaNumber); END IF; END IF; 
                """),
            "SELECT pg_notify(\(constant(channel(schema), dialect)), '')",
            commit,
        ]
    }

    private static func block(_ statements: String) -> String {
        let quote = StandardSchemaRenderer.quote(around: statements)
        return "DO \(quote) BEGIN \(statements)END \(quote)"
    }

    private static func constant(_ text: String, _ dialect: SQLDialect) -> String {
        var constant = SQLText(in: dialect)
        constant.append(quoted: text)
        return constant.sql
    }

    private static func bytes(_ bytes: [UInt8], _ dialect: SQLDialect) -> String {
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return constant("\\x" + digits, dialect) + "::BYTEA"
    }

    private static func quoted(_ name: String) -> String { SQLIdentifier.quoted(SQLNames.readable.stored(name)) }
}
