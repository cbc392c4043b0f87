import Foundation

/// The kind of an attribute's values: the engine distinguishes a few kinds, and each attribute type has one.
///
/// Code switches on the kind wherever all types of a kind behave alike, so a new type of a known kind needs no change
/// there. For example, integers of 16, 32 and 64 bits are stored, compared and written alike.
///
/// | Kind | ``Value`` | Column |
/// | --- | --- | --- |
/// | integer, boolean | `.integer` | integer |
/// | real, single | `.double` | real |
/// | date | `.date` | real |
/// | decimal | `.decimal` | text |
/// | text, link | `.string`, `.uri` | text |
/// | identifier | `.uuid` | blob |
/// | bytes | `.data` | blob |
/// | object | `.data` or `.opaque` | blob |
/// | reference | none | integer |
/// | composite | that of each element | none of its own |
package enum ValueKind: UInt8, Sendable, CaseIterable {
    case integer
    case boolean
    case real
    /// A 32-bit floating-point number, which is stored widened.
    case single
    case decimal
    case date
    case text
    /// A URL, stored as its text.
    case link
    /// A UUID.
    case identifier
    case bytes
    /// Bytes that only their owner understands: an object encoded by a transformer.
    case object
    /// Another row's ID; only results contain it.
    case reference
    /// Several values under one name.
    case composite

    /// The kind of column that stores the values in a row.
    package var columnKind: ColumnKind {
        switch self {
        case .integer, .boolean, .reference: .integer
        case .real, .single, .date: .real
        case .decimal, .text, .link: .text
        case .identifier, .bytes, .object, .composite: .blob
        }
    }

    /// Whether generated code can declare the values as scalar numbers.
    package var isScalarNumber: Bool {
        switch self {
        case .integer, .boolean, .real, .single: true
        case .decimal, .date, .text, .link, .identifier, .bytes, .object, .reference, .composite: false
        }
    }

    /// Whether the values are numbers (also decimal ones), not booleans.
    package var isQuantity: Bool {
        switch self {
        case .integer, .real, .single, .decimal: true
        case .boolean, .date, .text, .link, .identifier, .bytes, .object, .reference, .composite: false
        }
    }

    /// Whether a column's bytes are an object encoded by a transformer.
    package var isOpaque: Bool { self == .object || self == .composite }
}

// MARK: Words of rows

extension RowSnapshot {
    /// Returns a column's value according to the kind; values that only their owner understands are returned as data.
    package func value(_ column: Int, _ kind: ValueKind) -> Value {
        guard column >= 0, !isNull(column) else { return .null }
        switch kind {
        case .integer, .reference: return .integer(integer(column))
        case .boolean: return .integer(integer(column) == 0 ? 0 : 1)
        case .real, .single: return .double(real(column))
        case .date: return .date(real(column))
        case .decimal: return Decimal(storedText: text(column)).map { .decimal($0) } ?? .null
        case .text: return .string(text(column))
        case .link: return .uri(text(column))
        case .identifier: return withBytes(column) { UUID(bytes: $0).map { .uuid($0) } ?? .null }
        case .bytes, .object, .composite: return .data(data(column))
        }
    }
}

extension RowBuilder {
    /// Sets a column to a value according to the column's kind; a value that only its owner understands becomes NULL.
    package func set(_ value: Value, _ kind: ColumnKind, at column: Int) {
        switch (value, kind) {
        case (.null, _): setNull(at: column)
        case (.integer(let value), .real): setReal(Double(value), at: column)
        case (.integer(let value), .text): setText(String(value), at: column)
        case (.integer(let value), _): setInteger(value, at: column)
        case (.double(let value), .integer), (.date(let value), .integer):
            setInteger(Int64(exactly: value.rounded(.towardZero)) ?? 0, at: column)
        case (.double(let value), .text), (.date(let value), .text): setText(value.description, at: column)
        case (.double(let value), _), (.date(let value), _): setReal(value, at: column)
        case (.decimal(let value), .real): setReal(NSDecimalNumber(decimal: value).doubleValue, at: column)
        case (.decimal(let value), .integer): setInteger(NSDecimalNumber(decimal: value).int64Value, at: column)
        case (.decimal(let value), _): setText(value.description, at: column)
        case (.string(let value), _), (.uri(let value), _): setText(value, at: column)
        case (.data(let value), _): setData(value, at: column)
        case (.uuid(let value), _): value.withBytes { setBytes($0, at: column) }
        case (.opaque, _): setNull(at: column)
        }
    }
}

extension UUID {
    /// The UUID of 16 bytes; `nil` for another number of bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    /// Calls `body` with the 16 bytes that a column stores.
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withUnsafeBytes(of: uuid, body)
    }

    /// The 16 bytes that a column stores.
    package var data: Data { withBytes { Data($0) } }
}
