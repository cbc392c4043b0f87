import CoreDataPrimitives
import CoreDataStore
import Foundation

/// A folder beside the place of a store that is about to be made, so that what is half made is never taken for it.
///
/// ```
///  .migrating-UUID-Shop.sqlite/Shop.sqlite  made, whole ──▶ Shop.sqlite by a rename ──▶ folder removed
/// ```
/// The folder is locked as long as the value lives. One that nobody has locked was left by a process that died, and goes when the
/// next is made for the same store, or that is opened to be migrated if need be; what can be gone on with is left for who does the same.
package final class NewStorePlace {
    /// Where the store is made.
    package let url: URL
    /// Whether something is there to be gone on with.
    let isFound: Bool
    /// Whether what is there is left, for who comes next to go on with.
    var isLeft = false
    private let folder: URL
    private let number: Int32

    /// - Parameter purpose: what is done there, where that can be gone on with; the same for the same.
    /// - Returns: `nil` where there can be no such folder: to make the store itself then tells why.
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
            // Somebody who looked for leavings just now took it for one.
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

    /// Takes away what is there, so that the next begins anew.
    func clear() throws {
        let note = Self.note(in: folder).lastPathComponent
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name != note {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    /// Says what the folder is for; no store is called so.
    private static func note(in folder: URL) -> URL { folder.appendingPathComponent(".purpose") }

    /// Puts the store, which no process has open, where it is to be. Of several processes that do so at once one succeeds.
    ///
    /// - Throws: 516 where a store is there by now.
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

    /// Removes what processes left beside a store that died while they made one for its place, but for what can be gone on with.
    static func removeLeavings(of store: URL) {
        let store = FileLink.followed(store)
        removeLeavings(store.lastPathComponent, in: store.deletingLastPathComponent(), leavesWhatHasPurpose: true)
    }

    /// - Returns: a folder that was left by who did the same, locked.
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
