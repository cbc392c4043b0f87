import CoreDataSQL
import Foundation
import TestSupport

@testable import CoreDataSQLite

/// A database of books, in memory or in a new folder.
func makeDatabase(inFile: Bool = false, _ change: (inout SQLiteOptions) -> Void = { _ in }) throws -> SQLiteDatabase {
    var options = SQLiteOptions(.memory)
    if inFile {
        options.location = .file(path: try Fixtures.temporaryFolder().appendingPathComponent("Books.sqlite").path)
    }
    change(&options)
    let database = try SQLiteDatabase(options)
    try database.write {
        try $0.execute("CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_OPT INTEGER, ZTITLE VARCHAR )")
    }
    return database
}

extension SQLDatabase {
    func rows(_ text: SQLText) throws -> [[SQLValue]] { try read { try $0.rows(text) } }

    /// The one value of a query.
    func value(_ text: SQLText) throws -> SQLValue? { try rows(text).first?.first }
}

/// The failure that `body` throws.
func failure(_ body: () throws -> Void) -> SQLFailure? {
    do {
        try body()
        return nil
    } catch {
        return error as? SQLFailure
    }
}

extension SQLRenderable {
    var text: SQLText { text(in: .sqlite) }
}

extension SQLText.StringInterpolation {
    mutating func appendInterpolation(_ part: SQLExpression) { appendInterpolation(part.text) }
}
