import Foundation
import Logging

/// The loggers of the module, and the launch arguments that turn them on.
///
/// A setting `com.apple.CoreData.SQLDebug` is read from the launch arguments (`-com.apple.CoreData.SQLDebug 1`),
/// then from the environment (`COREDATA_SQLDEBUG=1` or `com.apple.CoreData.SQLDebug=1`), then from the user defaults.
enum CoreDataLog {
    static let general = Logger(label: "com.apple.CoreData")
    static let sql = Logger(label: "com.apple.CoreData.sql")

    /// 1 statements and times, 2 also transactions, 3 also bound values, 4 also each fetch's query plan.
    static let sqlDebugLevel = setting("SQLDebug")
    static let concurrencyDebugLevel = setting("ConcurrencyDebug")
    /// 1 what becomes of the entities that a lightweight migration changes, also the steps.
    static let migrationDebugLevel = setting("MigrationDebug")

    static func setting(
        _ name: String, arguments: [String] = CommandLine.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Int {
        let key = "com.apple.CoreData.\(name)"
        if let index = arguments.firstIndex(of: "-\(key)") {
            return index + 1 < arguments.count ? Int(arguments[index + 1]) ?? 0 : 0
        }
        if let text = environment["COREDATA_\(name.uppercased())"] ?? environment[key] { return Int(text) ?? 0 }
        return UserDefaults.standard.integer(forKey: key)
    }
}
