import CoreDataPrimitives
import CoreDataStore
import Foundation

/// A folder beside the place of a store that is about to be made, so that an incomplete store is never opened.
///
/// ```
///  .migrating-UUID-Shop.sqlite/Shop.sqlite  made, complete ──▶ Shop.sqlite by a rename ──▶ folder removed
/// ```
/// The folder is locked as long as the value lives. An unlocked folder was left by a process that ended. It is removed
/// when the next one is made for the same store, or when that store is opened for a possible migration. Work that can
/// be continued is kept for a process that does the same.
package final class NewStorePlace {
    /// The URL at which the store is made.
    package let url: URL
    /// Whether there is work to be continued.
    let isFound: Bool
    /// Whether the content is kept, so that the next process can continue.
    var isLeft = false
    private let folder: URL
    private let number: Int32

    /// - Parameter purpose: the purpose of the work, if it can be continued; equal for equal work.
    /// - Returns: `nil` if no such folder can be made: making the store itself then reports the error.
    package init?(for store: URL, purpose: String? = nil) {
        let store = FileLink.followed(store)
        let name = store.lastPathComponent
        let parent = store.deletingLastPathComponent()
        if let (folder, number) = Self.removeLeavings(name, in: parent, butOneFor: purpose) {
            (self.folder, self.number, isFound) = (folder, number, true)
            url = folder.appendingPathComponent(name)
            return
        }
        for _ in 0..<100 {
            let folder = parent.appendingPathComponent(".migrating-\(UUID().uuidString)-\(name)")
            guard mkdir(folder.path, 0o755) == 0 else { return nil }
            let number: Int32
            switch FolderLock.take(folder.path) {
            case .taken(let taken): number = taken
            case .unsupported: number = -1
            // Another process that was searching for leftovers took the new folder for one.
            case .inUse, .missing: continue
            }
            if let purpose { try? Data(purpose.utf8).write(to: Self.note(in: folder)) }
            (self.folder, self.number, isFound) = (folder, number, false)
            url = folder.appendingPathComponent(name)
            return
        }
        return nil
    }

    deinit {
        if !isLeft { try? FileManager.default.removeItem(at: folder) }
        if number >= 0 { close(number) }
    }

    /// Removes the content, so that the next process starts from the beginning.
    func clear() throws {
        let note = Self.note(in: folder).lastPathComponent
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name != note {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    /// Returns the URL of the file that names the purpose of the folder; no store has this name.
    private static func note(in folder: URL) -> URL { folder.appendingPathComponent(".purpose") }

    /// Moves the store, which no process has open, to its place. If several processes do so at the same time, one
    /// succeeds.
    ///
    /// - Throws: 516 if a store exists there by now.
    func put(at destination: URL, type: String) throws {
        func check() throws {
            guard (FileSize.of(destination.path) ?? 0) == 0 else { throw CoreDataErrors.isTakenByNow(destination) }
        }
        do {
            try MigrationTurn.with(destination, waiting: check) {
                try check()
                if AtomicFileStore.format(ofType: type) != nil {
                    try AtomicStore.put(url.path, at: destination.path)
                } else {
                    try SQLStore.put(url, at: destination)
                }
            }
        } catch is PlaceTaken {
            throw CoreDataErrors.isTakenByNow(destination)
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }

    /// Removes the leftovers of processes that ended while they made a store, except for work that can be continued.
    static func removeLeavings(of store: URL) {
        let store = FileLink.followed(store)
        removeLeavings(store.lastPathComponent, in: store.deletingLastPathComponent(), leavesWhatHasPurpose: true)
    }

    /// - Returns: a locked folder that a process with the same purpose has left.
    @discardableResult private static func removeLeavings(
        _ name: String, in parent: URL, butOneFor purpose: String? = nil, leavesWhatHasPurpose: Bool = false
    ) -> (folder: URL, number: Int32)? {
        var kept: (folder: URL, number: Int32)?
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for found in names where found.hasPrefix(".migrating-") && found.hasSuffix("-\(name)") {
            // `.migrating-UUID-Other-Shop.sqlite` is not of `Shop.sqlite`.
            guard found.utf8.count == name.utf8.count + ".migrating-".utf8.count + 37 else { continue }
            let folder = parent.appendingPathComponent(found)
            let number: Int32
            switch FolderLock.take(folder.path) {
            case .taken(let taken): number = taken
            case .unsupported where FolderLock.isOld(folder.path): number = -1
            case .inUse, .missing, .unsupported: continue
            }
            let said = try? Data(contentsOf: note(in: folder))
            if leavesWhatHasPurpose, said != nil {
                if number >= 0 { close(number) }
                continue
            }
            if kept == nil, let purpose, said == Data(purpose.utf8) {
                kept = (folder, number)
                continue
            }
            try? FileManager.default.removeItem(at: folder)
            if number >= 0 { close(number) }
        }
        return kept
    }
}
