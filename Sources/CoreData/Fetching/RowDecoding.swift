import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Makes values of a `Decodable` type of the rows of a fetch.
///
/// The first row's columns are looked up by name and made as they are asked for. What the type asked for, in which order and as which
/// of Swift's types, is known then: of every other row a statement puts those values into cells, from where they are taken.
final class RowDecoding {
    let columns: RowColumns
    let typeName: String
    private(set) var root: RowNode!
    @exclusivity(unchecked) private(set) var tuple = FetchTuple([])

    /// As which type each column was asked for.
    private var asked: [CellKind?]
    private var fields: TypedFields?
    /// A value for each field; which ones are there, a bit each says.
    private let cells: UnsafeMutableRawPointer
    /// The field of each column, with its kind; 255 where there is none.
    private let cellOfColumn: UnsafeMutablePointer<UInt8>
    private let kindOfColumn: UnsafeMutablePointer<CellKind>
    @exclusivity(unchecked) private var full: UInt64 = 0
    /// The fields whose values need to be let go.
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

    /// Goes on to a row.
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

    /// Has statements put into cells what was asked for.
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

    /// Lets go of what nobody took.
    private func letGo() {
        for (column, kind) in asked.enumerated() where kind?.isText == true && cellOfColumn[column] != 255 {
            let cell = Int(cellOfColumn[column])
            guard full & 1 << UInt64(cell) != 0 else { continue }
            (cells + cell * Self.cellSize).assumingMemoryBound(to: String?.self).deinitialize(count: 1)
        }
        full = 0
    }

    /// The cell with a column's value, which whoever asks takes out of it; `nil` where the value is to be made.
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

/// As what a column is asked for.
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

/// The columns below one key path: those of the row, or of what a to-one leads to.
final class RowNode: Decoder {
    let row: RowDecoding
    private let prefix: String
    private var columns: [String: Int] = [:]
    private var children: [String: RowNode] = [:]
    let hasChildren: Bool
    /// What can be asked for, in the order of the columns.
    private var keys: [String] = []
    /// Of a child: the column of the to-one's key, which is nil where it leads nowhere.
    private var presence: Int?
    /// The keys in the order in which they were asked for.
    private var order: [String] = []
    /// Of each its column, and its only byte; -1 where it has none, or more.
    private let asked: UnsafeMutablePointer<(column: Int, byte: Int)>
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var next = 0
    /// A container, and the type of its keys: the same type asks for one for each row.
    @exclusivity(unchecked) private var container: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var keyType: ObjectIdentifier?
    private var releaseContainer: ((UnsafeMutableRawPointer) -> Void)?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ row: RowDecoding, prefix: String, names: [String]) {
        self.row = row
        self.prefix = prefix
        var columns: [String: Int] = [:]
        var children: [String: RowNode] = [:]
        for (index, name) in names.enumerated() where name.hasPrefix(prefix) {
            let rest = name.dropFirst(prefix.count)
            guard let dot = rest.firstIndex(of: ".") else {
                if columns[String(rest)] == nil, children[String(rest)] == nil { keys.append(String(rest)) }
                columns[String(rest)] = index
                continue
            }
            let key = String(rest[..<dot])
            if columns[key] == nil, children[key] == nil { keys.append(key) }
            if children[key] == nil { children[key] = RowNode(row, prefix: prefix + key + ".", names: names) }
        }
        for (key, child) in children { child.presence = columns[key] }
        self.columns = columns
        self.children = children
        asked = .allocate(capacity: max(columns.count, 1))
        hasChildren = !children.isEmpty
    }

    deinit {
        forgetContainer()
        asked.deallocate()
    }

    /// The container and the node keep each other until then.
    fileprivate func end() {
        forgetContainer()
        for child in children.values { child.end() }
    }

    private func forgetContainer() {
        guard let container else { return }
        self.container = nil
        keyType = nil
        releaseContainer?(container)
    }

    /// Whether the to-one that leads here leads nowhere.
    var isNil: Bool {
        if let presence { return row.tuple[presence].isNull }
        return columns.values.allSatisfy { row.tuple[$0].isNull } && children.values.allSatisfy(\.isNil)
    }

