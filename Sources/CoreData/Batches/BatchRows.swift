import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// The objects of a batch insert as rows, a portion at a time.
final class BatchRows {
    /// What one object was given.
    private struct Given {
        var values: [(slot: Int, value: Value)] = []
        var destinations: [(slot: Int, key: RowKey)] = []
    }

    private let request: NSBatchInsertRequest
    private let entity: EntityRuntime
    private let store: AttachedStore
    private let builder: RowBuilder
    private let assignments: BatchAssignments
    private var portion: [Given] = []
    private var next = 0
    private var isAtEnd = false
    private lazy var scratch = entity.objectClass.init(entity: entity.entity, insertInto: nil)

    init(_ request: NSBatchInsertRequest, _ entity: EntityRuntime, _ store: AttachedStore) {
        self.request = request
        self.entity = entity
        self.store = store
        builder = RowBuilder(columnCount: entity.layout.columns.count)
        assignments = BatchAssignments(entity, store)
    }

    var count: Int { portion.count }

    /// Asks for the next objects; `false` when there are none.
    func readPortion() throws -> Bool {
        portion.removeAll(keepingCapacity: true)
        while !isAtEnd, portion.count < BatchWriter.portion {
            guard let given = try readOne() else {
                isAtEnd = true
                break
            }
            portion.append(given)
        }
        return !portion.isEmpty
    }

    private func readOne() throws -> Given? {
        if let objects = request.objectsToInsert {
            guard next < objects.count else { return nil }
            defer { next += 1 }
            var given = Given()
            for (key, value) in objects[next] { try add(value, key, to: &given) }
            return given
        }
        if let handler = request.dictionaryHandler {
            let dictionary = NSMutableDictionary()
            if handler(dictionary) { return nil }
            var given = Given()
            for (key, value) in dictionary { if let key = key as? String { try add(value, key, to: &given) } }
            return given
        }
        return request.managedObjectHandler.flatMap(readObject)
    }

    private func readObject(_ handler: (NSManagedObject) -> Bool) -> Given? {
        let object = scratch
        object.values = nil
        object.relations.removeAll()
        if handler(object) { return nil }
        var given = Given()
        for slot in object.values?.live ?? IndexMask() where entity.slots[slot].attribute != nil {
            given.values.append((slot, object.attributeValue(slot)))
        }
        return given
    }

    private func add(_ value: Any, _ key: String, to given: inout Given) throws {
        guard let slot = entity.slot(forKey: key) else { return }
        if entity.slots[slot].kind == .composite {
            given.values += try assignments.elements(of: value, entity.slots[slot])
            return
        }
        if entity.slots[slot].property.isTransient { return }
        switch try assignments.source(value, of: slot) {
        case .value(let value): given.values.append((slot, value))
        case .destination(let key?): given.destinations.append((slot, key))
        case .destination(nil): break
        case .expression:
            throw CoreDataErrors.invalidRequest(
                "A batch insert takes values, no expressions: '\(key)' of entity '\(entity.name)'.")
        }
    }

    // MARK: Rows

    /// The row of the object with that index, and the columns that were given.
    func row(_ index: Int, key: Int64) throws -> (row: RowSnapshot, given: IndexMask) {
        var mask = IndexMask()
        for slot in entity.slots where slot.attribute != nil && slot.column >= 0 {
            try set(slot.attribute?.defaultValue ?? .null, slot.property.slot)
        }
        for (slot, value) in portion[index].values where entity.slots[slot].column >= 0 {
            try set(value, slot)
            mask.insert(entity.slots[slot].column)
        }
        for (slot, destination) in portion[index].destinations {
            let info = entity.slots[slot]
            builder.setInteger(destination.primaryKey, at: info.column)
            mask.insert(info.column)
            guard info.entityColumn >= 0 else { continue }
            builder.setInteger(store.source.number(ofEntity: destination.entity), at: info.entityColumn)
            mask.insert(info.entityColumn)
        }
        return (builder.finish(primaryKey: key, version: 1, entity: entity.ordinal), mask)
    }

    private func set(_ value: Value, _ slot: Int) throws {
        let column = entity.slots[slot].column
        do {
            try ManagedObjectValues.encode(
                value, slot: slot, of: entity, entity.layout.kinds[column], at: column, into: builder)
        } catch is ManagedObjectValues.NotANumber {
            throw CoreDataErrors.invalidRequest(
                "'\(entity.slots[slot].name)' of entity '\(entity.name)' is not a number, which no store keeps.")
        }
    }
}
