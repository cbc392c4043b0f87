import CoreData
import CoreDataSyncEngine
import Foundation

// The states of objects that were inserted or changed.
extension CaptureRun {
    /// Which properties of a known object are looked at.
    enum Extent {
        /// Those that the history names.
        case named(Set<String>)
        /// All; the digests tell which changed.
        case compared
    }

    /// Reads the new objects, and those that these refer to.
    func readQueue() throws {
        while let name = queue.keys.min(), let keys = queue.removeValue(forKey: name) {
            guard let entity = capture.rules[name] else { continue }
            let table = table(entity.root)
            let keys = try insertByRows(keys, of: entity)
            try read(keys, of: entity, changed: nil) { object, key, reader in
                guard let id = table.ids[key] else { return }
                try self.insert(object, id, key, table, reader)
            }
        }
    }

    // MARK: New objects

    private func insert(
        _ object: NSManagedObject, _ id: GlobalID, _ key: Int64, _ table: RootTable, _ reader: EntityReader
    ) throws {
        let former = formerStates[id]
        // An object that is created again is later than its deletion.
        let stamp = former == nil ? reader.stamp : self.stamp
        var part = ObjectState(id: id, entity: .init(reader.entity.name, stamp))
        (part.born, part.created, part.deleted) = (former?.born ?? stamp, stamp, former?.deleted)
        part.properties.reserveCapacity(reader.plain.count + reader.toOnes.count)
        var digests = reader.emptyDigests
        for number in reader.plain {
            let value = try reader.value(number, of: object)
            digests[number] = ValueDigests.digest(value)
            // What a new object does not name is nil.
            if value != .null { part.properties[reader.names[number]] = .last(stamp, writing.shortened(value)) }
        }
        for number in reader.toOnes {
            let value = reference(number, of: object, reader)
            digests[number] = ValueDigests.digest(value)
            if value != .null { part.properties[reader.names[number]] = .last(stamp, value) }
        }
        result.insertedObjects += 1
        if former == nil, reader.isSimple, reader.merging.isEmpty, reader.entity.pairs.isEmpty {
            writing.newEntries.append(
                id, EntryPlace.make(root: table.number, key: key), reader.entryPrefix(capture.sidecar),
                reader.names.indices.map { digests[$0].littleEndian })
            writing.add(part)
            return
        }
        var state = ObjectState(id: id, entity: part.entity)
        if let former { (state.edges, state.aliases) = (former.edges, former.aliases) }
        (state.born, state.created, state.deleted) = (part.born, stamp, former?.deleted)
        state.properties = reader.newState.properties
        if stamp != reader.stamp { state.properties = state.properties.mapValues { _ in .last(stamp, .stored) } }
        for (number, _, _) in reader.merging {
            state.properties[reader.names[number]] = former?.properties[reader.names[number]]
        }
        let new = WorkingObject(
            id, root: table.root, key: key, entity: reader.entity, state: state, digests: digests.data, stamp,
            former == nil ? reader.device : device)
        (new.part, new.isNew, new.hasChanged) = (part, true, true)
        for column in reader.merging {
            try merge(column, try reader.value(column.number, of: object), of: new, reader)
        }
        for pair in reader.entity.pairs { try comparePairs(pair, of: object, new) }
        for ordering in reader.orderings { noteOwner(ordering, of: object, reader) }
        noteOwn(reader, key, nil)
        keep(new, reader)
    }

    // MARK: Known objects

    func update(
        _ object: NSManagedObject, _ entry: SidecarEntry, _ reader: EntityReader, _ extent: Extent
    ) throws {
        let key = object.objectID.key
        let result = WorkingObject(
            entry.id, root: entry.root, key: key, entity: reader.entity, state: entry.state, digests: entry.digests,
            stamp, device)
        let known = ValueDigests(entry.digests, reader.entity)
        var digests = known ?? reader.emptyDigests
        var (names, isComparison) = (Set<String>?.none, true)
        if case .named(let given) = extent { (names, isComparison) = (given, false) }
        for number in reader.plain {
            let property = reader.entity.values[number]
            guard names?.contains(property.modelName) ?? true else { continue }
            let value = try reader.value(number, of: object)
            let digest = ValueDigests.digest(value)
            // The history names a composite as a whole: its elements are compared.
            let isCompared = isComparison || property.name != property.modelName && known != nil
            let isKnown = digest == digests[number] || isComparison && digests[number] == 0
            digests[number] = digest
            if isCompared, isKnown { continue }
            result.set(property.name, .last(stamp, .stored), sent: .last(stamp, writing.shortened(value)))
        }
        for number in reader.toOnes where names?.contains(reader.names[number]) ?? true {
            let value = reference(number, of: object, reader)
            let digest = ValueDigests.digest(value)
            let isKnown = digest == digests[number] || digests[number] == 0
            digests[number] = digest
            if isComparison, isKnown { continue }
            result.set(reader.names[number], .last(stamp, .stored), sent: .last(stamp, value))
            for ordering in reader.orderings where ordering.toOneNumber == number {
                // Another owner: the old position says nothing there.
                result.state.properties[ordering.name] = nil
                noteOwner(ordering, of: object, reader)
            }
        }
        for column in reader.merging where names?.contains(reader.entity.values[column.number].modelName) ?? true {
            try merge(column, try reader.value(column.number, of: object), of: result, reader)
        }
        for pair in reader.entity.pairs where names?.contains(pair.name) ?? true {
            try comparePairs(pair, of: object, result)
        }
        noteOwn(reader, key, names)
        let data = digests.data
        if data != result.digests, known != nil || isComparison {
            result.digests = data
            result.hasChanged = true
        }
        keep(result, reader)
    }

