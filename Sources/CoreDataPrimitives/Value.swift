import Foundation

/// An attribute's value in the engine: typed and comparable, without its entity.
///
/// Booleans are `.integer(0)` or `.integer(1)`, floats are widened, dates are seconds since 2001-01-01 UTC, and URIs
/// are strings. Code that knows the attribute converts the value to the attribute's type.
package enum Value: Sendable {
    case null
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data(Data)
    case uuid(UUID)
    case uri(String)
    /// A value that only its owner understands: a transformable attribute's object, a composite's dictionary.
    case opaque(OpaqueValue)

    package var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}

/// A box around a value that the engine passes on without reading it.
///
/// Two boxes are equal if the `isEqual` of one returns true. Without `isEqual`, a box equals only itself.
package final class OpaqueValue: @unchecked Sendable {
    // Safe because both properties are set once and the engine never mutates the object.
    package let object: Any
    package let isEqualTo: (@Sendable (OpaqueValue) -> Bool)?

    package init(_ object: Any, isEqualTo: (@Sendable (OpaqueValue) -> Bool)? = nil) {
        self.object = object
        self.isEqualTo = isEqualTo
    }
}

extension Value: Equatable {
    /// Returns whether both are the same case with the same content: `.integer(1)` is not `.double(1)`.
    ///
    /// NaNs are compared by their bits, so that a NaN equals itself and does not make a row look changed forever.
    package static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        case (.double(let a), .double(let b)): a == b || a.bitPattern == b.bitPattern
        case (.decimal(let a), .decimal(let b)): a == b
        // Swift calls canonically equivalent strings equal; stored text is compared by its bytes.
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.date(let a), .date(let b)): a == b || a.bitPattern == b.bitPattern
        case (.data(let a), .data(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.uri(let a), .uri(let b)): a.utf8.elementsEqual(b.utf8)
        case (.opaque(let a), .opaque(let b)): a === b || (a.isEqualTo?(b) ?? false)
        default: false
        }
    }
}

extension Value: Hashable {
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .double(let value), .date(let value): hasher.combine(value)
        case .decimal(let value): hasher.combine(value)
        case .string(let value), .uri(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .opaque: hasher.combine(1)
        }
    }
}
