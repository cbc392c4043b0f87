import CoreDataSyncEngine
import Foundation

/// Plans what incoming states change.
struct ApplyPlanner {
    let rules: SyncRules
    let device: DeviceID
    let own: OwnSegments
    /// The known entries of all objects that the states name, and of those that stand for them.
    var entries: [GlobalID: SidecarEntry]
    var groups = AliasGroups()
    /// Objects that the store refused, with its reason.
    var refused: [GlobalID: String] = [:]

    /// Reasons of parked states that do not name an object.
    enum Reason {
        static let entity = "unknown entity"
        static let property = "unknown property"
        static let blob = "missing value"
        /// The beginning of the reason of an object that validation refuses.
        static let refused = "the store refuses it"
    }

    func plan(_ parts: [IncomingPart]) -> ApplyPlan {
        var objects: [PlannedObject] = []
        var places: [GlobalID: Int] = [:]
        let count = parts.reduce(0) { $0 + $1.states.count }
        objects.reserveCapacity(count)
        places.reserveCapacity(count)
        var parked: [GlobalID: ParkedState] = [:]
        var pointers: [GlobalID: SidecarEntry] = [:]
        var aliases: Set<GlobalID> = []
        func park(_ state: ObjectState, _ reason: String) {
            var whole = state
            if let before = parked[state.id] { whole.merge(before.state) }
            parked[state.id] = ParkedState(state: whole, waitsFor: nil, reason: reason)
        }
        for part in parts {
            for incoming in part.states {
                guard let entity = rules[incoming.entity.name], !entity.isIgnored, !entity.isAbstract else {
                    if rules[incoming.entity.name]?.isIgnored != true {
                        park(incoming.completed(part.nilNames), Reason.entity)
                    }
                    continue
                }
                // A device with this model and an older version of the framework does not name nil values.
                let isComplete = part.modelHash == rules.modelHash
                let whole = isComplete ? incoming.complete(entity) : incoming.completed(part.nilNames)
                let id = groups.representative(of: incoming.id, entries)
                if let reason = refused[id] {
                    park(whole, reason)
                    continue
                }
                let place = places[id] ?? objects.count
                if place == objects.count {
                    places[id] = place
                    objects.append(planned(id, entity))
                }
                if id != incoming.id {
                    if isNewAlias(incoming.id, of: id) { aliases.insert(incoming.id) }
                    pointers[incoming.id] = pointer(incoming, pointers[incoming.id], to: id, entity)
                }
                let (known, unknown, blobs) = split(whole, entity)
                if let unknown { park(unknown, Reason.property) }
                if let blobs {
                    park(blobs, Reason.blob)
                    noteBlobs(blobs, part, in: &objects[place])
                }
                merge(known.named(id), part, incoming.id, into: &objects[place])
            }
        }
        for index in objects.indices { finish(&objects[index]) }
        var plan = ApplyPlan(objects)
        plan.sort()
        plan.parked = parked.values.compactMap { stillWaiting($0, plan) }.sorted { $0.state.id < $1.state.id }
        plan.pointers = pointers.values.sorted { $0.id < $1.id }
        plan.aliases = aliases
        return plan
    }

    /// Adds objects whose values are to be written as their states have them.
    func addWritingBack(_ ids: Set<GlobalID>, to plan: inout ApplyPlan) {
        for id in ids.sorted() where plan[id] == nil {
            guard let entry = entries[id], entry.key != 0, let entity = rules[entry.entityName] else { continue }
            var object = planned(id, entity)
            // Of a restored store's object that was deleted since the backup.
            object.wasEditedHere = entry.state.wasEdited { stamp in
                stamp.device == device && !stamp.isSeed && entry.state.deleted.map { stamp > $0 } ?? false
            }
            object.changed.formUnion(entity.values.lazy.map(\.name).filter { entity.mergeRule(of: $0) != .last })
            plan.append(object)
        }
    }

    // MARK: Objects

    /// The object as it is known, under all its IDs.
    private func planned(_ id: GlobalID, _ entity: SyncEntity) -> PlannedObject {
        let entry = entries[id]
        let claim = ObjectState.EntityClaim(entity.name, Stamp(ticks: 0, device: device))
        var object = PlannedObject(
            id: id, entity: entry.flatMap { rules[$0.entityName] } ?? entity, key: entry?.key ?? 0,
            state: entry?.state ?? ObjectState(id: id, entity: claim), digests: entry?.digests)
        guard groups.hasAliases(id) else {
            object.isUnknown = entry == nil
            return object
        }
        for other in groups.members(of: id).sorted() where other != id {
            object.state.aliases.insert(other)
            // An object with a row of its own is merged with its values.
            guard let known = entries[other], known.key == 0 else { continue }
            merge(
                known.state.named(id), IncomingPart(states: [], seen: VersionVector()), other, into: &object)
        }
        return object
    }

    private func isNewAlias(_ alias: GlobalID, of id: GlobalID) -> Bool {
        alias != id && entries[id]?.state.aliases.contains(alias) != true
    }

    private func pointer(
        _ incoming: ObjectState, _ before: SidecarEntry?, to id: GlobalID, _ entity: SyncEntity
    ) -> SidecarEntry {
        var state =
            before?.state ?? entries[incoming.id]?.state ?? ObjectState(id: incoming.id, entity: incoming.entity)
        state.merge(incoming)
        state.aliases.formUnion(groups.members(of: incoming.id))
        state.aliases.remove(incoming.id)
        (state.properties, state.edges) = ([:], [:])
        var entry = SidecarEntry(id: incoming.id, root: entity.root, key: 0, state: state)
        if let known = entries[incoming.id] { entry.formerKey = max(known.key, known.formerKey) }
        return entry
    }

