import Measuring

/// The layout that all sides rely on; a store that differs would make the comparison unfair or wrong.
enum Schema {
    static let statements = [
        "CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOLLECTED INTEGER, "
            + "ZLISTED INTEGER, ZLOCATIONATHOME INTEGER, ZLOCATIONATSHOP INTEGER, ZUNIT INTEGER, ZQUANTITY FLOAT, "
            + "ZNAME VARCHAR, ZPHOTO BLOB )",
        "CREATE TABLE ZLOCATIONATHOME ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSTOREDIN VARCHAR )",
        "CREATE TABLE ZLOCATIONATSHOP ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAISLE VARCHAR )",
        "CREATE TABLE ZUNIT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
        "CREATE INDEX ZITEM_ZLOCATIONATHOME_INDEX ON ZITEM (ZLOCATIONATHOME)",
        "CREATE INDEX ZITEM_ZLOCATIONATSHOP_INDEX ON ZITEM (ZLOCATIONATSHOP)",
        "CREATE INDEX ZITEM_ZUNIT_INDEX ON ZITEM (ZUNIT)",
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
    ]

    /// - Throws: where the store's tables, indexes, page size or entity numbers are others.
    static func check(_ session: RawSession) throws {
        let found = try session.text(
            "SELECT GROUP_CONCAT(sql, ';') FROM (SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY sql)")
        guard found == statements.sorted().joined(separator: ";") else {
            throw MeasuringFailure("The store has another layout than the workloads: \(found)")
        }
        let entities = try session.text(
            "SELECT GROUP_CONCAT(Z_ENT || Z_NAME, ' ') FROM (SELECT * FROM Z_PRIMARYKEY ORDER BY Z_ENT)")
        guard entities == "1Item 2LocationAtHome 3LocationAtShop 4Unit" else {
            throw MeasuringFailure("The store numbers its entities differently: \(entities)")
        }
        guard try session.text("PRAGMA page_size") == "4096" else {
            throw MeasuringFailure("The store's pages are not of 4096 bytes.")
        }
    }
}