    /// Those that are not nil, as dictionaries have them.
    var presentKeys: [String] {
        keys.filter { key in
            if let child = children[key] { return !child.isNil }
            return columns[key].map { !row.tuple[$0].isNull } ?? false
        }
    }

    func child(_ name: String) -> RowNode? { children.isEmpty ? nil : children[name] }

    func has(_ name: String) -> Bool { columns[name] != nil || children[name] != nil }

    /// The column of that key.
    @inline(__always)
    func column<Key: CodingKey>(_ key: Key) throws -> Int {
        let byte = Self.byte(of: key)
        if next < count, byte >= 0 ? asked[next].byte == byte : order[next] == key.stringValue {
            next &+= 1
            return asked[next &- 1].column
        }
        return try found(key.stringValue, byte)
    }

    /// What tells a key of an enumeration from its others, without asking it for its name.
    @inline(__always)
    private static func byte<Key: CodingKey>(of key: Key) -> Int {
        guard MemoryLayout<Key>.size == 1 else { return -1 }
        return withUnsafePointer(to: key) { Int(UnsafeRawPointer($0).load(as: UInt8.self)) }
    }

    private func found(_ name: String, _ byte: Int) throws -> Int {
        guard let column = columns[name] else {
            throw CoreDataErrors.invalidRequest(
                "\(row.typeName): '\(prefix)\(name)' is none of the columns that are fetched: "
                    + columns.keys.sorted().joined(separator: ", ") + ".")
        }
        if let place = order.indices.first(where: { order[$0] == name && asked[$0].byte == byte }) {
            next = place + 1
        } else if count < columns.count {
            (asked + count).initialize(to: (column, byte))
            order.append(name)
            count += 1
            next = count
        }
        return column
    }

    // MARK: Decoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        next = 0
        if keyType == ObjectIdentifier(type), let container {
            return container.assumingMemoryBound(to: KeyedDecodingContainer<Key>.self).pointee
        }
        return make(type)
    }

    private func make<Key: CodingKey>(_ type: Key.Type) -> KeyedDecodingContainer<Key> {
        let made = KeyedDecodingContainer(RowContainer<Key>(node: self))
        // Keys of another type, as of a type's superclass, are told by their own bytes.
        (order, count) = ([], 0)
        forgetContainer()
        let place = UnsafeMutablePointer<KeyedDecodingContainer<Key>>.allocate(capacity: 1)
        place.initialize(to: made)
        container = UnsafeMutableRawPointer(place)
        keyType = ObjectIdentifier(type)
        releaseContainer = { container in
            let place = container.assumingMemoryBound(to: KeyedDecodingContainer<Key>.self)
            place.deinitialize(count: 1)
            place.deallocate()
        }
        return made
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw CoreDataErrors.invalidRequest("\(row.typeName): a row has names, and is no list of values.")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw CoreDataErrors.invalidRequest("\(row.typeName): a row has names, and is no single value.")
    }
}

