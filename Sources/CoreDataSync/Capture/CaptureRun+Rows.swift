import CoreData
import CoreDataPrimitives
import CoreDataSyncEngine
import Foundation

// New objects of entities with attributes and to-one references only: their rows are read without objects, and their
// states go into the segment as bytes.
extension CaptureRun {
    /// Captures new objects by their rows.
    ///
    /// - Returns: the keys of those that have to be read as objects.
    func insertByRows(_ keys: [Int64], of entity: SyncEntity) throws -> [Int64] {
        let reader = try reader(entity)
        guard reader.readsRows else { return keys }
        let sorted = keys.sorted()
        var rest: [Int64] = []
        for start in stride(from: 0, to: sorted.count, by: Self.portion) {
            let some = sorted[start..<min(sorted.count, start + Self.portion)]
            guard let first = some.first, let last = some.last, last - first < 4 * Int64(some.count) else {
                // Keys that lie far apart are looked up one by one.
                rest += some
                continue
            }
            rest += try insertRows(some, between: first...last, reader)
        }
        return rest
    }

    private func insertRows(
        _ keys: ArraySlice<Int64>, between bounds: ClosedRange<Int64>, _ reader: EntityReader
    ) throws -> [Int64] {
        var rows = RowPortion(columns: reader.columns.count)
        let wanted = bounds.count == keys.count ? nil : Set(keys)
        try context.forEachRow(
            of: reader.entity.name, columns: reader.names, keys: bounds, in: capture.store
        ) { row in
            let key = row.key
            if wanted?.contains(key) ?? true { rows.append(row, key, reader) }
        }
        try resolve(rows.references)
        let table = table(reader.entity.root)
        if rows.keys.count + rows.rest.count < keys.count {
            let existing = Set(rows.keys + rows.rest)
            for key in keys where !existing.contains(key) { forget(key, table) }
        }
        for (index, key) in rows.keys.enumerated() {
            guard let id = table.ids[key] else { continue }
            if formerStates[id] != nil {
                rows.rest.append(key)
                continue
            }
            let start = index * reader.columns.count
            for column in reader.toOnes {
                rows.values[start + column] = globalID(of: rows.values[start + column])
            }
            try insert(id, key, table, reader, &rows.values, from: start)
        }
        return rows.rest
    }

    /// New objects whose rows are gone by now were never known to other devices.
    func forget(_ key: Int64, _ table: RootTable) {
        table.ids[key] = nil
        table.missing.insert(key)
    }

    private func insert(
        _ id: GlobalID, _ key: Int64, _ table: RootTable, _ reader: EntityReader, _ values: inout [SyncValue],
        from start: Int
    ) throws {
        digests.removeAll(keepingCapacity: true)
        for place in start..<start + reader.columns.count {
            digests.append(ValueDigests.digest(values[place]).littleEndian)
            values[place] = writing.shortened(values[place])
        }
        writing.newEntries.append(
            id, EntryPlace.make(root: table.number, key: key), reader.entryPrefix(capture.sidecar), digests)
        writing.add(new: id, reader, reader.stamp, values, from: start)
        result.insertedObjects += 1
    }

    // MARK: References

    private func resolve(_ references: [(entity: Int, keys: Set<Int64>)]) throws {
        for (number, keys) in references {
            guard let entity = try destination(number) else { continue }
            try resolve(Array(keys), of: entity)
        }
    }

    /// The ID for a reference as ``RowPortion`` has it.
    private func globalID(of value: SyncValue) -> SyncValue {
        guard case .reference(let row) = value else { return .null }
        let number = Int(row.high)
        if lastDestination?.number != number {
            lastDestination = (try? destination(number)).map { (number, table($0.root)) }
        }
        guard let table = lastDestination?.table else { return .null }
        if let id = table.ids[Int64(row.low)] { return .reference(id) }
        result.danglingReferences += 1
        return .null
    }

    /// The exchanged entity with that number in the coordinator's model.
    private func destination(_ number: Int) throws -> SyncEntity? {
        if destinations.isEmpty {
            for entity in capture.rules.entities.values where !entity.isIgnored {
                if let number = try context.number(ofEntity: entity.name) { destinations[number] = entity }
            }
        }
        return destinations[number]
    }
}

/// The values of some rows, one row after the other.
private struct RowPortion {
    let columns: Int
    var keys: [Int64] = []
    /// References have the number of the entity and the primary key in place of an ID.
    var values: [SyncValue] = []
    /// Rows with a value of another kind than their attributes.
    var rest: [Int64] = []
    /// The primary keys of destinations, for the numbers of their few entities.
    var references: [(entity: Int, keys: Set<Int64>)] = []

    init(columns: Int) { self.columns = columns }

    private mutating func note(_ entity: Int, _ key: Int64) {
        for index in references.indices where references[index].entity == entity {
            references[index].keys.insert(key)
            return
        }
        references.append((entity, [key]))
    }

    mutating func append(_ row: KeyedRow, _ key: Int64, _ reader: EntityReader) {
        for column in 0..<columns {
            if reader.columns[column], let (entity, key) = row.destination(column) {
                note(entity, key)
                values.append(.reference(GlobalID(high: UInt64(entity), low: UInt64(key))))
            } else if let value = reader.values.value(row[column], column) {
                values.append(value)
            } else {
                values.removeLast(column)
                return rest.append(key)
            }
        }
        keys.append(key)
    }
}
