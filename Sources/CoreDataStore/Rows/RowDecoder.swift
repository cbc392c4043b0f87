import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Decodes a statement's results to rows: one call of the driver per row, without intermediate values.
///
/// It serves one thread and one statement at a time, and reuses its buffers.
final class RowDecoder {
    /// The decoding data of one entity, so that decoding a row copies no arrays.
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
    // One thread uses a decoder, and no callback occurs.
    @exclusivity(unchecked) private var decoders: [EntityDecoder] = []
    /// The decoder of the previous row, which `decoders` retains.
    @exclusivity(unchecked) private var current: Unmanaged<EntityDecoder>?
    @exclusivity(unchecked) private var currentNumber: Int64 = 0

    /// Makes a decoder for rows of one store.
    ///
    /// - Parameters:
    ///   - first: the result's column with `Z_PK`; the shape's other columns follow.
    ///   - externalData: the store's external data; evaluated only if rows of the shape may have values in files.
    init(_ shape: RowShape, first: Int = 0, externalData: @autoclosure () -> ExternalData) {
        self.shape = shape
        self.first = first
        self.externalData = shape.entities.contains { !$0.externalColumns.isEmpty } ? externalData() : nil
    }

    /// Returns the statement's current row.
    ///
    /// - Throws: ``SQLFailure`` for a row whose entity does not belong to the table.
    func row(_ statement: any SQLStatement) throws -> RowSnapshot { try held(statement).snapshot() }

    /// Returns a hold on the statement's current row.
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

    /// Returns the decoder of an entity. Rows of one entity are adjacent, so this is rarely called.
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

    /// Returns the row with the bytes of its external columns. If a file cannot be read, only its column becomes
    /// unreadable.
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
