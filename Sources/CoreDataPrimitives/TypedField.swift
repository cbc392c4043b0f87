/// The field in a caller's row memory that receives a column's value: its Swift type and offset.
///
///     (String?, Float, Bool)      // text at 0, optional; single at 16; flag at 20
package struct TypedField: BitwiseCopyable, Sendable {
    package enum Kind: UInt8, BitwiseCopyable, Sendable {
        case text
        case real
        case single
        case flag
        case short
        case medium
        case long
        case date
        /// Another type; the value is converted separately.
        case other
    }

    /// The index of the column in the result.
    package var column: Int
    package var kind: Kind
    package var isOptional: Bool
    /// Whether a NULL number is read as 0.
    package var readsNilAsZero: Bool
    /// The offset in bytes from the row's start.
    package var offset: Int

    package init(column: Int, _ kind: Kind, isOptional: Bool, readsNilAsZero: Bool = false, offset: Int) {
        self.column = column
        self.kind = kind
        self.isOptional = isOptional
        self.readsNilAsZero = readsNilAsZero
        self.offset = offset
    }

    /// The maximum number of fields per row: one bit of a word represents each field.
    package static let most = 64
}

/// The reason why a statement stopped writing rows to a caller's memory.
package enum TypedRowsEnd: BitwiseCopyable, Sendable {
    /// The memory has no room for the statement's current row.
    case full
    /// The statement's current row is incomplete: it has only the fields whose bits are set.
    case part(UInt64)
    /// There are no more rows.
    case ended
}
