import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Converts the objects of a batch insert to rows, a portion at a time.
///
/// An object's values go directly into its row, without an intermediate list.
final class BatchRows {
    private let request: NSBatchInsertRequest
    private let entity: EntityRuntime
    private let store: AttachedStore
    private let builder: RowBuilder
    private let assignments: BatchAssignments
    /// The default values of attributes that are not set.
    private let defaults: [(slot: Int, column: Int, value: Value)]
    /// The attributes that every new row must have. To-ones are not checked, since Apple's batch inserts cannot set
    /// them.
    let mandatory: MandatoryColumns
    /// The columns of the row in the making that were given a value.
    private var mask = IndexMask()
    private var next = 0
    private var isAtEnd = false
    private lazy var scratch = BatchObject(entity, store, assignments)
    private let columns: BatchColumns?

    /// The meaning of a key of the handler's dictionary.
    private enum Key {
        case property(slot: Int, String)
        /// A path to a value of a destination, perhaps.
        case path(String)
        case nothing
    }

    private var dictionary = BatchDictionary()
    /// The meaning of the dictionary's keys, in its order.
    private var keys: [Key] = []
    private let destinations: BatchDestinations

    /// The portion's rows, which have no keys yet, and the columns that were set in each.
    private(set) var insertions: [ChangeSet.Insertion] = []
    private(set) var given: [IndexMask] = []

    private let portion: Int
    /// A portion ends with the row that fills so many bytes.
    private static let largestPortion = 4 << 20

    init(
        _ request: NSBatchInsertRequest, _ entity: EntityRuntime, _ store: AttachedStore, _ writer: BatchWriter,
        in model: ModelRuntime
    ) throws {
        self.request = request
        self.entity = entity
        self.store = store
        portion = writer.insertedPortion
        builder = RowBuilder(columnCount: entity.layout.columns.count)
        assignments = BatchAssignments(entity, store)
        columns = try request.rowSource.map { try BatchColumns($0, entity) }
        destinations = BatchDestinations(writer, entity, in: model)
        mandatory = MandatoryColumns(
            entity: entity.ordinal,
            columns: entity.validation.mandatory.compactMap { slot in
                let info = entity.slots[slot]
                guard info.attribute != nil, info.property.isStored else { return nil }
                func leaves(_ slot: Int) -> [Int] { entity.slots[slot].leaves.map { entity.slots[$0].column } }
                return .init(
                    slot: slot, columns: info.kind == .composite ? leaves(slot) : [info.column],
                    companions: info.property.composite.map(leaves) ?? [])
            })
        defaults = entity.slots.compactMap { slot in
            guard slot.column >= 0, let value = slot.attribute?.defaultValue, !value.isNull else { return nil }
            return (slot.property.slot, slot.column, value)
        }
    }

    /// Asks for the next objects; `false` when there are none.
    func readPortion() throws -> Bool {
        insertions.removeAll(keepingCapacity: true)
        given.removeAll(keepingCapacity: true)
        var bytes = 0
        while !isAtEnd, insertions.count < portion, bytes < Self.largestPortion {
            mask = IndexMask()
            guard try readOne() else {
                isAtEnd = true
                break
            }
            for column in entity.derivedColumns {
                builder.setNull(at: column)
                mask.remove(column)
            }
            for (slot, column, value) in defaults where !mask.contains(column) { try set(value, slot, column) }
            bytes += builder.wholeByteCount
            insertions.append(.init(row: builder.finish(primaryKey: 0, version: 1, entity: entity.ordinal)))
            given.append(mask)
        }
        return !insertions.isEmpty
    }

    private func readOne() throws -> Bool {
        if let columns, let source = request.rowSource {
            return try source.next { try columns.read($0, into: self, builder) }
        }
        if let objects = request.objectsToInsert {
            guard next < objects.count else { return false }
            defer { next += 1 }
            for (key, value) in objects[next] { try add(value, key) }
            return true
        }
        if let handler = request.dictionaryHandler {
            if handler(dictionary) { return false }
            while keys.count < dictionary.keys.count { keys.append(key(dictionary.keys[keys.count])) }
            try dictionary.forEachValue { place, value in
                switch keys[place] {
                case .property(let slot, let name): try add(value, slot, name)
                case .path(let path): try addUnique(value, path)
                case .nothing: break
                }
            }
            // If the handler keeps the dictionary, its values must stay in it.
            if isKnownUniquelyReferenced(&dictionary) {
                dictionary.clear()
            } else {
                (dictionary, keys) = (BatchDictionary(), [])
            }
            return true
        }
        guard let handler = request.managedObjectHandler else { return false }
        return try scratch.read(handler, setValue: give, setDestination: give)
    }

    private func key(_ key: AnyHashable) -> Key {
        guard let name = key.base as? String else { return .nothing }
        return entity.slot(forKey: name).map { .property(slot: $0, name) } ?? .path(name)
    }

