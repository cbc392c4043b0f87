import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Makes values of a `Decodable` type from the rows of a fetch.
///
/// For the first row, columns are looked up by name and their values are made on request. This shows which columns the
/// type requests, in which order and as which of Swift's types. For every other row a statement writes those values
/// into cells, from which they are taken.
final class RowDecoding {
    let columns: RowColumns
    let typeName: String
    private(set) var root: RowNode!
    @exclusivity(unchecked) private(set) var tuple = FetchTuple([])

    /// As which type each column was asked for.
    private var asked: [CellKind?]
    private var fields: TypedFields?
    /// A value for each field; one bit for each says whether it exists.
    private let cells: UnsafeMutableRawPointer
    /// The field of each column, with its kind; 255 for none.
    private let cellOfColumn: UnsafeMutablePointer<UInt8>
    private let kindOfColumn: UnsafeMutablePointer<CellKind>
    @exclusivity(unchecked) private var full: UInt64 = 0
    /// The fields whose values must be released.
    private var texts: UInt64 = 0
    private var isFirst = true

    private static let cellSize = 16

    init<Row>(_ columns: RowColumns, _ type: Row.Type) {
        self.columns = columns
        typeName = String(describing: type)
        let count = columns.names.count
        asked = Array(repeating: nil, count: count)
        cells = .allocate(byteCount: Self.cellSize * max(1, min(count, TypedField.most)), alignment: 16)
        cellOfColumn = .allocate(capacity: max(count, 1))
        cellOfColumn.initialize(repeating: 255, count: count)
        kindOfColumn = .allocate(capacity: max(count, 1))
        kindOfColumn.initialize(repeating: .text, count: count)
        root = RowNode(self, prefix: "", names: columns.names)
    }

    deinit {
        letGo()
        cells.deallocate()
        cellOfColumn.deallocate()
        kindOfColumn.deallocate()
    }

    func column(_ index: Int) -> FetchedColumn { FetchedColumn(value: tuple[index], index: index, columns: columns) }

    /// There are no more rows.
    func end() {
        root.end()
        root = nil
        tuple = FetchTuple([])
    }

    // MARK: Rows

    /// Moves to a row.
    @inline(__always)
    func begin(_ tuple: FetchTuple) {
        if full & texts != 0 { letGo() }
        self.tuple = tuple
        if let fields {
            full = tuple.write(fields, to: cells)
        } else {
            beginUnknown()
        }
    }

    private func beginUnknown() {
        full = 0
        defer { isFirst = false }
        if !isFirst { plan() }
    }

    /// Makes statements write the requested values into cells.
    private func plan() {
        var wanted: [TypedField] = []
        for (column, kind) in asked.enumerated() where wanted.count < TypedField.most {
            guard let kind else { continue }
            cellOfColumn[column] = UInt8(truncatingIfNeeded: wanted.count)
            kindOfColumn[column] = kind
            if kind.isText { texts |= 1 << UInt64(wanted.count) }
            wanted.append(
                TypedField(
                    column: column, kind.fieldKind, isOptional: kind.isOptional, offset: wanted.count * Self.cellSize))
        }
        let fields = TypedFields(wanted)
        self.fields = fields
        full = tuple.write(fields, to: cells)
    }

    /// Releases the values that were not taken.
    private func letGo() {
        for (column, kind) in asked.enumerated() where kind?.isText == true && cellOfColumn[column] != 255 {
            let cell = Int(cellOfColumn[column])
            guard full & 1 << UInt64(cell) != 0 else { continue }
            (cells + cell * Self.cellSize).assumingMemoryBound(to: String?.self).deinitialize(count: 1)
        }
        full = 0
    }

    /// Returns the cell with a column's value, which the caller takes out of it; `nil` if the value must be made.
    @inline(__always)
    func take(_ column: Int, _ kind: CellKind) -> UnsafeMutableRawPointer? {
        let cell = Int(cellOfColumn[column])
        guard cell != 255, kindOfColumn[column] == kind, full & 1 << UInt64(cell) != 0 else {
            if fields == nil { asked[column] = kind }
            return nil
        }
        full &= ~(1 << UInt64(cell))
        return cells + cell &* Self.cellSize
    }
}

/// The Swift type as which a column is requested.
enum CellKind: UInt8 {
    case text, real, single, flag, short, medium, long, date
    case textIfPresent, realIfPresent, singleIfPresent, flagIfPresent
    case shortIfPresent, mediumIfPresent, longIfPresent, dateIfPresent

    var isOptional: Bool { rawValue >= Self.textIfPresent.rawValue }
    var isText: Bool { self == .text || self == .textIfPresent }

    var fieldKind: TypedField.Kind {
        switch self {
        case .text, .textIfPresent: .text
        case .real, .realIfPresent: .real
        case .single, .singleIfPresent: .single
        case .flag, .flagIfPresent: .flag
        case .short, .shortIfPresent: .short
        case .medium, .mediumIfPresent: .medium
        case .long, .longIfPresent: .long
        case .date, .dateIfPresent: .date
        }
    }
}
