import CoreDataSQL
import CoreDataStore
import Foundation

/// What a fetch asks one store, and how the database goes about it.
///
///     for explanation in try context.explain(request) { print(explanation.sql, explanation.plan) }
///     // SELECT … FROM ZITEM t0 WHERE t0.ZNAME = ?   ["SEARCH t0 USING INDEX ZITEM_ZNAME_INDEX (ZNAME=?)"]
///
/// Apple's framework has nothing like it.
public struct FetchExplanation: Codable, Hashable, Sendable {
    /// The store's URL; `nil` in memory.
    public var store: URL?
    /// The statement, with `?` for its values.
    public var sql: String
    /// The values, as SQL writes them.
    public var bindings: [String]
    /// The database's plan, a line a step.
    public var plan: [String]
}

extension NSManagedObjectContext {
    /// What fetching the request would run, store by store; nothing is fetched.
    ///
    /// - Throws: an error that names the sub-expression where the request cannot be followed.
    public nonisolated final func explain(_ request: AnyFetchRequest) throws -> [FetchExplanation] {
        checkOwned("explain(_:)")
        let coordinator = try coordinatorForRequest()
        let translation = try FetchTranslation(request, in: coordinator.runtime)
        let stores = coordinator.stores(for: translation.entity, affected: request.affectedStores)
        return try CoreDataErrors.converting {
            try stores.compactMap { store in
                // What is no database has no SQL to show.
                guard let engine = store.source as? StoreEngine else { return nil }
                let explanation = try engine.explain(translation.plan(for: store))
                return FetchExplanation(
                    store: store.url, sql: explanation.sql, bindings: explanation.bindings.map(Self.text),
                    plan: explanation.plan)
            }
        }
    }

    private static func text(_ value: SQLValue) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): "'\(value.replacing("'", with: "''"))'"
        case .blob(let value): "<\(value.count) bytes>"
        }
    }
}
