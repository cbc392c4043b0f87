import CObjectRuntime
import CoreDataPrimitives
import CoreDataStore
import Foundation

extension NSManagedObject {
    @inline(__always)
    final func fireIfNeeded(slot: Int) {
        if flags.contains(.fault) { fire(slot: slot) }
    }

    /// Reads the row, from memory if it is cached, and calls `awakeFromFetch`; the slot is -1 if no property was
    /// requested.
    private final func fire(slot: Int) {
        if hasCurrentRow, home.isContextAlive { return becomeRealised() }
        if let context = managedObjectContext { return context.realise(self, slot: slot) }
        let name = slot < 0 ? "" : runtime.slots[slot].name
        becomeInaccessible()
        CoreDataLog.general.error(
            "The context of \(runtime.name) \(primaryKey) is gone or was reset; its property '\(name)' reads as nil.")
    }

    @inline(__always)
    final func fireIfNeeded(key: String?) {
        if flags.contains(.fault) { fire(slot: key.flatMap(runtime.slot(forKey:)) ?? -1) }
    }

    /// Shows the row that the object holds.
    final func becomeRealised() {
        flags.remove(.fault)
        if hasExtras { batch = nil }
        withoutNotingChanges { awakeFromFetch() }
    }

    /// Whether the object holds that row, or one of its version with the same values.
    final func hasSameRow(as other: RowSnapshot) -> Bool {
        guard let row = rowView else { return false }
        let kinds = runtime.compiled.rowLayout.kinds
        return other.withView { row == $0 || row.version == $0.version && row.isEqual(to: $0, kinds: kinds) }
    }

    /// Whether the object holds a row with the same values, whatever its version, and whatever keys its destinations
    /// had before they were saved.
    final func hasSameValues(as other: RowSnapshot) -> Bool {
        guard let row else { return false }
        return runtime.slots.allSatisfy { info in
            guard info.column >= 0 else { return true }
            guard info.attribute == nil else {
                return ManagedObjectValues.decode(row, column: info.column, kind: info.kind)
                    == ManagedObjectValues.decode(other, column: info.column, kind: info.kind)
            }
            if other.isUnreadable(info.column) || row.isUnreadable(info.column) { return true }
            let key = other.isNull(info.column) ? nil : other.integer(info.column)
            return !isChangedToOne(key: key, column: info.column)
        }
    }

    /// Forgets values and relationships. Changes are lost unless the caller kept them.
    final func becomeFault() {
        guard isStored else { return }
        if flags.contains(.fault) {
            // Its members may have been read nevertheless.
            relations.removeAll()
            forgetFetchedProperties()
            return
        }
        flags.insert(.inTransition)
        willTurnIntoFault()
        values = nil
        relations.removeAll()
        forgetFetchedProperties()
        flags.insert(.fault)
        didTurnIntoFault()
        flags.remove(.inTransition)
    }

    /// Handles a deleted row: every property reads as nil from now on.
    final func becomeInaccessible() {
        row = nil
        values = nil
        relations.removeAll()
        forgetFetchedProperties()
        flags.remove(.fault)
        flags.insert(.inaccessible)
    }

    /// The results of fetched properties when they were read, by slot.
    final var fetchedObjects: [Int: [NSManagedObject]] {
        get { extras?.fetched ?? [:] }
        set { madeExtras().fetched = newValue }
    }

    /// Fetched properties are fetched anew when they are next read.
    final func forgetFetchedProperties() {
        if hasExtras, !fetchedObjects.isEmpty { fetchedObjects = [:] }
    }

    final func withoutNotingChanges(_ body: () -> Void) {
        let noted = !flags.contains(.ignoresChanges)
        flags.insert(.ignoresChanges)
        body()
        if noted { flags.remove(.ignoresChanges) }
    }

    /// Stops the program when the object is used off its context's queue, or logs it; see ``Confinement``.
    @inline(__always)
    final func checkQueue(_ key: String?, slot: Int = -1) {
        #if DEBUG
            checkQueueNow(key, slot: slot)
        #else
            if home.isConfinementChecked { checkQueueNow(key, slot: slot) }
        #endif
    }

    private final func checkQueueNow(_ key: String?, slot: Int) {
        guard let context = managedObjectContext, !context.isOwnedByCurrentThread else { return }
        let name = slot >= 0 ? runtime.slots[slot].name : key ?? ""
        // Not its objectID, which is made when it is first asked for, on the context's queue.
        let object = "\(runtime.name) \(primaryKey > 0 ? "p\(primaryKey)" : "that is not saved yet")"
        Confinement.report(
            name.isEmpty ? "\(object) was used" : "\(object) was used (property '\(name)')", context: context)
    }

    // MARK: For the context

    /// A fault, in its context but not yet registered there.
    static func makeFault(_ home: ObjectHome, _ primaryKey: Int64, type: NSManagedObject.Type) -> NSManagedObject {
        var pending = ocd_pending_fault(
            home: Unmanaged.passUnretained(home).toOpaque(),
            class_metadata: unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self), entity: home.entityAddress,
            outer: nil)
        let object = withUnsafeMutablePointer(to: &pending) { pending in
            ocd_push_pending_fault(pending)
            let object = type.init(entity: home.entity, insertInto: nil)
            // The class's initialiser named another entity and made a new object of it.
            if object.home !== home {
                ocd_pop_pending_fault(pending)
                object.move(to: home)
            }
            return object
        }
        object.begin(withKey: primaryKey)
        object.flags = .fault
        return object
    }
}
