import CoreData
import Foundation

/// The store behind the requests: reads and changes it for an account, within the limits.
package final class ServedStore: Sendable {
    package let coordinator: NSPersistentStoreCoordinator
    package let model: ServedModel
    package let access: any AccessControl
    package let limits: ServiceLimits
    package let tags: RowTags
    /// The files of the stores, in their places.
    package let files: StoreFiles
    /// The entities whose objects, or their values, may be hidden from an account.
    private let restricted: Set<String>
    private let readers: WorkLimiter
    private let writers: WorkLimiter
    private let values: WorkLimiter

    package init(
        coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore, model: ServedModel,
        access: any AccessControl, limits: ServiceLimits, accounts: URL? = nil
    ) {
        self.coordinator = coordinator
        self.model = model
        self.access = access
        self.limits = limits
        tags = RowTags(store: store.identifier ?? "")
        files = StoreFiles([store.url, accounts].compactMap { $0 })
        restricted = Set(
            model.names.filter { name in
                let reading = access.rules(of: name).filter { $0.verb == "read" }
                return reading.isEmpty || reading.contains { $0.property != nil || $0.who != "anyone" }
            })
        readers = WorkLimiter(
            count: limits.readers, maximumWaiting: limits.waiting, patience: limits.patience,
            share: limits.readers / 2)
        writers = WorkLimiter(count: limits.writers, maximumWaiting: limits.waiting, patience: limits.patience)
        values = WorkLimiter(count: limits.values, maximumWaiting: limits.waiting, patience: limits.patience)
    }

    package func entity(named name: String) throws(Problem) -> ServedEntity {
        guard let entity = model.entities[name] else {
            throw Problem(404, "not-found", "There is no such entity", "See /schema for the entities.")
        }
        return entity
    }

    // MARK: Reading

    /// Runs `body` with a context of the account.
    package func reading<R: Sendable>(
        _ caller: Caller, _ body: (NSManagedObjectContext) async throws -> R
    ) async throws -> R {
        // Visitors have no name by which they could be told apart.
        try await readers.run(for: caller.accessor.account?.uuidString) {
            let context = try await access.makeContext(for: caller)
            return try await body(context)
        }
    }

    /// Runs `body`, which holds a large value in memory.
    package func holdingValue<R: Sendable>(_ body: () async throws -> R) async throws -> R {
        try await values.run(body)
    }

    /// Fetches, and stops the statement when its time is over.
    package func fetch<R: NSFetchRequestResult>(
        _ request: NSFetchRequest<R>, in context: NSManagedObjectContext
    ) async throws -> Passed<[R]> {
        let passed = Passed(request)
        let time = limits.statementTime
        return try await withThrowingTaskGroup(of: Passed<[R]>?.self) { group in
            group.addTask { try await context.found(by: passed) }
            group.addTask {
                try? await Task.sleep(for: time)
                return nil
            }
            // Cancelling the fetch stops its statement; the group waits until it has stopped.
            defer { group.cancelAll() }
            guard let first = try await group.next(), let found = first else { throw Problem.tooExpensive }
            return found
        }
    }

    // MARK: Changing

    /// The number of times that changes are applied anew when other writers change the same rows.
    private static let attempts = 5

    /// Applies changes in one transaction.
    ///
    /// - Returns: the results, and whether they are those of an earlier request with the same key.
    package func change(
        _ changes: [Change], caller: Caller, key: RequestKey?, wantsObjects: Bool
    ) async throws -> (results: [ChangeResult], isReplayed: Bool) {
        try await writers.run {
            if let replay = try await replay(key, caller, wantsObjects) { return (replay, true) }
            let isConditional = changes.contains { $0.condition != nil }
            var attempt = 1
            while true {
                do { return (try await self.attempt(changes, caller, key, wantsObjects), false) } catch {
                    if (error as? CocoaError)?.code.rawValue == NSManagedObjectMergeError, attempt < Self.attempts {
                        // Another request changed the same rows between our read and our save. What it left is read anew,
                        // and conditions are checked anew.
                        attempt += 1
                        continue
                    }
                    // The same request, sent twice at once: the other one was faster.
                    if let replay = try await replay(key, caller, wantsObjects) { return (replay, true) }
                    if let problem = access.problem(error) ?? Problem(error, isConditional: isConditional) {
                        throw problem
                    }
                    throw error
                }
            }
        }
    }

    private func attempt(
        _ changes: [Change], _ caller: Caller, _ key: RequestKey?, _ wantsObjects: Bool
    ) async throws -> [ChangeResult] {
        let context = try await access.makeContext(for: caller)
        let run = ChangeRun(
            context: context, model: model, tags: tags, wantsObjects: wantsObjects, restricted: restricted)
        return try await context.result {
            context.transactionNote = key?.makeNote(changes)
            return try run.run(changes)
        }
    }

    private func replay(_ key: RequestKey?, _ caller: Caller, _ wantsObjects: Bool) async throws -> [ChangeResult]? {
        guard let key, let note = try coordinator.transactionNote(forKey: key.note) else { return nil }
        var results = try key.results(note)
        let context = try await access.makeContext(for: caller)
        let (model, tags, noted) = (model, tags, results)
        results = try await context.result {
            let lookup = ReferenceLookup(context, model)
            var reader = ObjectReader(model: model, tags: tags)
            return try noted.map { result in
                var result = result
                guard result.status != 204, let entity = model.entities[result.entity],
                    let object = try lookup.object(result.id, of: entity)
                else { return result }
                result.tag = tags.tag(of: object)
                if wantsObjects { result.json = try reader.json(object, Selection(entity)) }
                return result
            }
        }
        return results
    }
}

/// Hands a value to another task that alone uses it then.
package struct Passed<Value>: @unchecked Sendable {
    // Safe because the sender does not use the value any more, and objects are used on their context's queue.
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
