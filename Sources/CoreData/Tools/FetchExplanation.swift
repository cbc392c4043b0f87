import CoreDataPredicate
import CoreDataSQL
import CoreDataStore
import Foundation

/// The statement of a fetch in one store, the database's plan, and hints that would make it faster.
///
///     for explanation in try context.explain(request) { print(explanation.sql, explanation.plan, explanation.hints) }
///     // SELECT … FROM ZITEM t0 WHERE t0.ZNAME = ?   ["SEARCH t0 USING INDEX ZITEM_ZNAME_INDEX (ZNAME=?)"]   []
///
/// Apple's framework has no counterpart.
public struct FetchExplanation: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The store's URL; `nil` in memory.
    public var store: URL?
    /// The statement, with `?` for its values.
    public var sql: String
    /// The values, as SQL writes them.
    public var bindings: [String]
    /// The database's plan, a line a step.
    public var plan: [String]
    /// Explanations of slow parts of the plan, and of work that is done in memory; empty if there is nothing to
    /// improve.
    public var hints: [String] = []

    /// The statement, its values, the plan and the hints, each in a line.
    public var description: String {
        var lines = [sql]
        if !bindings.isEmpty { lines.append("  with \(bindings.joined(separator: ", "))") }
        return (lines + plan.map { "  \($0)" } + hints.map { "  hint: \($0)" }).joined(separator: "\n")
    }
}

extension NSManagedObjectContext {
    /// Explains the request for each store; fetches nothing.
    ///
    /// - Throws: an error that names the sub-expression that is not supported.
    public nonisolated final func explain(_ request: AnyFetchRequest) throws -> [FetchExplanation] {
        let unsaved = request.includesPendingChanges ? unsavedObjects(for: request) : 0
        return try planned(request) { store, source, plan, form in
            let explained = try source.explain(plan, form)
            let hints = FetchHints(explained, request, plan, source.model).all
            return FetchExplanation(
                store: store.url, sql: explained.statement.sql,
                bindings: explained.statement.bindings.map { StatementValue($0).description }, plan: explained.plan,
                hints: hints + (unsaved > 0 ? [FetchHints.unsaved(unsaved)] : []))
        }
    }

    private func unsavedObjects(for request: AnyFetchRequest) -> Int {
        guard request.resultType != .dictionaryResultType else { return 0 }
        let changed = insertedObjects.union(updatedObjects).union(deletedObjects)
        return changed.count { object in
            var entity: NSEntityDescription? = object.entity
            while let current = entity {
                if current.name == request.entityName { return true }
                entity = current.superentity
            }
            return false
        }
    }

    /// What `body` makes of the request's plan for each store that is a database.
    nonisolated final func planned<R>(
        _ request: AnyFetchRequest,
        _ body: (AttachedStore, any ExplainingSource, FetchPlan, FetchedForm) throws -> R
    ) throws -> [R] {
        checkOwned("explain(_:)")
        let coordinator = try coordinatorForRequest()
        let translation = try FetchTranslation(request, in: coordinator.runtime, clock: coordinator.clock)
        let stores = coordinator.stores(for: translation.entity, affected: request.affectedStores)
        let form = try form(of: translation, in: coordinator)
        return try CoreDataErrors.converting {
            try stores.compactMap { store in
                // A store that is no database has no SQL.
                guard let source = store.target as? any ExplainingSource else { return nil }
                return try body(store, source, restriction.readable(translation.plan(for: store)), form)
            }
        }
    }

    private func form(
        of translation: FetchTranslation, in coordinator: NSPersistentStoreCoordinator
    ) throws -> FetchedForm {
        let request = translation.request
        switch request.resultType {
        case .countResultType: return .count
        case .managedObjectIDResultType: return .keys
        case .dictionaryResultType:
            let fetch = try DictionaryFetch(translation, coordinator: coordinator, context: self)
            return .columns(
                fetch.columns.map { FetchColumn(name: $0.name, expression: $0.expression) },
                distinct: request.returnsDistinctResults, groupBy: fetch.groups.map(\.expression),
                having: fetch.having)
        default: return request.includesPropertyValues && request.fetchBatchSize <= 0 ? .rows : .keys
        }
    }
}