    private func add(_ value: Any, _ key: String) throws {
        guard let slot = entity.slot(forKey: key) else { return try addUnique(value, key) }
        try add(value, slot, key)
    }

    /// Sets a to-one by a value of its destination; ignores a key that is no property.
    private func addUnique(_ value: Any, _ key: String) throws {
        let keys = key.split(separator: ".").map(String.init)
        guard keys.count > 1, let (slot, rest) = entity.slot(at: keys[...]), !rest.isEmpty,
            entity.slots[slot].relationship != nil
        else { return }
        if let found = try destinations.key(value, slot, rest) { give(found, slot) } else { giveNil(slot) }
    }

    private func add(_ value: Any, _ slot: Int, _ key: String) throws {
        let column = Int(entity.facts[slot].column)
        // Most values are seen to fit without looking at the property's description.
        if column >= 0, let kind = entity.kinds[slot].plainKind, let plain = ManagedObjectValues.plain(value, kind),
            fits(plain, slot)
        {
            return try give(plain, slot)
        }
        if entity.kinds[slot] == .toOne, let id = value as? NSManagedObjectID { return try give(id, slot) }
        let info = entity.slots[slot]
        if info.kind == .composite {
            for element in try assignments.elements(of: value, info) where entity.facts[element.slot].column >= 0 {
                try give(element.value, element.slot)
            }
            return
        }
        if info.property.isTransient { return }
        switch try assignments.source(value, of: slot) {
        case .value(let value): try give(value, slot)
        case .destination(let key?): give(key, slot)
        case .destination(nil): giveNil(slot)
        case .expression:
            throw CoreDataErrors.invalidRequest(
                "A batch insert takes values, no expressions: '\(key)' of entity '\(entity.name)'.")
        }
    }

    /// Whether the attribute is wide enough for the number.
    private func fits(_ value: Value, _ slot: Int) -> Bool {
        guard case .integer(let number) = value else {
            if case .double = value { return entity.kinds[slot].plainKind != .integer }
            return true
        }
        return entity.kinds[slot].holds(number)
    }

    // MARK: Tuples

    /// A value by its name, as a dictionary has it.
    func give(_ any: Any?, _ name: String, _ slot: Int) throws {
        guard let any else { return giveNil(slot) }
        if entity.slots[slot].name == name { try add(any, slot, name) } else { try addUnique(any, name) }
    }

    /// A destination by its ID.
    func give(_ id: NSManagedObjectID?, _ slot: Int) throws {
        guard let id else { return giveNil(slot) }
        if id.storeReference === store.reference, id.primaryKey > 0,
            id.runtime.ordinal == Int(entity.facts[slot].destination)
        {
            return give(RowKey(entity: id.runtime.ordinal, primaryKey: id.primaryKey), slot)
        }
        give(try assignments.key(id, entity.slots[slot]), slot)
    }

    @inline(__always)
    func note(_ column: Int) { mask.insert(column) }

    /// Nil, whatever the default is.
    func giveNil(_ slot: Int) {
        let facts = entity.facts[slot]
        builder.setNull(at: Int(facts.column))
        mask.insert(Int(facts.column))
        guard facts.relation >= 0 else { return }
        mask.insertStored(Int(facts.entityColumn))
        let place = entity.layout.orderColumnOfSlot[slot]
        guard place >= 0 else { return }
        builder.setNull(at: place)
        mask.insert(place)
    }

    func notANumber(_ slot: Int) -> CocoaError { assignments.notANumber(slot) }

    func tooLarge(_ number: Int64, _ slot: Int) -> CocoaError { assignments.tooLarge(number, slot) }

    // MARK: The row in the making

    private func give(_ value: Value, _ slot: Int) throws {
        let column = Int(entity.facts[slot].column)
        guard column >= 0 else { return }
        try set(value, slot, column)
        mask.insert(column)
    }

    private func give(_ destination: RowKey, _ slot: Int) {
        let facts = entity.facts[slot]
        builder.setInteger(destination.primaryKey, at: Int(facts.column))
        mask.insert(Int(facts.column))
        let place = entity.layout.orderColumnOfSlot[slot]
        if place >= 0 {
            // The writer decides the position: after the existing members.
            builder.setInteger(0, at: place)
            mask.insert(place)
        }
        guard facts.entityColumn >= 0 else { return }
        builder.setInteger(store.source.number(ofEntity: destination.entity), at: Int(facts.entityColumn))
        mask.insert(Int(facts.entityColumn))
    }

    private func set(_ value: Value, _ slot: Int, _ column: Int) throws {
        do {
            try ManagedObjectValues.encode(
                value, slot: slot, of: entity, entity.layout.kinds[column], at: column, into: builder)
        } catch is ManagedObjectValues.NotANumber {
            throw notANumber(slot)
        }
    }
}
