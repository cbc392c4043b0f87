/// Where and as which of Swift's types a column's value is put, of rows that are read into memory of a caller's type.
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
        /// None of these: the value is made otherwise.
        case other
    }

    /// The column of the result.
    package var column: Int
    package var kind: Kind
    package var isOptional: Bool
    /// Whether a number that is NULL is 0.
    package var readsNilAsZero: Bool
    /// In bytes, from the row's start.
    package var offset: Int

    package init(column: Int, _ kind: Kind, isOptional: Bool, readsNilAsZero: Bool = false, offset: Int) {
        self.column = column
        self.kind = kind
        self.isOptional = isOptional
        self.readsNilAsZero = readsNilAsZero
        self.offset = offset
    }

    /// So many fields of a row can be told of in one word.
    package static let most = 64
}

/// Why a statement stopped that put rows into a caller's memory, one after the other.
package enum TypedRowsEnd: BitwiseCopyable, Sendable {
    /// There is no room for the row that the statement is at.
    case full
    /// Of the row that the statement is at only the fields whose bits are set are there.
    case part(UInt64)
    /// There are no more rows.
    case ended
}
