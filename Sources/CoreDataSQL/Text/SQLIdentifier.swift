/// Names in SQL text.
package enum SQLIdentifier {
    /// Returns the name as written in a statement: unchanged if it is plain, else in double quotes.
    ///
    ///     text("ZITEM")       // ZITEM
    ///     text("order")       // "order"
    ///     text("it\"s")       // "it""s"
    package static func text(_ name: String) -> String {
        isPlain(name) && !isKeyword(name) ? name : quoted(name)
    }

    /// Returns whether the name matches `[A-Za-z_][A-Za-z0-9_]*`.
    package static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, !isDigit(first) else { return false }
        return name.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isWordCharacter) }
            ?? name.utf8.allSatisfy(isWordCharacter)
    }

    /// Returns whether the byte matches `[A-Za-z0-9_]`.
    package static func isWordCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
        default: isDigit(byte)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    /// Returns whether the plain name is an SQL keyword.
    package static func isKeyword(_ name: String) -> Bool {
        // Most names of Apple's layout start with Z, and short table aliases end with a digit; no keyword does either.
        guard let first = name.utf8.first, first != UInt8(ascii: "Z"), let last = name.utf8.last, !isDigit(last) else {
            return false
        }
        return keywords.contains(name.uppercased())
    }

    /// Returns the name in double quotes. A NUL ends a statement's text, so a name cannot contain it.
    package static func quoted(_ name: String) -> String {
        var text = "\""
        for scalar in name.unicodeScalars where scalar != "\0" {
            if scalar == "\"" { text.unicodeScalars.append(scalar) }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }

    /// Keywords of SQLite and standard SQL that are not valid as names.
    private static let keywords: Set<String> = Set(
        """
        ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND ANY ARRAY AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN
        BOTH BY CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE
        CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT
        DO DROP EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FALSE FETCH FILTER FIRST FOLLOWING
        FOR FOREIGN FROM FULL GENERATED GLOB GRANT GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY
        INNER INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LEADING LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL
        NO NOT NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLACING PLAN PRAGMA
        PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT
        RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SESSION_USER SET SOME SYMMETRIC TABLE TEMP TEMPORARY THEN
        TIES TO TRAILING TRANSACTION TRIGGER TRUE UNBOUNDED UNION UNIQUE UPDATE USER USING VACUUM VALUES VIEW VIRTUAL
        WHEN WHERE WINDOW WITH WITHOUT
        """.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init))
}