/// The columns of a node by the keys of a type.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: RowNode

    var codingPath: [any CodingKey] { [] }
    /// Dictionaries ask for them.
    var allKeys: [Key] { node.presentKeys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { node.has(key.stringValue) }

    func decodeNil(forKey key: Key) throws -> Bool {
        if node.hasChildren, let child = node.child(key.stringValue) { return child.isNil }
        return node.row.tuple[try node.column(key)].isNull
    }

    private func column(_ key: Key) throws -> FetchedColumn { node.row.column(try node.column(key)) }

    // MARK: Values

    /// A value that a statement has put into its cell, else made of the column.
    @inline(__always)
    private func value<T: FetchedValue>(_ kind: CellKind, _ key: Key) throws -> T {
        let index = try node.column(key)
        if let cell = node.row.take(index, kind) {
            return cell.assumingMemoryBound(to: T.self).move()
        }
        return try T._read(node.row.column(index))
    }

    @inline(__always)
    private func valueIfPresent<T: FetchedValue>(_ kind: CellKind, _ key: Key) throws -> T? {
        let index = try node.column(key)
        if let cell = node.row.take(index, kind) {
            return cell.assumingMemoryBound(to: T?.self).move()
        }
        return try T?._read(node.row.column(index))
    }

    private func integer<T: FixedWidthInteger>(_ type: T.Type, _ key: Key) throws -> T {
        try Whole<T>._read(column(key)).value
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(.text, key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(.real, key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(.single, key) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(.flag, key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(.long, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(.short, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(.medium, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(.long, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try valueIfPresent(.textIfPresent, key)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try valueIfPresent(.realIfPresent, key)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try valueIfPresent(.singleIfPresent, key)
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try valueIfPresent(.flagIfPresent, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try valueIfPresent(.longIfPresent, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try valueIfPresent(.shortIfPresent, key)
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try valueIfPresent(.mediumIfPresent, key)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try valueIfPresent(.longIfPresent, key)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if node.hasChildren, let child = node.child(key.stringValue) {
            guard !child.isNil else {
                throw CoreDataErrors.invalidRequest(
                    "\(node.row.typeName): '\(key.stringValue)' leads nowhere, and is no \(type): declare it as \(type)?."
                )
            }
            return try T(from: child)
        }
        let index = try node.column(key)
        if type == Date.self, let cell = node.row.take(index, .date) {
            return cell.assumingMemoryBound(to: T.self).move()
        }
        return try RowCell.decode(type, node.row.column(index))
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        if node.hasChildren, let child = node.child(key.stringValue) { return child.isNil ? nil : try T(from: child) }
        let index = try node.column(key)
        if type == Date.self, let cell = node.row.take(index, .dateIfPresent) {
            return cell.assumingMemoryBound(to: T?.self).move()
        }
        if node.row.tuple[index].isNull { return nil }
        return try RowCell.decode(type, node.row.column(index))
    }

    // MARK: Containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        guard let child = node.child(key.stringValue) else { throw try column(key).failure([String: Any].self) }
        return try child.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw try column(key).failure([Any].self)
    }

    func superDecoder() throws -> any Decoder { node }
    func superDecoder(forKey key: Key) throws -> any Decoder { RowCell(try column(key)) }
}

/// A whole number of a type that no attribute has.
private struct Whole<Number: FixedWidthInteger>: FetchedValue {
    var value: Number

    static func _read(_ column: FetchedColumn) throws -> Self {
        guard let whole = try? Int64._read(column), let value = Number(exactly: whole) else {
            throw column.failure(Number.self)
        }
        return Self(value: value)
    }
}

/// One column as a decoder, for types that decode a single value, such as enumerations.
struct RowCell: Decoder, SingleValueDecodingContainer {
    private let column: FetchedColumn

    init(_ column: FetchedColumn) { self.column = column }

    /// A value of the column: of one of the attribute types directly, else by what the type decodes.
    static func decode<T: Decodable>(_ type: T.Type, _ column: FetchedColumn) throws -> T {
        if let value = type as? any FetchedValue.Type, let result = try value._read(column) as? T { return result }
        do { return try T(from: RowCell(column)) } catch is DecodingError {
            // Such an error of an enumeration's names no column.
            throw column.refusal(type)
        }
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw column.failure([String: Any].self)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw column.failure([Any].self) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { column.value.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try Bool._read(column) }
    func decode(_ type: String.Type) throws -> String { try String._read(column) }
    func decode(_ type: Double.Type) throws -> Double { try Double._read(column) }
    func decode(_ type: Float.Type) throws -> Float { try Float._read(column) }
    func decode(_ type: Int.Type) throws -> Int { try Int._read(column) }
    func decode(_ type: Int8.Type) throws -> Int8 { try Whole<Int8>._read(column).value }
    func decode(_ type: Int16.Type) throws -> Int16 { try Int16._read(column) }
    func decode(_ type: Int32.Type) throws -> Int32 { try Int32._read(column) }
    func decode(_ type: Int64.Type) throws -> Int64 { try Int64._read(column) }
    func decode(_ type: UInt.Type) throws -> UInt { try Whole<UInt>._read(column).value }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try Whole<UInt8>._read(column).value }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try Whole<UInt16>._read(column).value }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try Whole<UInt32>._read(column).value }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try Whole<UInt64>._read(column).value }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try Self.decode(type, column) }
}
