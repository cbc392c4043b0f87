import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Makes rows of a statement's results: one call per row into the driver, no value in between.
///
/// For one thread and one statement at a time; its buffers are reused from row to row.
final class RowDecoder {
    /// What the rows of one entity need, in one place: a row costs no copy of an array.
    private final class EntityDecoder {
        let entity: RowShape.Entity
        let number: Int64
        let ordinal: Int
        let kinds: [ColumnKind]
        let hasExternalColumns: Bool
        let builder: RowBuilder
        /// The result's columns, counted from the statement's first.
        let columns: [Int]?

        init(_ entity: RowShape.Entity, first: Int) {
            self.entity = entity
            number = entity.number
            ordinal = entity.ordinal
            kinds = entity.kinds
            hasExternalColumns = !entity.externalColumns.isEmpty
            builder = RowBuilder(columnCount: entity.kinds.count)
            columns = entity.positions.map { positions in positions.map { $0 < 0 ? $0 : $0 + first } }
        }
    }

    private let shape: RowShape
    private let externalData: ExternalData?
    private let first: Int
    // A decoder serves one thread, and nothing it calls comes back to it.
    @exclusivity(unchecked) private var decoders: [EntityDecoder] = []
    /// The decoder of the row before, which `decoders` holds.
    @exclusivity(unchecked) private var current: Unmanaged<EntityDecoder>?
    @exclusivity(unchecked) private var currentNumber: Int64 = 0

    /// A decoder of the engine's rows, which may have bytes in the engine's files.
    ///
    /// `first` is the result's column with `Z_PK`; the shape's other columns follow.
    init(_ shape: RowShape, _ engine: StoreEngine, first: Int = 0) {
        self.shape = shape
        self.first = first
        externalData = shape.entities.contains { !$0.externalColumns.isEmpty } ? engine.externalData : nil
    }

    /// The statement's current row.
    ///
    /// - Throws: ``SQLFailure`` for a row of an entity that cannot be in this table.
    func row(_ statement: any SQLStatement) throws -> RowSnapshot { try held(statement).snapshot() }

    /// The statement's current row, held.
    func held(_ statement: any SQLStatement) throws -> HeldRow {
        let (primaryKey, number, version) = statement.threeIntegers(from: first)
        if current == nil || currentNumber != number {
            current = .passUnretained(try decoder(ofNumber: number, primaryKey))
            currentNumber = number
        }
        let word = current.unsafelyUnwrapped._withUnsafeGuaranteedRef { decoder in
            if let columns = decoder.columns {
                statement.read(into: decoder.builder, kinds: decoder.kinds, columns: columns)
            } else {
                statement.read(into: decoder.builder, kinds: decoder.kinds, from: first + RowShape.fixedColumns)
            }
            let row = decoder.builder.finishHeld(
                primaryKey: primaryKey, version: Int32(truncatingIfNeeded: version), entity: decoder.ordinal)
            return (decoder.hasExternalColumns ? withExternalData(row.snapshot(), decoder) : row).intoWord()
        }
        return HeldRow(taking: word)
    }

    /// Rows of one entity come in runs, so this is seldom asked.
    private func decoder(ofNumber number: Int64, _ primaryKey: Int64) throws -> EntityDecoder {
        if let known = decoders.first(where: { $0.number == number }) { return known }
        guard let entity = shape.entities.first(where: { $0.number == number }) else {
            throw SQLFailure(
                kind: .corrupt, code: 0,
                message: "row \(primaryKey) has the entity number \(number), which is none of this table's")
        }
        let decoder = EntityDecoder(entity, first: first)
        decoders.append(decoder)
        return decoder
    }

    /// The row with the bytes that its external columns stand for. A file that cannot be read costs its column alone:
    /// that is unreadable then.
    private func withExternalData(_ row: RowSnapshot, _ decoder: EntityDecoder) -> HeldRow {
        let entity = decoder.entity
        guard let externalData, entity.externalColumns.contains(where: { !row.isNull($0) }) else {
            return HeldRow(row)
        }
        for (column, kind) in entity.kinds.enumerated() {
            if entity.externalColumns.contains(column), !row.isNull(column) {
                row.withBytes(column) { stored in
                    do {
                        try externalData.read(stored, into: decoder.builder, at: column)
                    } catch {
                        decoder.builder.setUnreadable(stored, at: column)
                    }
                }
            } else {
                decoder.builder.copy(column, kind: kind, from: row)
            }
        }
        return decoder.builder.finishHeld(primaryKey: row.primaryKey, version: row.version, entity: row.entity)
    }
}
