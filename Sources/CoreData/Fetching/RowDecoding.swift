import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Makes values of a `Decodable` type of the rows of a fetch.
///
/// Columns are looked up by name for the first row; a type asks for them in the same order for every other.
final class RowDecoding {
    let columns: RowColumns
    let typeName: String
    private(set) var root: RowNode!
    var tuple = FetchTuple([])

    init<Row>(_ columns: RowColumns, _ type: Row.Type) {
        self.columns = columns
        typeName = String(describing: type)
        root = RowNode(self, prefix: "", names: columns.names)
    }

    func column(_ index: Int) -> FetchedColumn { FetchedColumn(value: tuple[index], index: index, columns: columns) }
}

/// The columns below one key path: those of the row, or of what a to-one leads to.
final class RowNode: Decoder {
    unowned let row: RowDecoding
    private let prefix: String
    private var columns: [String: Int] = [:]
    private var children: [String: RowNode] = [:]
    /// What can be asked for, in the order of the columns.
    private var keys: [String] = []
    /// Of a child: the column of the to-one's key, which is nil where it leads nowhere.
    private var presence: Int?
    /// The keys in the order in which they were asked for, with their columns.
    private var order: [(name: String, column: Int)] = []
    private var next = 0

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ row: RowDecoding, prefix: String, names: [String]) {
        self.row = row
        self.prefix = prefix
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

    /// The column of that name.
    @inline(__always)
    func column(_ name: String) throws -> Int {
        if next < order.count, order[next].name == name {
            next += 1
            return order[next - 1].column
        }
        return try found(name)
    }

    private func found(_ name: String) throws -> Int {
        guard let column = columns[name] else {
            throw CoreDataErrors.invalidRequest(
                "\(row.typeName): '\(prefix)\(name)' is none of the columns that are fetched: "
                    + columns.keys.sorted().joined(separator: ", ") + ".")
        }
        if let place = order.firstIndex(where: { $0.name == name }) {
            next = place + 1
        } else {
            order.append((name, column))
            next = order.count
        }
        return column
    }

    // MARK: Decoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        next = 0
        return KeyedDecodingContainer(RowContainer<Key>(node: self))
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
        if let child = node.child(key.stringValue) { return child.isNil }
        return node.row.tuple[try node.column(key.stringValue)].isNull
    }

    private func column(_ key: Key) throws -> FetchedColumn {
        node.row.column(try node.column(key.stringValue))
    }

    private func value(_ key: Key) throws -> Value { node.row.tuple[try node.column(key.stringValue)] }

    // MARK: Values

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let index = try node.column(key.stringValue)
        if case .string(let text) = node.row.tuple[index] { return text }
        return try String._read(node.row.column(index))
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        let index = try node.column(key.stringValue)
        switch node.row.tuple[index] {
        case .string(let text): return text
        case .null: return nil
        default: return try String._read(node.row.column(index))
        }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let index = try node.column(key.stringValue)
        if case .double(let number) = node.row.tuple[index] { return number }
        return try Double._read(node.row.column(index))
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        let index = try node.column(key.stringValue)
        switch node.row.tuple[index] {
        case .double(let number): return number
        case .null: return nil
        default: return try Double._read(node.row.column(index))
        }
    }

    private func integer<T: FixedWidthInteger>(_ type: T.Type, _ key: Key) throws -> T {
        let index = try node.column(key.stringValue)
        if case .integer(let number) = node.row.tuple[index], let fits = T(exactly: number) { return fits }
        return try Whole<T>._read(node.row.column(index)).value
    }

    private func integerIfPresent<T: FixedWidthInteger>(_ type: T.Type, _ key: Key) throws -> T? {
        let index = try node.column(key.stringValue)
        switch node.row.tuple[index] {
        case .null: return nil
        case .integer(let number): if let fits = T(exactly: number) { return fits }
        default: break
        }
        return try Whole<T>._read(node.row.column(index)).value
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try Bool._read(column(key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { Float(try decode(Double.self, forKey: key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try Bool?._read(column(key)) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try decodeIfPresent(Double.self, forKey: key).map { Float($0) }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try integerIfPresent(type, key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if let child = node.child(key.stringValue) {
            guard !child.isNil else {
                throw CoreDataErrors.invalidRequest(
                    "\(node.row.typeName): '\(key.stringValue)' leads nowhere, and is no \(type): declare it as \(type)?."
                )
            }
            return try T(from: child)
        }
        return try RowCell.decode(type, column(key))
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        if let child = node.child(key.stringValue) { return child.isNil ? nil : try T(from: child) }
        let index = try node.column(key.stringValue)
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
