import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The SQL form of a predicate's expression.
indirect enum QueryTerm {
    /// A constant value, including NULL.
    case constant(Value)
    /// An object constant; `nil` for an object without a row in this store, which therefore equals none.
    case key(RowKey?)
    case scalar(QueryScalar)
    case row(RowReference)
    /// A row's entity, or its name: for `entity` and `entity.name`.
    case entity(RowReference)
    /// A to-many: rows or values of another SELECT.
    case collection(QueryCollection)
    /// `{a, b}`.
    case list([QueryTerm])
}

/// An expression with one value per row, and its known properties.
struct QueryScalar {
    enum Kind: Hashable {
        case integer
        case real
        case decimal
        case string
        case date
        case data
        case identifier
        case link
        /// Bytes that only their owner understands: transformable and composite attributes, external data.
        case opaque
    }

    var sql: SQLExpression
    var kind: Kind
    /// Whether it may be NULL.
    var isOptional: Bool
    /// Whether it is the first column of an index.
    var isIndexed = false
    /// The trigram index of the column, and the key of its row.
    var search: (index: SearchIndex, key: SQLExpression)?

    /// Whether it is a NaN constant, which no column contains: databases store it as NULL.
    var isNaN: Bool {
        switch sql {
        case .bind(.real(let value)), .cast(.bind(.real(let value)), to: .date): value.isNaN
        default: false
        }
    }

    /// Converts an integer constant that is compared with doubles to a double: otherwise the database would convert it
    /// for every row.
    func matching(_ other: QueryScalar) -> QueryScalar {
        guard other.kind == .real, case .bind(.integer(let value)) = sql, let real = Double(exactly: value) else {
            return self
        }
        return QueryScalar(.bind(.real(real)), .real, isOptional: isOptional)
    }

    init(_ sql: SQLExpression, _ kind: Kind, isOptional: Bool = true) {
        self.sql = sql
        self.kind = kind
        self.isOptional = isOptional
    }

    /// Makes a bound constant; `nil` for NULL and for values that no column contains.
    ///
    /// A decimal is bound as text if the dialect has exact decimals.
    init?(_ value: Value, _ dialect: SQLDialect) {
        switch value {
        case .null, .opaque: return nil
        case .integer(let value): self.init(.bind(.integer(value)), .integer, isOptional: false)
        case .double(let value): self.init(.bind(.real(value)), .real, isOptional: false)
        case .decimal(let value) where dialect.exactDecimals && !value.isNaN:
            self.init(.cast(.bind(.text(value.description)), to: .decimal), .decimal, isOptional: false)
        case .decimal(let value): self.init(.bind(SQLValue(decimal: value)), .decimal, isOptional: false)
        case .string(let value): self.init(.bind(.text(value)), .string, isOptional: false)
        case .date(let value) where dialect.typesValues:
            self.init(.cast(.bind(.real(value)), to: .date), .date, isOptional: false)
        case .date(let value): self.init(.bind(.real(value)), .date, isOptional: false)
        case .data(let value): self.init(.bind(.blob(value)), .data, isOptional: false)
        case .uuid(let value) where dialect.typesValues:
            self.init(.cast(.bind(.blob(value.data)), to: .identifier), .identifier, isOptional: false)
        case .uuid(let value):
            self.init(.bind(.blob(value.data)), .identifier, isOptional: false)
        case .uri(let value): self.init(.bind(.text(value)), .link, isOptional: false)
        }
    }
}

extension QueryScalar {
    /// Makes the predicate language's value of an attribute's column: a boolean is a number.
    init(column: SQLExpression, _ attribute: CompiledAttribute, _ dialect: SQLDialect) {
        let isTruth = dialect.typesValues && attribute.type.kind == .boolean
        self.init(isTruth ? .function(.number, [column]) : column, Kind(attribute))
    }

    /// The boolean column, if this is its conversion to a number.
    private var truth: SQLExpression? {
        if case .function(.number, let arguments) = sql { arguments.first } else { nil }
    }

    /// Returns both operands for an equality comparison; a boolean column is compared directly, so that an index can be
    /// used.
    func comparable(to other: QueryScalar) -> (SQLExpression, SQLExpression) {
        if let truth, let constant = other.truthConstant { return (truth, constant) }
        if let truth = other.truth, let constant = truthConstant { return (constant, truth) }
        return (sql, other.sql)
    }

    private var truthConstant: SQLExpression? {
        guard case .bind(.integer(let value)) = sql, value == 0 || value == 1 else { return nil }
        return .cast(sql, to: .boolean)
    }

    /// Returns the number with the width that memory uses.
    func widened(_ dialect: SQLDialect) -> SQLExpression {
        guard dialect.typesValues, kind == .integer, case .column = sql else { return sql }
        return .function(.wideNumber, [sql])
    }

    /// Returns the value in the type of a column of the kind.
    func stored(as kind: ValueKind, _ dialect: SQLDialect) -> SQLExpression {
        guard dialect.typesValues, kind == .boolean else { return sql }
        return truth ?? truthConstant ?? .comparison(.notEqual, sql, .integer(0))
    }

    /// A bound constant, and its explicit type.
    var bound: (value: SQLValue, type: SQLType?)? {
        switch sql {
        case .bind(let value): (value, nil)
        case .cast(.bind(let value), let type) where type == .date || type == .identifier: (value, type)
        default: nil
        }
    }
}

extension QueryScalar.Kind {
    init(_ attribute: CompiledAttribute) {
        switch attribute.type.kind {
        case .integer, .boolean: self = .integer
        case .real, .single: self = .real
        case .decimal: self = .decimal
        case .text: self = .string
        case .date: self = .date
        case .identifier: self = .identifier
        case .link: self = .link
        case .bytes: self = attribute.allowsExternalBinaryDataStorage ? .opaque : .data
        case .object, .reference, .composite: self = .opaque
        }
    }

    var isNumber: Bool { self == .integer || self == .real || self == .decimal }
    var isText: Bool { self == .string || self == .link }

    /// Returns whether values of both kinds can be equal.
    func isComparable(to other: Self) -> Bool {
        self == other || isNumber && other.isNumber || isText && other.isText
    }

    /// The name of the kind in messages.
    var name: String {
        switch self {
        case .integer, .real, .decimal: "a number"
        case .string: "a string"
        case .date: "a date"
        case .data: "data"
        case .identifier: "a UUID"
        case .link: "a URI"
        case .opaque: "a transformable value"
        }
    }
}

/// Rows or values of another SELECT, flattened over any number of to-manys.
struct QueryCollection {
    let scope: QueryScope
    /// The scope of the row that owns the members.
    let ownerScope: QueryScope
    /// A member: a row or a value that `scope` provides for each of its rows.
    var element: QueryTerm
    /// The order of an ordered relationship's members.
    var order: [SQLExpression]?
    /// Whether equal members count once.
    var isDistinct = false
    /// The key of the members' owner, if it may be NULL. The collection itself is then nil, which only `[SIZE]`
    /// distinguishes from an empty one.
    var optionalOwner: SQLExpression?
}

extension SQLValue {
    /// A decimal as a numeric column stores it: an integer if it is whole, else the nearest double.
    init(decimal: Decimal) {
        // Convert it through text, since Decimal's own conversion rounds more than once.
        let text = decimal.description
        if let whole = Int64(text) {
            self = .integer(whole)
        } else {
            self = .real(Double(text) ?? .nan)
        }
    }
}
