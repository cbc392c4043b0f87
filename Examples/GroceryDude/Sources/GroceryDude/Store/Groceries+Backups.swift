import CoreDataToolkit
import Foundation
import LivePages

// Copies of the store, in the folder `Backups` beside it. A store on a server is backed up by whoever runs that.
extension Groceries {
    static let mostBackups = 50

    static func backupFolder(of store: URL) -> FolderDestination {
        FolderDestination(
            StorePlace.folder(of: store, program: "GroceryDude").appendingPathComponent("Backups", isDirectory: true))
    }

    var backup: Backup {
        var backup = Backup(stack, to: Self.backupFolder(of: url))
        backup.maximumBytes = 2 << 30
        return backup
    }

    /// The backup of that name, out of those that there are: a name is never made into a path.
    func findBackup(_ name: String) async throws -> BackupInfo? { try await backup.list().first { $0.name == name } }

    /// A name that no backup has: "2026-11-23-08.30.05-3f.zip", with what it is for.
    nonisolated static func freshBackupName(_ purpose: String? = nil) -> String {
        let style = Date.VerbatimFormatStyle(
            format:
                "\(year: .defaultDigits)-\(month: .twoDigits)-\(day: .twoDigits)-\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)).\(minute: .twoDigits).\(second: .twoDigits)",
            timeZone: .current, calendar: Calendar(identifier: .gregorian))
        let mark = String(Int.random(in: 4096..<65536), radix: 16)
        return Date().formatted(style) + (purpose.map { "-\($0)" } ?? "") + "-\(mark).zip"
    }
}
