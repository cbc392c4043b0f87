import CoreDataPrimitives
import CoreDataStore
import Foundation

/// How the elements of a tuple lie in memory: one after the other, each where its type may begin.
struct TupleShape {
    struct Element {
        let type: any FetchedValue.Type
        let offset: Int
    }

    private(set) var elements: [Element] = []
    private var size = 0

    mutating func append<V: FetchedValue>(_ type: V.Type) {
        let alignment = MemoryLayout<V>.alignment
        let offset = (size + alignment - 1) & -alignment
        elements.append(Element(type: type, offset: offset))
        size = offset + MemoryLayout<V>.size
    }

    /// Whether tuples of that type do lie so.
    func fits<Tuple>(_ type: Tuple.Type) -> Bool { MemoryLayout<Tuple>.size == size }

    /// Element *i* is the tuple's column *i*.
    func fields(readsNilAsZero: Bool) -> TypedFields {
        TypedFields(
            elements.enumerated().map { index, element in
                let (kind, isOptional) = element.type.fieldKind
                return TypedField(
                    column: index, kind, isOptional: isOptional, readsNilAsZero: readsNilAsZero, offset: element.offset)
            })
    }
}

/// Rows in the making, in one piece of memory which grows.
final class TypedRows<Row> {
    @exclusivity(unchecked) private var rows: UnsafeMutablePointer<Row>
    @exclusivity(unchecked) private var capacity = 64
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var place: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var end: UnsafeMutableRawPointer
    private let stride = MemoryLayout<Row>.stride

    init() {
        rows = .allocate(capacity: capacity)
        place = UnsafeMutableRawPointer(rows)
        end = place + capacity * stride
    }

    deinit {
        rows.deinitialize(count: count)
        rows.deallocate()
    }

    /// Where the next row is to be put.
    @inline(__always)
    func next() -> UnsafeMutableRawPointer {
        if place == end { grow() }
        return place
    }

    /// The next row has been put there.
    @inline(__always)
    func take() {
        count &+= 1
        place += stride
    }

    private func grow() {
        let larger = UnsafeMutablePointer<Row>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: rows, count: count)
        rows.deallocate()
        rows = larger
        capacity *= 2
        place = UnsafeMutableRawPointer(rows) + count * stride
        end = UnsafeMutableRawPointer(rows) + capacity * stride
    }

    /// Hands the rows over.
    func finish() -> [Row] {
        let all = count
        return [Row](unsafeUninitializedCapacity: all) { buffer, initialized in
            if all > 0, let start = buffer.baseAddress { start.moveInitialize(from: rows, count: all) }
            count = 0
            initialized = all
        }
    }
}

extension FetchedValue {
    /// How a statement puts such a value into memory by itself.
    static var fieldKind: (kind: TypedField.Kind, isOptional: Bool) {
        let type: Any.Type = Self.self
        if let kind = TypedField.Kind(type) { return (kind, false) }
        guard let wrapped = (type as? any OptionalValue.Type)?.wrappedType, let kind = TypedField.Kind(wrapped) else {
            return (.other, false)
        }
        return (kind, true)
    }

    /// Reads the column to a place that holds nothing yet.
    static func read(_ column: FetchedColumn, to place: UnsafeMutableRawPointer) throws {
        place.initializeMemory(as: Self.self, to: try _read(column))
    }

    /// What is at the place goes.
    static func clear(_ place: UnsafeMutableRawPointer) {
        place.assumingMemoryBound(to: Self.self).deinitialize(count: 1)
    }
}

extension TypedField.Kind {
    /// `nil` for types that no statement knows.
    init?(_ type: Any.Type) {
        switch ObjectIdentifier(type) {
        case ObjectIdentifier(String.self): self = .text
        case ObjectIdentifier(Double.self): self = .real
        case ObjectIdentifier(Float.self): self = .single
        case ObjectIdentifier(Bool.self): self = .flag
        case ObjectIdentifier(Int16.self): self = .short
        case ObjectIdentifier(Int32.self): self = .medium
        case ObjectIdentifier(Int64.self), ObjectIdentifier(Int.self): self = .long
        case ObjectIdentifier(Date.self): self = .date
        default: return nil
        }
    }
}

extension TupleShape {
    /// Reads what the statement did not put there; on failure the row is empty again.
    @inline(never)
    func readRest(
        _ tuple: FetchTuple, _ columns: RowColumns, to row: UnsafeMutableRawPointer, written: UInt64
    ) throws {
        var index = 0
        do {
            while index < elements.count {
                if index >= TypedField.most || written & 1 << UInt64(index) == 0 {
                    let column = FetchedColumn(value: tuple[index], index: index, columns: columns)
                    try elements[index].type.read(column, to: row + elements[index].offset)
                }
                index += 1
            }
        } catch {
            for (other, element) in elements.enumerated()
            where other < index || other < TypedField.most && written & 1 << UInt64(other) != 0 {
                element.type.clear(row + element.offset)
            }
            throw error
        }
    }
}
