import Foundation

/// A value as devices exchange it.
///
/// Values have one form each: two devices that mean the same value have the same bytes (see `SyncValue+Bytes.swift`).
package enum SyncValue: Hashable, Sendable {
    case null
    case integer(Int64)
    /// By bit pattern; -0 and 0 are two values.
    case double(UInt64)
    /// The shortest text of a decimal number.
    case decimal(String)
    case string(String)
    /// Seconds since 2001-01-01 UTC, as the bit pattern of a double.
    case date(UInt64)
    case data(Data)
    case uuid(Identifier128)
    case uri(String)
    /// Another object.
    case reference(GlobalID)
    /// A value that is too large for a segment: a file of its own, by the SHA-256 of the value's bytes.
    case blob(digest: Data, size: Int)
    /// Of a state in the sidecar: the value is in the store.
    case stored

    private static func sameBytes(_ a: String, _ b: String) -> Bool {
        var (a, b) = (a, b)
        return a.withUTF8 { one in
            b.withUTF8 { other in
                guard one.count == other.count, let first = one.baseAddress, let second = other.baseAddress else {
                    return one.count == other.count
                }
                return memcmp(first, second, one.count) == 0
            }
        }
    }

    /// Whether it is ``null``, which costs less to see than a comparison.
    var isNull: Bool { if case .null = self { true } else { false } }

    package static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.null, .null), (.stored, .stored): true
        case (.integer(let a), .integer(let b)): a == b
        case (.double(let a), .double(let b)), (.date(let a), .date(let b)): a == b
        // Swift calls canonically equivalent strings equal; devices compare bytes.
        case (.decimal(let a), .decimal(let b)), (.string(let a), .string(let b)), (.uri(let a), .uri(let b)):
            sameBytes(a, b)
        case (.data(let a), .data(let b)): a == b
        case (.uuid(let a), .uuid(let b)), (.reference(let a), .reference(let b)): a == b
        case (.blob(let a, let m), .blob(let b, let n)): a == b && m == n
        default: false
        }
    }
}
