import CoreDataPrimitives
import CoreDataStore
import Foundation

/// The columns of a node by the keys of a type.
struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
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

    /// Returns a value of the column: directly for the attribute types, else with the type's decoder.
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
