import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// A source whose store receives objects, and not only rows: a store of the program's own class.
protocol ObjectSource: AnyObject {
    /// The keys that new objects get, in their order.
    func keys(for objects: [NSManagedObject]) throws -> [Int64]
    /// Runs a save; saves run one after another.
    func saving<R>(_ save: SavedRequest, _ body: () throws -> R) rethrows -> R
    /// Whether the store is to be told which of its objects contexts know.
    var wantsRegistrations: Bool { get }
    /// Contexts have come to know objects of these IDs, or know them no more.
    func contextDid(register isRegistered: Bool, _ ids: [NSManagedObjectID])
    /// Forgets a row, so that the next read asks the store.
    func forget(_ primaryKey: Int64, root: Int)
    /// Returns the keys of the members of each owner's to-many relationship, without their rows; `nil` for a source
    /// that has rows in memory.
    func memberKeys(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, keys: [RowKey])]?
}

extension ObjectSource {
    var wantsRegistrations: Bool { false }
    func contextDid(register isRegistered: Bool, _ ids: [NSManagedObjectID]) {}
    func forget(_ primaryKey: Int64, root: Int) {}
    func memberKeys(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, keys: [RowKey])]? { nil }
}

/// The objects of a save, as a store of the program's own class gets them.
struct SavedRequest {
    let context: NSManagedObjectContext
    let inserted: [NSManagedObject]
    let deleted: [NSManagedObject]
    let locked: [NSManagedObject]
    /// Known when their rows have been made.
    let updated: () -> [NSManagedObject]
}

extension NSManagedObjectContext {
    /// Whether the object with that ID is one that the context is about to delete.
    final func isDeleting(_ id: NSManagedObjectID) -> Bool { registeredObject(for: id)?.isDeleted == true }
}
