import CoreDataToolkit
import Foundation
import LivePages

// What is there twice, and what other stores have.
extension Groceries {
    /// Makes one of things whose names differ in capitals and in blanks at their ends only: "kg" and "Kg", " Tin" and "Tin". What
    /// led to the others leads to the one that stays. How it was before is a backup, where the store is a file.
    ///
    /// - Returns: how many went.
    func mergeDuplicates() async throws -> Int {
        let before: BackupInfo?
        if url.isFileURL {
            before = try await backup.create(name: Self.freshBackupName("before-merge"))
        } else {
            before = nil
        }
        var removed = 0
        do {
            // Places first: then items that have the same ones are the same.
            for (entity, key) in PlaceKind.allCases.map({ ($0.entityName, $0.key) }) + [("Item", "name")] {
                removed += try await Deduplicator(stack).removeDuplicates(
                    of: entity, by: key, matching: .ignoringCaseAndBlanks
                ).removed
            }
        } catch {
            if removed == 0, let before { try? await backup.delete(before.name) }
            throw error
        }
        if removed == 0, let before { try await backup.delete(before.name) }
        return removed
    }

    /// Takes over what another store has: items become as they are there, with their units, places and pictures; others stay.
    ///
    /// - Returns: how many items it has.
    @discardableResult
    func copyItems(from store: URL) async throws -> Int {
        var copier = try DeepCopier(fromStoreAt: store, to: stack, unique: Self.unique)
        // What has no name cannot be found again.
        copier.skipsUnidentified = true
        return try await copier.copy(["Item"]).objects
    }
}
