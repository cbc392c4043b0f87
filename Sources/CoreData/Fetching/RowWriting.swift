import CoreDataPrimitives
import CoreDataStore

/// Writes the columns of a fetch into rows in memory: a statement writes the types that it supports, the others are
/// read value by value.
final class RowWriting {
    struct Property {
        let type: any FetchedValue.Type
        let column: Int
        /// In bytes, from the row's start.
        let offset: Int
    }

    /// The destination of a to-one relationship, or a composite attribute, which may be nil.
    struct Part {
        let type: any FetchedRow.Type
        let offset: Int
        /// The columns that are nil if the whole part is nil: the to-one's own, or those of all elements.
        let presence: [Int]
        let writing: RowWriting
    }

    private let properties: [Property]
    private let parts: [Part]
    let fields: TypedFields

    init(_ properties: [Property], parts: [Part], readsNilAsZero: Bool) {
        self.properties = properties
        self.parts = parts
        let fields = properties.map { property in
            let (kind, isOptional) = property.type.fieldKind
            return TypedField(
                column: property.column, kind, isOptional: isOptional, readsNilAsZero: readsNilAsZero,
                offset: property.offset)
        }
        // With a part no statement's row is whole.
        let missing = parts.map {
            TypedField(column: $0.presence.first ?? 0, .other, isOptional: true, offset: $0.offset)
        }
        self.fields = TypedFields(fields + missing)
    }

    /// Writes the fields that no statement wrote, whose bits are not set. On failure the row is emptied.
    @inline(never)
    func writeRest(
        _ tuple: FetchTuple, _ columns: RowColumns, to row: UnsafeMutableRawPointer, written: UInt64
    ) throws {
        var (property, part) = (0, 0)
        do {
            while property < properties.count {
                if !Self.has(written, property) {
                    let (column, place) = (properties[property].column, row + properties[property].offset)
                    let value = FetchedColumn(value: tuple[column], index: column, columns: columns)
                    try properties[property].type.read(value, to: place)
                }
                property += 1
            }
            while part < parts.count {
                try parts[part].write(tuple, columns, to: row + parts[part].offset)
                part += 1
            }
        } catch {
            for (index, other) in properties.enumerated() where index < property || Self.has(written, index) {
                other.type.clear(row + other.offset)
            }
            for other in parts.prefix(part) { other.type.clear(row + other.offset) }
            throw error
        }
    }

    private static func has(_ written: UInt64, _ index: Int) -> Bool {
        index < TypedField.most && written & 1 << UInt64(index) != 0
    }
}

extension RowWriting.Part {
    fileprivate func write(_ tuple: FetchTuple, _ columns: RowColumns, to place: UnsafeMutableRawPointer) throws {
        if presence.allSatisfy({ tuple[$0].isNull }) { return type.setNil(at: place) }
        try writing.writeRest(tuple, columns, to: place, written: tuple.write(writing.fields, to: place))
        type.wrap(at: place)
    }
}

extension FetchedRow {
    fileprivate static func setNil(at place: UnsafeMutableRawPointer) {
        place.initializeMemory(as: Self?.self, to: nil)
    }

    /// Makes the row at this place an optional one.
    fileprivate static func wrap(at place: UnsafeMutableRawPointer) {
        let row = place.assumingMemoryBound(to: Self.self).move()
        place.initializeMemory(as: Self?.self, to: row)
    }

    /// The optional row that is at the place goes.
    fileprivate static func clear(_ place: UnsafeMutableRawPointer) {
        place.assumingMemoryBound(to: Self?.self).deinitialize(count: 1)
    }
}
