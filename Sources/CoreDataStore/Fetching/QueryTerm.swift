import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// What an expression of a predicate is in SQL.
indirect enum QueryTerm {
    /// A value known now; NULL included.
    case constant(Value)
    /// An object constant; `nil` for one that is in no row of this store and therefore equals none.
    case key(RowKey?)
    case scalar(QueryScalar)
    case row(RowReference)
    /// A row's entity, or its name: what `entity` and `entity.name` mean.
    case entity(RowReference)
    /// A to-many: rows or values of another SELECT.
    case collection(QueryCollection)
    /// `{a, b}`.
    case list([QueryTerm])
}

/// An expression that gives one value a row, with what is known of it.
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
    /// Whether it is a column that an index begins with.
    var isIndexed = false
    /// The trigram index of the column, and the key of the row that has it.
    var search: (index: SearchIndex, key: SQLExpression)?

    /// A constant that is not a number, which no column holds: databases store it as NULL.
    var isNaN: Bool {
        switch sql {
        case .bind(.real(let value)), .cast(.bind(.real(let value)), to: .date): value.isNaN
        default: false
        }
    }

    /// A whole number that is held against doubles, as a double: the database would convert it for every row.
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

    /// A constant as a bound value; `nil` for NULL and for values no column holds.
    ///
    /// A decimal is bound as text where the dialect has numbers of any number of digits.
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
    /// What the predicate language means by a column of an attribute: truth is a number there.
    init(column: SQLExpression, _ attribute: CompiledAttribute, _ dialect: SQLDialect) {
        let isTruth = dialect.typesValues && attribute.type.kind == .boolean
        self.init(isTruth ? .function(.number, [column]) : column, Kind(attribute))
    }

    /// The column, where it holds truth that is taken for a number.
    private var truth: SQLExpression? {
        if case .function(.number, let arguments) = sql { arguments.first } else { nil }
    }

    /// The two as they are compared for equality: truth with true or false as it is, so that an index is of use.
    func comparable(to other: QueryScalar) -> (SQLExpression, SQLExpression) {
        if let truth, let constant = other.truthConstant { return (truth, constant) }
        if let truth = other.truth, let constant = truthConstant { return (constant, truth) }
        return (sql, other.sql)
    }

    private var truthConstant: SQLExpression? {
        guard case .bind(.integer(let value)) = sql, value == 0 || value == 1 else { return nil }
        return .cast(sql, to: .boolean)
    }

    /// The number with as many bits as memory reckons with.
    func widened(_ dialect: SQLDialect) -> SQLExpression {
        guard dialect.typesValues, kind == .integer, case .column = sql else { return sql }
        return .function(.wideNumber, [sql])
    }

    /// The value as a column of the kind takes it.
    func stored(as kind: ValueKind, _ dialect: SQLDialect) -> SQLExpression {
        guard dialect.typesValues, kind == .boolean else { return sql }
        return truth ?? truthConstant ?? .comparison(.notEqual, sql, .integer(0))
    }

    /// A constant that is bound, and the type that it says to be of.
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

    /// Whether values of both can be equal at all.
    func isComparable(to other: Self) -> Bool {
        self == other || isNumber && other.isNumber || isText && other.isText
    }

    /// The kind as a message names it.
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

/// Rows or values of another SELECT, flattened over however many to-manys lead there.
struct QueryCollection {
    let scope: QueryScope
    /// The scope of the row whose members these are.
    let ownerScope: QueryScope
    /// One member: a row or a value that `scope` gives for each of its rows.
    var element: QueryTerm
    /// The order of the members where the relationship has one, first to last.
    var order: [SQLExpression]?
    /// Members that are equal count once.
    var isDistinct = false
    /// The key of the row that owns the members where that may be NULL: then the collection itself is nil, which
    /// only `[SIZE]` tells from an empty one.
    var optionalOwner: SQLExpression?
}

extension SQLValue {
    /// A decimal as a numeric column keeps it: whole where it is, else the nearest double.
    init(decimal: Decimal) {
        // Through text, since Decimal's own conversion rounds more than once.
        let text = decimal.description
        if let whole = Int64(text) {
            self = .integer(whole)
        } else {
            self = .real(Double(text) ?? .nan)
        }
    }
}
