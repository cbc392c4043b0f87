import CoreDataModel
import CoreDataPrimitives
import Foundation
import Observation

/// Lets a user interface follow the properties that it shows:
///
///     withObservationTracking {
///         label.text = item.name
///     } onChange: {
///         Task { @MainActor in render() }
///     }
///     item.name = "Milk"          // onChange runs at the end of the event
///
/// A read registers the property if the context is observable (``NSManagedObjectContext/isObservable``), as main
/// contexts are. Changes are announced at the end of the event, after
/// ``NSManagedObjectContext/didChangeObjectsNotification``: once per event, when the new values are set, so that an
/// observer may read them immediately. This is later than with `@Observable`, which announces each change before it is
/// made.
///
/// All changes count: setters, the other side of a relationship, undo, merges, refreshes and rollback. If values were
/// replaced without a setter, a property is announced if it differs or cannot be compared without reading. A deletion
/// announces all properties. Values set only by `setPrimitiveValue(_:forKey:)` are not announced.
extension NSManagedObject: Observable {}

extension NSManagedObject {
    /// Records that a property is read: checks the queue, and notifies the code that tracks reads.
    ///
    /// Costs one test if neither is needed.
    @inline(__always)
    final func noteRead(_ slot: Int) {
        #if DEBUG
            checkQueue(nil, slot: slot)
        #endif
        if home.watchesReads { noteReadNow(slot) }
    }

    @inline(never)
    private final func noteReadNow(_ slot: Int) {
        #if !DEBUG
            checkQueue(nil, slot: slot)
        #endif
        guard slot >= 0, let observations = home.observations, ReadTracking.isTracking else { return }
        madeExtras().observed.insert(slot)
        flags.insert(.observed)
        observations.noteRead(slot, of: ObjectIdentifier(self))
    }

    /// As ``noteRead(_:)``, of a property by name.
    final func noteRead(key: String?) {
        checkQueue(key)
        if home.observations != nil, let key, let slot = slot(forKey: key) { noteRead(slot) }
    }

    /// Notifies the observers of an object that is deallocated, as Observation does.
    final func endObservation() {
        guard let observations = home.observations, let extras else { return }
        for slot in extras.observed { observations.noteChange(slot, of: ObjectIdentifier(self)) }
    }

    // MARK: Comparing

    private enum ObservedValue: Equatable {
        case attribute(Value)
        case destination(Int64?)
        /// The value cannot be compared without reading: it equals nothing.
        case unknown

        static func == (a: ObservedValue, b: ObservedValue) -> Bool {
            switch (a, b) {
            case (.attribute(let a), .attribute(let b)): a == b
            case (.destination(let a), .destination(let b)): a == b
            default: false
            }
        }
    }

    /// Runs `body`, which replaces the object's values without setters, and records the changes to announce.
    final func replacingValues(_ body: () -> Void) {
        let isAnnounced = flags.contains(.announces)
        if isAnnounced { announceChange(nil) }
        defer { if isAnnounced { announceChanged(nil) } }
        guard flags.contains(.observed), let extras else { return body() }
        let observed = Array(extras.observed)
        let before = observed.map(observedValue)
        body()
        var differing = extras.differing ?? IndexMask()
        for (slot, value) in zip(observed, before) where observedValue(slot) != value { differing.insert(slot) }
        extras.differing = differing
    }

    private final func observedValue(_ slot: Int) -> ObservedValue {
        let info = runtime.slots[slot]
        guard !isFault || hasRow else { return .unknown }
        if info.attribute != nil {
            // To decode a transformable of a fault would leave its object there.
            if isFault, info.type == .transformable { return .unknown }
            return .attribute(attributeValue(slot))
        }
        guard info.relationship != nil, !info.isToMany else { return .unknown }
        if relations.indices.contains(info.relation), case .toOne(let object) = relations[info.relation] {
            return .destination(object?.primaryKey)
        }
        guard let row = rowView, info.column >= 0, !row.isUnreadable(info.column) else { return .unknown }
        return .destination(row.isNull(info.column) ? nil : row.integer(info.column))
    }
}

/// The change of an object that its observers are notified of.
struct ObservedChange {
    let object: NSManagedObject
    let slots: IndexMask
}

extension NSManagedObjectContext {
    /// Whether `withObservationTracking` sees which properties of the context's objects are read; main contexts are
    /// observable.
    ///
    ///     let context = container.newBackgroundContext()
    ///     context.isObservable = true
    ///
    /// It costs what reading a property of any `@Observable` class costs, some 50 instructions a read. Contexts that
    /// are not observable pay nothing.
    ///
    /// - Precondition: the context has no objects yet when it is set.
    public final var isObservable: Bool {
        get { registry.observations != nil }
        set {
            guard newValue != isObservable else { return }
            precondition(
                registry.objects.isEmpty, "A context that has objects cannot become observable; set it before.")
            registry.setObservable(newValue)
            homeCache.forgetHomes()
        }
    }

    /// Returns the observed changes of the event; call it before the event's records are cleared.
    final func observedChanges(in event: ChangeEvent) -> [ObservedChange] {
        var changes: [ObservedChange] = []
        func add(_ object: NSManagedObject, _ slots: IndexMask?) {
            guard object.flags.contains(.observed), let extras = object.extras else { return }
            var changed = IndexMask()
            for slot in extras.observed where slots?.contains(slot) ?? true { changed.insert(slot) }
            if !changed.isEmpty { changes.append(ObservedChange(object: object, slots: changed)) }
        }
        event.updated.forEachHeld { add($0, $0.values?.event) }
        event.inserted.forEachHeld { add($0, $0.values?.event) }
        for object in event.refreshed + event.observed {
            add(object, object.extras?.differing)
            object.extras?.differing = nil
        }
        for object in event.deleted + event.restored + event.invalidated { add(object, nil) }
        return changes
    }

    final func tell(_ changes: [ObservedChange], _ observations: ObjectObservations) {
        for change in changes {
            guard let extras = change.object.extras else { continue }
            for slot in change.slots where extras.observed.contains(slot) {
                // Observers that read it now begin anew.
                extras.observed.remove(slot)
                observations.noteChange(slot, of: ObjectIdentifier(change.object))
            }
            if extras.observed.isEmpty { change.object.flags.remove(.observed) }
        }
    }
}
