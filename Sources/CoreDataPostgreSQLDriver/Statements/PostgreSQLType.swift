import CPostgreSQL

/// The types of the server that are read and written in their wire format.
enum PostgreSQLType {
    static let boolean: Oid = 16
    static let bytes: Oid = 17
    static let int8: Oid = 20
    static let int2: Oid = 21
    static let int4: Oid = 23
    static let text: Oid = 25
    static let oid: Oid = 26
    static let float4: Oid = 700
    static let float8: Oid = 701
    /// In arrays: decimals, as texts.
    static let varchar: Oid = 1043
    static let timestampTZ: Oid = 1184
    static let numeric: Oid = 1700
    static let uuid: Oid = 2950

    /// Returns the element type of an array type; `nil` if it is no array.
    static func element(of type: Oid) -> Oid? {
        switch type {
        case 1000: boolean
        case 1001: bytes
        case 1005: int2
        case 1007: int4
        case 1009: text
        case 1015: varchar
        case 1016: int8
        case 1022: float8
        case 1185: timestampTZ
        case 2951: uuid
        default: nil
        }
    }

    /// The microseconds from 2000-01-01, the server's epoch, to 2001-01-01, ours.
    static let epoch: Int64 = 31_622_400_000_000
}
