import Foundation

/// What an attribute's values are to the engine: few kinds, of which each attribute type has one.
///
/// Code goes by the kind wherever all types of a kind are alike, so that another type of a known kind needs nothing there:
/// whole numbers of 16, 32 and 64 bits are kept, compared and written in one way.
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
    /// Of 32 bits: widened where it is kept.
    case single
    case decimal
    case date
    case text
    /// A URL, kept as its text.
    case link
    /// A UUID.
    case identifier
    case bytes
    /// Bytes that only their owner understands: what a transformer makes of an object.
    case object
    /// Another row's ID; only results have it.
    case reference
    /// Several values under one name.
    case composite

    /// How a value of the kind is kept in a row.
    package var columnKind: ColumnKind {
        switch self {
        case .integer, .boolean, .reference: .integer
        case .real, .single, .date: .real
        case .decimal, .text, .link: .text
        case .identifier, .bytes, .object, .composite: .blob
        }
    }

    /// Numbers that code may have as scalars.
    package var isScalarNumber: Bool {
        switch self {
        case .integer, .boolean, .real, .single: true
        case .decimal, .date, .text, .link, .identifier, .bytes, .object, .reference, .composite: false
        }
    }

    /// Numbers, decimal ones included, that are more than true or false.
    package var isQuantity: Bool {
        switch self {
        case .integer, .real, .single, .decimal: true
        case .boolean, .date, .text, .link, .identifier, .bytes, .object, .reference, .composite: false
        }
    }

    /// Whether a column's bytes are what a transformer made of an object.
    package var isOpaque: Bool { self == .object || self == .composite }
}

// MARK: Words of rows

extension RowSnapshot {
    /// A column's value as the kind makes it: data for what only its owner understands.
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
    /// Sets a column to a value as the column's kind has it; what only its owner understands becomes NULL.
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
    /// The UUID of 16 bytes; `nil` for any other number of them.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    /// Calls `body` with the 16 bytes that a column keeps.
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withUnsafeBytes(of: uuid, body)
    }

    /// The 16 bytes that a column keeps.
    package var data: Data { withBytes { Data($0) } }
}
