import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Makes rows of a statement's results: one call per row into the driver, no value in between.
///
/// For one thread and one statement at a time; its buffers are reused from row to row.
final class RowDecoder {
    private let shape: RowShape
    private let externalData: ExternalData?
    /// Parallel to the shape's entities; made when the first row of the entity comes.
    private var builders: [RowBuilder?]
    private var lastIndex = 0

    /// A decoder of the engine's rows, which may have bytes in the engine's files.
    init(_ shape: RowShape, _ engine: StoreEngine) {
        self.shape = shape
        externalData = shape.entities.contains { !$0.externalColumns.isEmpty } ? engine.externalData : nil
        builders = Array(repeating: nil, count: shape.entities.count)
    }

    /// The current row, whose fixed columns stand at `first`.
    ///
    /// - Throws: ``SQLFailure`` for a row of an entity that cannot be in this table, ``ExternalDataFailure`` for a
    ///   file that cannot be read.
    func row(_ statement: any SQLStatement, from first: Int = 0) throws -> RowSnapshot {
        let primaryKey = statement.integer(first)
        let index = try index(ofNumber: statement.integer(first + 1), primaryKey)
        let builder = builder(index)
        if let positions = shape.entities[index].positions {
            let columns = first == 0 ? positions : positions.map { $0 < 0 ? $0 : $0 + first }
            statement.read(into: builder, kinds: shape.entities[index].kinds, columns: columns)
        } else {
            statement.read(
                into: builder, kinds: shape.entities[index].kinds, from: first + RowShape.fixedColumns)
        }
        let version = Int32(truncatingIfNeeded: statement.integer(first + 2))
        let ordinal = shape.entities[index].ordinal
        let row = builder.finish(primaryKey: primaryKey, version: version, entity: ordinal)
        return shape.entities[index].externalColumns.isEmpty ? row : try withExternalData(row, index)
    }

    /// Rows of one entity come in runs, so the last one's is tried first.
    private func index(ofNumber number: Int64, _ primaryKey: Int64) throws -> Int {
        if lastIndex < shape.entities.count, shape.entities[lastIndex].number == number { return lastIndex }
        guard let index = shape.entities.firstIndex(where: { $0.number == number }) else {
            throw SQLFailure(
                kind: .corrupt, code: 0,
                message: "row \(primaryKey) has the entity number (Z_ENT) \(number), which is none of this table's")
        }
        lastIndex = index
        return index
    }

    private func builder(_ index: Int) -> RowBuilder {
        if let builder = builders[index] { return builder }
        let builder = RowBuilder(columnCount: shape.entities[index].kinds.count)
        builders[index] = builder
        return builder
    }

    /// The row with the bytes that its external columns stand for.
    private func withExternalData(_ row: RowSnapshot, _ index: Int) throws -> RowSnapshot {
        let entity = shape.entities[index]
        guard let externalData, entity.externalColumns.contains(where: { !row.isNull($0) }) else { return row }
        let builder = builder(index)
        for (column, kind) in entity.kinds.enumerated() {
            if entity.externalColumns.contains(column), !row.isNull(column) {
                try row.withBytes(column) { stored in
                    try externalData.read(stored) { builder.setBytes($0, at: column) }
                }
            } else {
                builder.copy(column, kind: kind, from: row)
            }
        }
        return builder.finish(primaryKey: row.primaryKey, version: row.version, entity: row.entity)
    }
}
