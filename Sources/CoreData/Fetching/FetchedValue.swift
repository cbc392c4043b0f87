import CoreDataPrimitives
import CoreDataStore
import Foundation

/// One value of a row that a fetch found, to be read as a type.
public struct FetchedColumn {
    let value: Value
    let index: Int
    let columns: RowColumns

    /// Whether a number that is nil reads as 0, as accessors have it.
    var readsNilAsZero: Bool { columns.readsNilAsZero }

    private var name: String { columns.describe(index) }

    func failure<T>(_ type: T.Type) -> CocoaError {
        if case .null = value {
            return CoreDataErrors.invalidRequest("\(name) is nil, and no \(type): read it as \(type)?.")
        }
        return CoreDataErrors.invalidRequest("\(name) is \(value.kindName), and no \(type).")
    }

    /// Returns the error for a value of this kind that the type cannot decode.
    func refusal<T>(_ type: T.Type) -> CocoaError {
        if case .null = value { return failure(type) }
        return CoreDataErrors.invalidRequest(
            "\(name) is \(value.kindName) that no value of \(type) has: an enumeration, for example, lacks a case for it."
        )
    }
}

/// The names and entity of the columns of a fetch: one for all rows.
final class RowColumns {
    let names: [String]
    let runtime: ModelRuntime
    let readsNilAsZero: Bool
    /// The store of the row that is read.
    @exclusivity(unchecked) var store: AttachedStore?
    private let entityName: String
    /// The type that rows are read as; `nil` for tuples.
    private let typeName: String?

    init(
        _ names: [String], ofEntity entityName: String, as typeName: String?, in runtime: ModelRuntime,
        readsNilAsZero: Bool
    ) {
        self.names = names
        self.entityName = entityName
        self.typeName = typeName
        self.runtime = runtime
        self.readsNilAsZero = readsNilAsZero
    }

    /// What errors call the column: "'unit.name' of Item".
    func describe(_ index: Int) -> String {
        (typeName.map { $0 + ": " } ?? "") + "'\(names[index])' of \(entityName)"
    }
}

/// A type that a column of a fetch can be read as: every attribute type, an object's ID, and optionals of these.
///
/// An enumeration of yours is one when you say so, by its raw value:
///
///     enum Mood: Int16, FetchedValue { case calm, merry }
public protocol FetchedValue {
    /// Returns the column's value.
    ///
    /// - Throws: an error that names the column if it has no such value.
    static func _read(_ column: FetchedColumn) throws -> Self
}

extension FetchedValue where Self: FixedWidthInteger {
    /// A whole number that fits.
    public static func _read(_ column: FetchedColumn) throws -> Self {
        switch column.value {
        case .integer(let value): if let number = Self(exactly: value) { return number }
        case .double(let value): if let number = Self(exactly: value) { return number }
        case .decimal(let value): if let number = Self(value.description) { return number }
        case .null: if column.readsNilAsZero { return 0 }
        default: break
        }
        throw column.failure(Self.self)
    }
}

extension Int: FetchedValue {}
extension Int16: FetchedValue {}
extension Int32: FetchedValue {}
extension Int64: FetchedValue {}

extension FetchedValue where Self: RawRepresentable, RawValue: FetchedValue {
    /// The case of that raw value.
    public static func _read(_ column: FetchedColumn) throws -> Self {
        guard let value = Self(rawValue: try RawValue._read(column)) else { throw column.refusal(Self.self) }
        return value
    }
}

extension Bool: FetchedValue {
    public static func _read(_ column: FetchedColumn) throws -> Bool {
        switch column.value {
        case .integer(let value): return value != 0
        case .null where column.readsNilAsZero: return false
        default: throw column.failure(Bool.self)
        }
    }
}

extension Double: FetchedValue {
    public static func _read(_ column: FetchedColumn) throws -> Double {
        switch column.value {
        case .double(let value): return value
        case .integer(let value): return Double(value)
        case .decimal(let value): return Double(value.description) ?? .nan
        case .null where column.readsNilAsZero: return 0
        default: throw column.failure(Double.self)
        }
    }
}

extension Float: FetchedValue {
    public static func _read(_ column: FetchedColumn) throws -> Float { Float(try Double._read(column)) }
}

extension Decimal: FetchedValue {
    public static func _read(_ column: FetchedColumn) throws -> Decimal {
        switch column.value {
        case .decimal(let value): return value
        case .integer(let value): return Decimal(value)
        case .double(let value): return Decimal(string: value.description) ?? Decimal(value)
        default: throw column.failure(Decimal.self)
        }
    }
}

extension String: FetchedValue {
    public static func _read(_ column: FetchedColumn) throws -> String {
        switch column.value {
        case .string(let value), .uri(let value): return value
        default: throw column.failure(String.self)
        }
    }
}

extension Date: FetchedValue {
    public static func _read(_ column: FetchedColumn) throws -> Date {
        guard case .date(let value) = column.value else { throw column.failure(Date.self) }
        return Date(timeIntervalSinceReferenceDate: value)
    }
}

extension Data: FetchedValue {
    public static func _read(_ column: FetchedColumn) throws -> Data {
        guard case .data(let value) = column.value else { throw column.failure(Data.self) }
        return value
    }
}

extension UUID: FetchedValue {
    public static func _read(_ column: FetchedColumn) throws -> UUID {
        guard case .uuid(let value) = column.value else { throw column.failure(UUID.self) }
        return value
    }
}

extension URL: FetchedValue {
    public static func _read(_ column: FetchedColumn) throws -> URL {
        switch column.value {
        case .uri(let text), .string(let text):
            if let url = URL(string: text) { return url }
        default: break
        }
        throw column.failure(URL.self)
    }
}

extension PersistentID: FetchedValue {
    public static func _read(_ column: FetchedColumn) throws -> PersistentID {
        guard case .opaque(let box) = column.value, let key = box.object as? RowKey,
            let store = column.columns.store
        else { throw column.failure(PersistentID.self) }
        return PersistentID(
            unchecked: NSManagedObjectID(
                runtime: column.columns.runtime.entities[key.entity], primaryKey: key.primaryKey, store: store))
    }
}

extension Optional: FetchedValue where Wrapped: FetchedValue {
    public static func _read(_ column: FetchedColumn) throws -> Wrapped? {
        if case .null = column.value { return nil }
        return try Wrapped._read(column)
    }
}

extension Value {
    /// The name of the value in an error; never its content.
    fileprivate var kindName: String {
        switch self {
        case .null: "nil"
        case .integer: "a whole number"
        case .double, .decimal: "a number"
        case .string: "a text"
        case .date: "a date"
        case .data: "data"
        case .uuid: "a UUID"
        case .uri: "a URL"
        case .opaque: "an object's ID"
        }
    }
}
