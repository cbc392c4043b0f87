import CoreDataSyncEngine
import Foundation

/// What is to be done in the store and the sidecar for states of other devices: computed without either.
struct ApplyPlan {
    /// The objects whose states change, those of files in the order of their IDs.
    private(set) var objects: [PlannedObject] = []
    private var places: [GlobalID: Int] = [:]
    /// States that cannot be applied, with their values.
    var parked: [ParkedState] = []
    /// Entries that only point to the object that stands for theirs.
    var pointers: [SidecarEntry] = []
    /// IDs that are found to name an object that has another one.
    var aliases: Set<GlobalID> = []

    init(_ objects: [PlannedObject] = []) {
        self.objects = objects
        number()
    }

    /// Puts the objects in the order of their IDs: mostly they are. Objects are large, so numbers are sorted.
    mutating func sort() {
        let isSorted = objects.indices.dropFirst().allSatisfy { objects[$0 - 1].id < objects[$0].id }
        if isSorted { return }
        objects = objects.indices.sorted { objects[$0].id < objects[$1].id }.map { objects[$0] }
        number()
    }

    private mutating func number() {
        places.removeAll(keepingCapacity: true)
        places.reserveCapacity(objects.count)
        for index in objects.indices { places[objects[index].id] = index }
    }

    /// The indices of objects with an action, without a copy of one.
    func indices(_ action: PlannedObject.Action) -> [Int] { objects.indices.filter { objects[$0].action == action } }

    subscript(id: GlobalID) -> PlannedObject? { places[id].map { objects[$0] } }

    func index(of id: GlobalID) -> Int? { places[id] }

    mutating func append(_ object: PlannedObject) {
        places[object.id] = objects.count
        objects.append(object)
    }

    mutating func change(_ index: Int, _ body: (inout PlannedObject) throws -> Void) rethrows {
        try body(&objects[index])
    }

    mutating func replace(_ index: Int, by object: PlannedObject) { objects[index] = object }

    mutating func remove(_ ids: Set<GlobalID>) {
        objects.removeAll { ids.contains($0.id) }
        number()
    }
}

/// What becomes of one object.
struct PlannedObject {
    let id: GlobalID
    var entity: SyncEntity
    /// The primary key; 0 without a row.
    var key: Int64
    var state: ObjectState
    var digests: Data?
    /// Whether neither the sidecar nor the plan has a part of the state.
    var isUnknown = false
    var changed: Set<String> = []
    var changedEdges: Set<ObjectState.Edge> = []
    var losses: [Loss] = []
    /// Properties of which a value waits although the object does not.
    var waiting: Set<String> = []
    /// Whether a device that did not know edits of this one deleted the object.
    var wasEditedHere = false
    /// What the device that deleted the object had received.
    var deleterKnew: VersionVector?
    /// The state before the object was deleted and created again by other devices; `nil` where it was not.
    var former: ObjectState?
    /// The primary key of a row of another entity, whose object was deleted and created again.
    var replaced: Int64?
    /// Values that other devices gave an object which this one has deleted.
    var late: [String: PropertyState] = [:]

    struct Loss {
        var loss: MergeOutcome.Loss
        var reason: SyncConflict.Reason
    }

    enum Action { case create, update, delete, announce, none }

    var action: Action {
        // Only the fields that count are read: thousands of objects are not copied to be asked.
        @inline(__always) get {
            if let created = state.created, state.deleted.map({ created > $0 }) ?? true {
                return key == 0 ? .create : changed.isEmpty && changedEdges.isEmpty ? .none : .update
            }
            if key == 0 { return .none }
            return state.isRevived(by: entity.deletionRule) ? .announce : .delete
        }
    }

    /// Whether the object was deleted and was not created again.
    var isGone: Bool { state.isGone }
}

extension ObjectState {
    /// Whether the object was deleted and was not created again; `false` for one that has not arrived.
    var isGone: Bool { deleted != nil && !isAlive }

    /// The state with all values of a new object: its writer left out those that are `nil`.
    func complete(_ entity: SyncEntity) -> Self {
        guard let created, !hasAllValues(of: entity) else { return self }
        var result = self
        for property in entity.values where result.properties[property.name] == nil {
            switch property.kind {
            case .attribute(_, .last), .toOne: result.properties[property.name] = .last(created, .null)
            default: break
            }
        }
        return result
    }

    /// Whether the state has each value of an entity that has attributes and to-one references only, and no other one.
    func hasAllValues(of entity: SyncEntity) -> Bool {
        guard entity.hasPlainValues, properties.count == entity.nilNames.count else { return false }
        for (index, name) in properties.keys.enumerated() where name != entity.nilNames[index] { return false }
        return true
    }

    /// The same state of an object with another ID.
    func named(_ id: GlobalID) -> Self {
        guard id != self.id else { return self }
        var result = Self(id: id, entity: entity)
        (result.born, result.created, result.deleted) = (born, created, deleted)
        (result.properties, result.edges, result.aliases) = (properties, edges, aliases)
        result.aliases.remove(id)
        result.aliases.insert(self.id)
        return result
    }

    /// The state as the sidecar keeps it: values are left to the store, but those that merge by value, and positions.
    var leftToStore: Self {
        var result = self
        for (name, property) in properties where name.utf8.last != UInt8(ascii: "#") {
            result.properties[name] = property.stored
        }
        return result
    }
}

extension ObjectState {
    /// The state with the digests of values that are too large for a segment.
    var withoutLargeValues: Self {
        var result = self
        for (name, property) in properties {
            guard case .last(let stamp, let value) = property, let data = Blob.bytes(of: value) else { continue }
            result.properties[name] = .last(stamp, Blob.reference(to: data))
        }
        return result
    }
}

extension ObjectState {
    /// Whether a value was written, or a pair that exists was added, with such a stamp.
    func wasEdited(_ isEdit: (Stamp) -> Bool) -> Bool {
        properties.values.contains { isEdit($0.stamp) }
            || edges.values.contains { $0.isPresent && $0.added.map(isEdit) ?? false }
    }
}
