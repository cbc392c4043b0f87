import CoreDataToolkit
import Foundation
import LivePages

// Copies of the store, in a folder of its own in the folder `Backups` beside it. The operator of a server backs up the stores on it.
extension Groceries {
    static let mostBackups = 50

    /// The folder has the name of the store's file: stores that lie side by side have backups of their own.
    nonisolated static func backupFolder(of store: URL) -> FolderDestination {
        let name = store.isFileURL ? store.lastPathComponent : "server"
        return FolderDestination(allBackups(beside: store).appendingPathComponent(name, isDirectory: true))
    }

    private nonisolated static func allBackups(beside store: URL) -> URL {
        StorePlace.folder(of: store, program: "GroceryDude").appendingPathComponent("Backups", isDirectory: true)
    }

    /// Moves backups that earlier versions of this program left in the folder `Backups` itself to the store's own folder, if they can be
    /// of no other store: there is no other one beside it.
    nonisolated static func adoptBackups(of store: URL) {
        guard store.isFileURL else { return }
        let files = FileManager.default
        let (all, own) = (allBackups(beside: store), backupFolder(of: store).folder)
        let backups = (try? files.contentsOfDirectory(atPath: all.path))?.filter { $0.hasSuffix(".zip") } ?? []
        let neighbours = (try? files.contentsOfDirectory(atPath: store.deletingLastPathComponent().path)) ?? []
        let stores = neighbours.filter { URL(fileURLWithPath: $0).pathExtension == store.pathExtension }
        guard !backups.isEmpty, stores == [store.lastPathComponent] else { return }
        try? files.createDirectory(at: own, withIntermediateDirectories: true)
        for backup in backups {
            try? files.moveItem(at: all.appendingPathComponent(backup), to: own.appendingPathComponent(backup))
        }
    }

    var backup: Backup {
        var backup = Backup(stack, to: Self.backupFolder(of: url))
        backup.maximumBytes = 2 << 30
        return backup
    }

    /// The backup of that name, out of those that there are: a name is never made into a path.
    func findBackup(_ name: String) async throws -> BackupInfo? { try await backup.list().first { $0.name == name } }

    /// Makes a backup for a purpose; `nil` where the store is on a server.
    @discardableResult
    func keepBackup(_ purpose: String) async throws -> BackupInfo? {
        guard url.isFileURL else { return nil }
        return try await backup.create(name: Self.freshBackupName(purpose))
    }

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
