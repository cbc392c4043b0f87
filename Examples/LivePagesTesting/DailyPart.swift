import Foundation

/// The part of a table that tests try on one day: other rows every day, all rows where `COREDATA_LONG_TESTS` is set.
package enum DailyPart {
    private static let isLong = ProcessInfo.processInfo.environment["COREDATA_LONG_TESTS"] != nil
    private static let day = Int(Date().timeIntervalSince1970 / 86400)

    /// One row.
    package static func one<Row>(of rows: [Row]) -> [Row] {
        isLong || rows.isEmpty ? rows : [rows[day % rows.count]]
    }

    /// Every second row.
    package static func half<Row>(of rows: [Row]) -> [Row] {
        isLong ? rows : rows.indices.filter { $0 % 2 == day % 2 }.map { rows[$0] }
    }
}
