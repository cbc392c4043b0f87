import CoreData
import CoreDataSyncEngine
import Foundation

// The save, and what may go wrong with it.
extension ApplySession {
    func save() throws -> Applier.Result {
        var result = Applier.Result()
        noteTakenAlong()
        let creating = created.isEmpty ? [] : plan.indices(.create)
        var (new, numbers): ([NSManagedObject], [Int]) = ([], [])
        for index in creating {
            guard let object = objects[plan.objects[index].id] else { continue }
            new.append(object)
            numbers.append(index)
        }
        result.inserted = new.count
        result.updated = plan.indices(.update).count
        result.deleted = intended.deleted.count
        result.arrived = arrived
        guard context.hasChanges else { return result }
        if !new.isEmpty { try context.obtainPermanentIDs(for: new) }
        var begun: [BegunApply.NewObject] = []
        begun.reserveCapacity(new.count)
        for (object, index) in zip(new, numbers) {
            let (root, key) = (plan.objects[index].entity.root, object.objectID.key)
            begun.append(.init(id: plan.objects[index].id, root: root, key: key))
            intended.inserted.insert(key, root)
        }
        var change = SidecarChange()
        // The next save would write to any other store of the coordinator.
        try applier.coordinator.checkAttached(applier.store)
        settings.appliedBegun = BegunApply(inserted: begun, intended: intended).data
        change.settings = settings
        try sidecar.write(change)
        try applier.options.checkpoint?("apply.begun")
        let applied = applier.options.didApply.map { _ in AppliedChanges(unsavedIn: context) }
        do { try context.save() } catch let error as CocoaError { throw try retry(after: error) }
        if let applied { applier.options.didApply?(applied) }
        // Keys are known: the plan's new objects have rows.
        for (object, index) in zip(begun, numbers) { plan.change(index) { $0.key = object.key } }
        return result
    }

    /// IDs for which others may wait: of new objects, of deleted ones, and those that are found to name a known object.
    private var arrived: [GlobalID] {
        var (ids, others) = ([GlobalID](), plan.aliases)
        for index in plan.objects.indices where plan.objects[index].action == .create || plan.objects[index].isGone {
            let id = plan.objects[index].id
            ids.append(id)
            if groups.hasAliases(id) { others.formUnion(groups.members(of: id)) }
        }
        return ids + others.subtracting(ids)
    }

    // MARK: The sidecar

    /// Writes the stamps of everything that was applied.
    ///
    /// - Returns: the number of conflicts that were found.
    func note(unparking: [GlobalID], finish: (inout SidecarSettings) -> Void) throws -> Int {
        var change = SidecarChange()
        try context.performAndWait {
            var plain = PlainEntries(self)
            for index in plan.objects.indices {
                if try plain.add(index) { continue }
                let edits = try edits(of: plan.objects[index])
                if let edits { announced.append(edits) }
                for (name, property) in edits?.properties ?? [:] {
                    plan.change(index) { $0.state.properties[name] = property }
                }
                change.entries.append(entry(of: plan.objects[index]))
            }
            change.newEntries = plain.entries
        }
        let written = Set(change.entries.map(\.id)).union(plan.pointers.map(\.id))
        for id in repairedEntries.subtracting(written).sorted() {
            guard var entry = entries[id] else { continue }
            if entry.key != 0 { entry.state = entry.state.leftToStore }
            change.entries.append(entry)
        }
        change.entries += plan.pointers
        change.parked = Self.joined(plan.parked + waiting)
        let parked = Set(change.parked.map(\.state.id))
        change.unparked = unparking.filter { !parked.contains($0) }
        change.conflicts = try journal()
        settings.appliedBegun = nil
        if !announced.isEmpty { try send(announced, in: &change) }
        finish(&settings)
        change.settings = settings
        try sidecar.write(change)
        return change.conflicts.count
    }

    /// Values of a new object that are not those of its state: the app's class or its closure changed them before the
    /// save.
    private func edits(of planned: PlannedObject) throws -> ObjectState? {
        guard let object = objects[planned.id], created[ObjectIdentifier(object)] != nil else { return nil }
        let values = try values(for: planned.entity)
        var result = ObjectState(id: planned.id, entity: planned.state.entity)
        for (number, property) in planned.entity.values.enumerated() {
            guard case .attribute(_, .last) = property.kind, !planned.waiting.contains(property.name) else { continue }
            let found = try values.value(number, of: object)
            if found != value(of: counted(property.name, of: planned), property, planned.entity) {
                result.properties[property.name] = .last(nextStamp(), found)
            }
        }
        return result.properties.isEmpty ? nil : result
    }

    private func entry(of object: PlannedObject) -> SidecarEntry {
        var state = object.state.compacted(object.entity.deletionRule)
        let isDeleted = intended.deleted.contains(ObjectKey(root: object.entity.root, key: object.key))
        let key = object.action == .delete && isDeleted ? 0 : object.key
        // Without a row the sidecar is the one that knows the values: of an object whose creation has not arrived, for
        // example.
        state = key == 0 ? state.withoutLargeValues : state.leftToStore
        var entry = SidecarEntry(
            id: object.id, root: object.entity.root, key: key, state: state, digests: digests(of: object))
        entry.formerKey = key == 0 ? max(object.key, entries[object.id]?.formerKey ?? 0) : 0
        return entry
    }

    /// The digests of the values that the store has now.
    private func digests(of planned: PlannedObject) -> Data? {
        guard planned.key != 0, let object = objects[planned.id], !object.isDeleted,
            let values = try? values(for: planned.entity)
        else { return nil }
        var digests = ValueDigests(planned.digests, planned.entity) ?? ValueDigests(planned.entity)
        for (number, property) in planned.entity.values.enumerated() {
            switch property.kind {
            case .attribute(_, .last):
                guard let value = try? values.value(number, of: object) else { continue }
                digests[number] = ValueDigests.digest(value)
            case .toOne:
                let destination = values.destination(number, of: object)
                    .flatMap { context.registeredObject(for: $0) }.flatMap { try? identifier(of: $0) }
                digests[number] = ValueDigests.digest(destination.map { .reference($0) } ?? .null)
            default: break
            }
        }
        return digests.data
    }

    /// One parked state for each object.
    private static func joined(_ parked: [ParkedState]) -> [ParkedState] {
        var result: [GlobalID: ParkedState] = [:]
        for state in parked {
            guard var known = result[state.state.id] else {
                result[state.state.id] = state
                continue
            }
            known.state.merge(state.state)
            if let other = state.waitsFor, let first = known.waitsFor, first != other {
                known.waitsFor = ParkedState.several
            }
            known.waitsFor = known.waitsFor ?? state.waitsFor
            result[state.state.id] = known
        }
        return result.values.sorted { $0.state.id < $1.state.id }
    }

    /// Adds a segment with states that this device tells the others.
    private func send(_ states: [ObjectState], in change: inout SidecarChange) throws {
        settings.lastSegment += 1
        let segment = Segment(
            device: settings.device, number: settings.lastSegment, modelHash: rules.modelHash, seen: settings.seen,
            states: states)
        change.outgoing.append(
            OutgoingFile(name: .segment(settings.lastSegment), number: settings.lastSegment, bytes: segment.bytes))
        var own = OwnSegments(settings)
        own.append(settings.lastSegment, ticks: settings.clock)
        own.write(to: &settings)
    }
}
