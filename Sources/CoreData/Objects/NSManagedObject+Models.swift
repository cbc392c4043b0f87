import CoreDataModel
import CoreDataPrimitives
import Foundation

// What module SwiftData needs of an object beyond what programs do: by slot, without names.
extension NSManagedObject {
    /// Distinguishes entities of models in use. With a slot it identifies a property.
    @inline(__always)
    package final var entityIdentifier: UInt32 { home.runtimeIdentifier }

    /// Returns the slot of the property of that name; `nil` if the entity has none.
    package final func propertySlot(named name: String) -> Int? { runtime.slot(forKey: name) }

    /// Whether a slot's values are read and written as their own type: no transformed, composite or derived value.
    package final func hasPlainValues(_ slot: Int) -> Bool {
        switch runtime.slots[slot].kind {
        case .object, .reference, .composite: false
        default: runtime.slots[slot].attribute != nil
        }
    }

    /// The slot of the only element of a composite, if its values are read and written as their own type; -1 otherwise.
    package final func plainElementSlot(_ slot: Int) -> Int {
        let elements = runtime.slots[slot].elements
        guard elements.count == 1, hasPlainValues(elements[0]) else { return -1 }
        return elements[0]
    }

    /// The name of the property of a slot.
    package final func propertyName(_ slot: Int) -> String { runtime.slots[slot].name }

    /// The entity's place in its model.
    package final var entityOrdinal: Int { Int(home.ordinal) }

    /// As key-value coding gives the value.
    package final func propertyValue(_ slot: Int) -> Any? { anyValue(slot) }

    /// As key-value coding sets the value.
    package final func setPropertyValue(_ value: Any?, _ slot: Int) { setAnyValue(value, slot) }

    /// Returns the destination of a to-one.
    package final func relatedObject(_ slot: Int) -> NSManagedObject? {
        noteRead(slot)
        fireIfNeeded(slot: slot)
        return toOne(slot)
    }

    /// Returns the members of a to-many in the order in which they were added; members that were read by their keys are
    /// included.
    package final func relatedObjects(_ slot: Int) -> [NSManagedObject] {
        noteRead(slot)
        fireIfNeeded(slot: slot)
        return knownMembers(slot).members
    }

    /// Sets a to-one.
    package final func setRelatedObject(_ object: NSManagedObject?, _ slot: Int) { setToOne(object, slot) }

    /// Sets a to-many.
    package final func setRelatedObjects(_ objects: [NSManagedObject], _ slot: Int) { setToMany(objects, slot) }
}

extension NSManagedObjectContext {
    /// The objects that the next save inserts, in their order.
    package final var pendingInsertions: [NSManagedObject] {
        pendingChanges.inserted.filter { $0.isInserted && !$0.isDeleted }
    }

    /// The objects that the next save updates, in the order in which they were first changed.
    package final var pendingUpdates: [NSManagedObject] { pendingChanges.updated.filter(\.isUpdated) }

    /// The objects that the next save deletes, in their order.
    package final var pendingDeletions: [NSManagedObject] { pendingChanges.deleted.filter(\.isDeleted) }
}

extension NSManagedObjectID {
    /// The identifier of the store that has the row, also once that was removed.
    package final var rowStoreIdentifier: String { storeIdentifier }

    /// The store's name of the row: the last part of the URI.
    package final var rowReference: String { objectURI.reference }

    /// The primary key of the row, if its store uses numbers.
    package final var rowNumber: Int64? {
        isTemporaryID || storeReference?.references != nil ? nil : primaryKey
    }
}

/// The log, for modules above.
package enum ModelLog {
    package static func error(_ message: String) { CoreDataLog.general.error("\(message)") }
}