    private func merge(
        _ incoming: ObjectState, _ part: IncomingPart, _ name: GlobalID, into object: inout PlannedObject
    ) {
        if object.isUnknown {
            // All of the state is new, and no device had another value.
            object.state = incoming
            object.isUnknown = false
            return
        }
        // The other devices may have told that both are one before the other object came.
        let isTwin =
            name != object.id && (isNewAlias(name, of: object.id) || entries[name]?.state.created == nil)
        let outcome = MergeOutcome(object.state, incoming, isStored: object.key != 0) { stamp in
            isTwin ? stamp.device == device : own.isUnknown(stamp, of: device, to: part.seen)
        }
        let (before, existed) = (object.state, object.state.isAlive)
        if existed, outcome.state.deleted != before.deleted {
            object.deleterKnew = part.seen
            object.wasEditedHere =
                object.wasEditedHere || before.wasEdited { own.isUnknown($0, of: device, to: part.seen) }
            // Deleted and created again: nothing from before stays.
            if outcome.state.isAlive, object.key != 0 { object.former = object.former ?? before }
        }
        if !existed, !outcome.state.isAlive, let deleted = before.deleted,
            own.isUnknown(deleted, of: device, to: part.seen)
        {
            for name in outcome.changed { object.late[name] = incoming.properties[name] }
        }
        object.state = outcome.state
        if object.key == 0, let entity = rules[outcome.state.entity.name] { object.entity = entity }
        object.changed.formUnion(outcome.changed)
        object.changedEdges.formUnion(outcome.changedEdges)
        object.losses += outcome.losses.map { .init(loss: $0, reason: isTwin ? .unique : .edited) }
    }

    /// Leaves out what no longer counts, once everything is merged.
    private func finish(_ planned: inout PlannedObject) {
        guard planned.state.isAlive else { return }
        if planned.former != nil, let entity = rules[planned.state.entity.name], entity.name != planned.entity.name {
            (planned.entity, planned.replaced, planned.key) = (entity, planned.key, 0)
        }
        if planned.former != nil {
            planned.changed.formUnion(planned.entity.values.lazy.map(\.name))
            planned.changedEdges.formUnion(planned.state.edges.keys)
        }
        if planned.state.floor(planned.entity.deletionRule) == nil { return }
        planned.state = planned.state.compacted(planned.entity.deletionRule)
    }

    // MARK: What waits

    /// A large value that has not arrived replaces what this device has as soon as it does: the journal is written now,
    /// when the writer's knowledge is known.
    private func noteBlobs(_ blobs: ObjectState, _ part: IncomingPart, in object: inout PlannedObject) {
        for (name, theirs) in blobs.properties {
            object.waiting.insert(name)
            guard let ours = object.state.properties[name], theirs.stamp > ours.stamp,
                own.isUnknown(ours.stamp, of: device, to: part.seen)
            else { continue }
            let loss = MergeOutcome.Loss(property: name, losing: ours, winning: theirs, isLocal: true)
            object.losses.append(.init(loss: loss, reason: .edited))
        }
    }

    /// The parked state without large values that can no longer count; `nil` if nothing is left.
    private func stillWaiting(_ parked: ParkedState, _ plan: ApplyPlan) -> ParkedState? {
        var result = parked
        let id = groups.representative(of: parked.state.id, entries)
        guard let object = plan[id] else { return parked }
        result.state.properties = parked.state.properties.filter { name, property in
            guard case .blob? = property.value else { return true }
            if object.isGone { return false }
            return object.state.properties[name].map { $0.stamp < property.stamp } ?? true
        }
        let isEmpty = result.state.properties.isEmpty && result.state.edges.isEmpty
        return isEmpty && result != parked ? nil : result
    }

    /// The part of a state that the model knows, what it does not know, and large values that have not arrived.
    private func split(
        _ state: ObjectState, _ entity: SyncEntity
    ) -> (known: ObjectState, unknown: ObjectState?, blobs: ObjectState?) {
        func isKnown(_ name: String) -> Bool { entity[name]?.isExchanged == true }
        func isPairs(_ name: String) -> Bool {
            if case .pairs? = entity[name]?.kind { true } else { false }
        }
        // A value that was to come as a file of its own, and has not.
        func isBlob(_ property: PropertyState) -> Bool {
            if case .blob? = property.value { true } else { false }
        }
        let hasKnownNames =
            state.hasAllValues(of: entity) || state.properties.keys.allSatisfy(entity.valueNames.contains)
        if hasKnownNames, !state.properties.values.contains(where: isBlob),
            state.edges.keys.allSatisfy({ isPairs($0.relationship) })
        {
            return (state, nil, nil)
        }
        var known = state
        known.properties = state.properties.filter { isKnown($0.key) && !isBlob($0.value) }
        known.edges = state.edges.filter { isPairs($0.key.relationship) }
        var unknown = ObjectState(id: state.id, entity: state.entity)
        // What an ignored property has is for no object here, and each device that has it sends it.
        unknown.properties = state.properties.filter { entity[$0.key] == nil }
        unknown.edges = state.edges.filter { !isPairs($0.key.relationship) }
        var blobs = ObjectState(id: state.id, entity: state.entity)
        blobs.properties = state.properties.filter { isKnown($0.key) && isBlob($0.value) }
        return (
            known, unknown.properties.isEmpty && unknown.edges.isEmpty ? nil : unknown,
            blobs.properties.isEmpty ? nil : blobs
        )
    }
}
