import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The way to read one column of a dictionary result.
package enum TupleColumn: Sendable {
    /// A value of a kind, from one column of the result.
    case value(Kind, column: Int)
    /// A row's key, from a column with its primary key and, if its entity is unknown, one with its `Z_ENT`.
    case key(entity: Int, column: Int, entityColumn: Int?)
    /// The name of a row's entity, from a column with its `Z_ENT`.
    case entityName([Int64: String], column: Int)
    /// The same value for every row.
    case constant(Value)

    package enum Kind: Sendable {
        case integer
        case real
        case decimal
        case string
        case date
        case data
        case identifier
        case link
        /// Bytes that only their attribute understands; external data with its first byte.
        case bytes
    }

    init(
        _ term: QueryTerm, _ column: FetchColumn, _ selected: inout [SQLExpression],
        _ translator: PredicateTranslator
    ) throws {
        switch term {
        case .constant(let value):
            self = .constant(value)
            selected.append(.integer(0))
        case .scalar(let scalar):
            self = .value(Kind(scalar.kind), column: selected.count)
            selected.append(scalar.sql)
        case .row(let row):
            let entities = translator.context.rowEntities(of: row.entity)
            if entities.count == 1 {
                self = .key(entity: entities[0], column: selected.count, entityColumn: nil)
                selected.append(row.key)
            } else {
                self = .key(entity: row.entity, column: selected.count, entityColumn: selected.count + 1)
                selected += [row.key, .column(try row.scope.alias(of: row), "Z_ENT")]
            }
        case .collection:
            throw translator.failure(
                "to-many key not allowed here", column.expression, hint: "count it: @count, or take an aggregate")
        case .entity(let row):
            let context = translator.context
            let names = try context.rowEntities(of: row.entity).map {
                (try context.number(of: $0), context.model.entities[$0].name)
            }
            self = .entityName(Dictionary(names, uniquingKeysWith: { first, _ in first }), column: selected.count)
            selected.append(.column(try row.scope.alias(of: row), "Z_ENT"))
        case .key, .list:
            throw translator.unsupported(column.expression)
        }
    }

    /// Reads the value of the statement's current row; a key is an ``OpaqueValue`` with a ``RowKey``.
    func read(_ statement: any SQLStatement, _ layout: StoreLayout) -> Value {
        switch self {
        case .constant(let value):
            return value
        case .value(let kind, let column):
            return kind.value(statement.value(column))
        case .entityName(let names, let column):
            if statement.isNull(column) { return .null }
            return names[statement.integer(column)].map { .string($0) } ?? .null
        case .key:
            guard let key = key(statement, layout) else { return .null }
            return .opaque(OpaqueValue(key) { $0.object as? RowKey == key })
        }
    }

    /// Reads a row's key; `nil` for NULL and in a column of another kind.
    func key(_ statement: any SQLStatement, _ layout: StoreLayout) -> RowKey? {
        guard case .key(let entity, let column, let entityColumn) = self, !statement.isNull(column) else { return nil }
        let actual = entityColumn.flatMap { layout.ordinalByNumber[statement.integer($0)] }
        return RowKey(entity: actual ?? entity, primaryKey: statement.integer(column))
    }
}

extension TupleColumn.Kind {
    init(_ kind: QueryScalar.Kind) {
        switch kind {
        case .integer: self = .integer
        case .real: self = .real
        case .decimal: self = .decimal
        case .string: self = .string
        case .date: self = .date
        case .data: self = .data
        case .identifier: self = .identifier
        case .link: self = .link
        case .opaque: self = .bytes
        }
    }

    /// Converts the database's value to this kind, also from an unexpected storage class.
    func value(_ stored: SQLValue) -> Value {
        switch stored {
        case .null: return .null
        case .integer(let integer): return value(integer)
        case .real(let real): return value(real)
        case .text(let text): return value(text)
        case .blob(let bytes): return value(bytes)
        }
    }

    private func value(_ integer: Int64) -> Value {
        switch self {
        case .real: .double(Double(integer))
        case .date: .date(Double(integer))
        case .decimal: .decimal(Decimal(integer))
        case .string: .string(String(integer))
        case .link: .uri(String(integer))
        case .integer, .data, .identifier, .bytes: .integer(integer)
        }
    }

    private func value(_ real: Double) -> Value {
        // No column contains NaN, so it is the undefined result of a computation.
        if real.isNaN { return .null }
        return switch self {
        case .date: .date(real)
        case .decimal: .decimal(Decimal(storedText: real.description) ?? Decimal(real))
        case .string: .string(real.description)
        case .link: .uri(real.description)
        // An integer sum that overflows is a double.
        case .integer, .real, .data, .identifier, .bytes: .double(real)
        }
    }

    private func value(_ text: String) -> Value {
        switch self {
        case .link: .uri(text)
        case .decimal: Decimal(storedText: text).map { .decimal($0) } ?? .null
        // An integer sum that overflows is a double.
        case .integer: Int64(text).map { .integer($0) } ?? Double(text).map { .double($0) } ?? .null
        case .real: Double(text).map { .double($0) } ?? .null
        case .date: Double(text).map { .date($0) } ?? .null
        case .string, .data, .identifier, .bytes: .string(text)
        }
    }

    private func value(_ bytes: Data) -> Value {
        guard case .identifier = self, let uuid = bytes.withUnsafeBytes({ UUID(bytes: $0) }) else {
            return .data(bytes)
        }
        return .uuid(uuid)
    }
}
