import CoreData
import Foundation

/// An object as people and files name it: by its ID's URI, or in short.
///
///     x-coredata://4B0F5331-DE87-4D61-9947-8A976CCEB627/Item/p12
///     Item/p12
struct ObjectReference: Hashable {
    /// The store's UUID; `nil` in a short one.
    var store: String?
    var entity: String
    /// The primary key.
    var key: Int64

    /// `nil` for a text that names no object.
    init?(_ text: String) {
        var parts = text.split(separator: "/", omittingEmptySubsequences: false)[...]
        if text.hasPrefix("x-coredata://") {
            parts = parts.dropFirst(2)
            store = parts.popFirst().map { $0.uppercased() }
        }
        guard parts.count == 2, let entity = parts.first, !entity.isEmpty, let last = parts.last,
            last.first == "p", let key = Int64(last.dropFirst()), key > 0, !last.dropFirst().hasPrefix("+")
        else { return nil }
        self.entity = String(entity)
        self.key = key
    }

    init(store: String?, entity: String, key: Int64) {
        self.store = store
        self.entity = entity
        self.key = key
    }

    /// As it was written.
    var text: String { (store.map { "x-coredata://\($0)/" } ?? "") + "\(entity)/p\(key)" }

    /// The ID in the store that is open.
    ///
    /// - Throws: ``ToolFailure`` for an object of another store, or of an entity that the model lacks.
    func objectID(in opened: OpenStore) throws -> NSManagedObjectID {
        let own = opened.coordinator.persistentStores.first?.identifier ?? ""
        if let store, store != own.uppercased() {
            throw ToolFailure(
                "\(text) is an object of another store; the UUID of this one is \(own)."
            )
        }
        let name = try opened.entity(named: entity).name ?? ""
        guard let id = opened.coordinator.managedObjectID(for: "x-coredata://\(own)/\(name)/p\(key)") else {
            throw ToolFailure("There can be no \(entity)/p\(key) in this store.")
        }
        return id
    }
}
