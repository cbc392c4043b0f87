import CoreDataSQL
import CoreDataStore
import Foundation

/// A value that a statement gets for one of its placeholders.
public enum StatementValue: Codable, Hashable, Sendable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case data(Data)

    init(_ value: SQLValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let value): .integer(value)
            case .real(let value): .real(value)
            case .text(let value): .text(value)
            case .blob(let value): .data(value)
            }
    }

    /// The value as SQL writes it; of bytes, their number.
    public var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): "'\(value.replacing("'", with: "''"))'"
        case .data(let value): "<\(value.count) bytes>"
        }
    }
}

/// A statement of SQL and the values that it gets.
///
///     for statement in try request.sql(in: context) { print(statement) }
///     // SELECT t0.Z_PK, … FROM ZITEM t0 WHERE t0.ZNAME = ?
///     //   with 'Milk'
///
/// Apple's framework has nothing like it.
public struct FetchStatement: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The URL of the store that the statement is for; `nil` in memory.
    public var store: URL?
    /// The statement, with `?` for its values.
    public var sql: String
    /// The values, in the order of their placeholders.
    public var bindings: [StatementValue]

    init(store: URL?, sql: String, bindings: [SQLValue]) {
        self.store = store
        self.sql = sql
        self.bindings = bindings.map { StatementValue($0) }
    }

    /// The statement, and in a second line its values.
    public var description: String {
        bindings.isEmpty ? sql : sql + "\n  with " + bindings.map(\.description).joined(separator: ", ")
    }
}

extension AnyFetchRequest {
    /// Returns the statement of a fetch of the request for each store; runs nothing.
    ///
    ///     let request = Item.fetchRequest()
    ///     request.predicate = NSPredicate(format: "name == 'Milk'")
    ///     print(try request.sql(in: context)[0].sql)
    ///     // SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZNAME, … FROM ZITEM t0 WHERE t0.ZNAME = ?
    ///
    /// The statement depends on the request's `resultType`: a count counts, object IDs are keys only, dictionaries have
    /// the columns of `propertiesToFetch`. Prefetched relationships need one more for each step, with the keys that
    /// were found. Stores that are no database have no statement.
    ///
    /// - Throws: an error that names the sub-expression that is not supported.
    ///
    /// Not in Apple's API.
    public final func sql(in context: NSManagedObjectContext) throws -> [FetchStatement] {
        try context.planned(self) { store, source, plan, form in
            let statement = try source.statement(plan, form)
            return FetchStatement(store: store.url, sql: statement.sql, bindings: statement.bindings)
        }
    }

    /// Returns the statements of a fetch of the request, the database's plans, and hints that would make it faster;
    /// fetches nothing.
    ///
    ///     for explanation in try request.explain(in: context) { print(explanation) }
    ///     // SELECT … FROM ZITEM t0 WHERE t0.ZPRICE > ?
    ///     //   with 3.0
    ///     //   SCAN t0
    ///     //   hint: full scan of the 12,000 rows of Item: add an index on price
    ///
    /// - Throws: the errors of ``sql(in:)``.
    ///
    /// Not in Apple's API.
    public final func explain(in context: NSManagedObjectContext) throws -> [FetchExplanation] {
        try context.explain(self)
    }
}
