import CoreDataPrimitives
import CoreDataStore
import Foundation

/// The layout of a tuple's elements in memory: one after the other, each aligned for its type.
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

    /// Element *i* is column *i*; a number that is nil is 0.
    var writing: RowWriting {
        RowWriting(
            elements.enumerated().map { RowWriting.Property(type: $1.type, column: $0, offset: $1.offset) }, parts: [],
            readsNilAsZero: true)
    }
}

/// Rows in the making: a statement puts them into a portion, still in the processor's cache when it is moved to the
/// others.
final class TypedRows<Row> {
    @exclusivity(unchecked) private var rows: [Row] = []
    private let portion: UnsafeMutablePointer<Row>
    @exclusivity(unchecked) private var count = 0
    private let stride = MemoryLayout<Row>.stride
    private let capacity = max(16, min(512, 16_384 / max(1, MemoryLayout<Row>.stride)))

    init() { portion = .allocate(capacity: capacity) }

    deinit {
        portion.deinitialize(count: count)
        portion.deallocate()
    }

    /// The address of the next row.
    @inline(__always)
    func next() -> UnsafeMutableRawPointer {
        if count == capacity { empty() }
        return UnsafeMutableRawPointer(portion + count)
    }

    /// The next row has been put there.
    @inline(__always)
    func take() { count &+= 1 }

    /// Takes the tuple's row, and the following rows that the statement writes there itself.
    func take(_ tuple: FetchTuple, _ writing: RowWriting, _ columns: RowColumns) throws {
        while true {
            let place = next()
            var found = 0
            defer { count &+= found }
            let end = try tuple.write(
                writing.fields, to: place, stride: stride, room: capacity &- count, rows: &found)
            switch end {
            case .full: continue
            case .ended: return
            case .part(let written):
                try writing.writeRest(tuple, columns, to: place + found &* stride, written: written)
                found &+= 1
                return
            }
        }
    }

    private func empty() {
        let found = count
        count = 0
        rows.append(addingCapacity: found) { places in
            places.withUnsafeMutableBufferPointer { buffer, initialized in
                guard let start = buffer.baseAddress else { return }
                start.moveInitialize(from: portion, count: found)
                initialized = found
            }
        }
    }

    /// Hands the rows over.
    func finish() -> [Row] {
        empty()
        return rows
    }
}

extension FetchedValue {
    /// The form in which a statement writes such a value into memory.
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

    /// Destroys the value at this place.
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