    private func reference(_ number: Int, of object: NSManagedObject, _ reader: EntityReader) -> SyncValue {
        guard let id = reader.values.destination(number, of: object) else { return .null }
        return globalID(id).map { .reference($0) } ?? .null
    }

    // MARK: Minima, maxima and sums

    private func merge(
        _ column: (number: Int, kind: AttributeKind, rule: MergeRule), _ value: SyncValue, of object: WorkingObject,
        _ reader: EntityReader
    ) throws {
        let name = reader.names[column.number]
        let old = object.state.properties[name]
        let floor = object.floor
        if let elements = column.rule.elements { return change(name, column.kind, elements, to: value, old, object) }
        if column.rule == .sum { return add(value, to: name, column.kind, old, object) }
        let shown = old?.counted(after: floor)?.value
        if value == .null, shown == nil { return }
        let new: PropertyState = column.rule == .min ? .minimum(object.stamp, value) : .maximum(object.stamp, value)
        // A value that is only in the store cannot be compared.
        let merged = old.map { $0.values.contains(.stored) ? new : $0.merged(with: new) } ?? new
        let winner = merged.counted(after: floor)?.value
        if winner != value { result.differing.insert(object.id) }
        // The same value with another stamp is no change.
        if let shown, shown == winner { return }
        object.set(name, merged, sent: merged)
    }

    private func change(
        _ name: String, _ kind: AttributeKind, _ elements: PropertyState.ElementKind, to value: SyncValue,
        _ old: PropertyState?, _ object: WorkingObject
    ) {
        let values = ElementValues(
            entity: object.entity.name, property: name, kind: kind, elements: elements, merge: capture.merge)
        var (known, shown) = (ElementSet(), SyncValue?.none)
        if case .elements(elements, let set)? = old { known = set }
        if case .elements(elements, let set)? = old?.counted(after: object.floor) { shown = values.value(of: set) }
        if shown ?? .null == value { return }
        if isSeed, shown != nil {
            // A restored store has an old value: the difference is not an edit.
            result.differing.insert(object.id)
            return
        }
        let set = values.changed(known.elements(after: object.floor), to: value, at: object.stamp)
        let written = values.value(of: set)
        if written != value { result.differing.insert(object.id) }
        if written == shown ?? .null { return }
        writing.count(set)
        object.set(name, .elements(elements, set), sent: .elements(elements, set))
    }

    private func add(
        _ value: SyncValue, to name: String, _ kind: AttributeKind, _ old: PropertyState?, _ object: WorkingObject
    ) {
        var parts: [DeviceID: PropertyState.Contribution] = [:]
        if case .counter(let known)? = old { parts = known }
        var counted: [DeviceID: PropertyState.Contribution] = [:]
        if case .counter(let known)? = old?.counted(after: object.floor) { counted = known }
        let shown = SyncNumber.total(counted, kind)
        if shown == nil, value == .null { return }
        if isSeed || isRestored, let shown, shown != value {
            // A restored store has an old sum: the difference is not an edit.
            result.differing.insert(object.id)
            if !isSeed { giveUp(value, of: name, for: shown, old, object) }
            return
        }
        let difference = SyncNumber.subtract(value, shown ?? SyncNumber.zero(kind), kind)
        if shown != nil, SyncNumber.isZero(difference) {
            if value != shown { result.differing.insert(object.id) }
            return
        }
        let device = object.device
        let own = counted[device]?.amount ?? SyncNumber.zero(kind)
        let part = PropertyState.Contribution(ticks: object.stamp.ticks, amount: SyncNumber.add(own, difference, kind))
        if !object.isNew { sumBases.add(.init(object: object.id, property: name, contribution: parts[device])) }
        (parts[device], counted[device]) = (part, part)
        // Nil is 0 where something was added before, and a difference may be rounded.
        if SyncNumber.total(counted, kind) != value { result.differing.insert(object.id) }
        object.set(name, .counter(parts), sent: .counter([device: part]))
    }

    /// Keeps a sum that was set in a restored store before its first exchange: the store had an old sum, which no user
    /// knows any more.
    private func giveUp(
        _ value: SyncValue, of name: String, for shown: SyncValue, _ old: PropertyState?, _ object: WorkingObject
    ) {
        conflicts.append(
            SidecarConflict(
                serial: UUID(), object: object.id, entityName: object.entity.name, property: name,
                losing: .init(stamp: stamp, value: value), winning: .init(stamp: old?.stamp ?? stamp, value: shown),
                date: now, reason: SyncConflict.Reason.edited.rawValue))
    }
}
