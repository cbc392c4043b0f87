import CoreData
import CoreDataToolkit
import Foundation
import LivePages

// What is there twice, and what other stores have.
extension Groceries {
    /// Makes one of things whose names differ in capitals and in blanks at their ends only: "kg" and "Kg", " Tin" and "Tin". Whatever
    /// referred to the others refers to the one that stays. It is one step; where the store is a file, a backup is made first.
    ///
    /// - Returns: the number of duplicates that were deleted, and the step.
    func mergeDuplicates() async throws -> (count: Int, step: Int?) {
        let before = try await keepBackup("before-merge")
        let done: (result: Int, step: Int?)
        do {
            done = try perform("Merge duplicates") {
                // Places first: then items that have the same ones are the same.
                try (PlaceKind.allCases.map { ($0.entityName, $0.key) } + [("Item", "name")]).reduce(0) { count, pair in
                    try count + DuplicateMerge(context: view, entity: pair.0, key: pair.1).run()
                }
            }
        } catch {
            if let before { try? await backup.delete(before.name) }
            throw error
        }
        if done.result == 0, let before { try await backup.delete(before.name) }
        return (done.result, done.step)
    }

    /// Takes over the items of another store: items of the same name become as they are there, with their units, places and pictures;
    /// others stay. Of a store of an older version, a copy is migrated: the store itself stays as it is.
    ///
    /// - Returns: the number of items that it has.
    @discardableResult
    func copyItems(from store: URL) async throws -> Int {
        guard try Versions.needMigration(at: store) else { return try await copyPresentItems(from: store) }
        _ = try Versions.version(ofStoreAt: store)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("GroceryDude-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appendingPathComponent("Copy.sqlite")
        let model = try Versions.model(Versions.newest)
        try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
            at: copy, withPersistentStoreFrom: store, type: .sqlite)
        var options = CoreDataStack.Options()
        options.undo = false
        options.versions = Versions.all
        try await CoreDataStack.setUp(model: model, storeURL: copy, options: options).removeStores()
        return try await copyPresentItems(from: copy)
    }

    /// Copies from a store of the present version.
    private func copyPresentItems(from store: URL) async throws -> Int {
        var copier = try DeepCopier(fromStoreAt: store, to: stack, unique: Self.unique)
        // What has no name cannot be found again.
        copier.skipsUnidentified = true
        return try await copier.copy(["Item"]).objects
    }
}
