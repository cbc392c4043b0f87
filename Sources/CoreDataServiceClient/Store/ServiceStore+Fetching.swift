import CoreData
import CoreDataPredicate
import Foundation

// Requests of contexts.
extension ServiceStore {
    func answer(_ request: NSPersistentStoreRequest, _ context: NSManagedObjectContext?) throws -> Any {
        forgetStaleRows()
        switch request {
        case let request as NSSaveChangesRequest:
            try save(request)
            return [Any]()
        case let request as AnyFetchRequest:
            guard let context, request.entityName != nil else { return [Any]() }
            return try ServiceErrors.converting { try fetch(request, context) }
        default:
            throw ServiceErrors.make(
                NSPersistentStoreUnsupportedRequestTypeError,
                "A service does not take \(Swift.type(of: request)): change the objects, and save their context.")
        }
    }

    private func fetch(_ request: AnyFetchRequest, _ context: NSManagedObjectContext) throws -> Any {
        switch request.resultType {
        case .countResultType: return [NSNumber(value: try count(request, context))]
        case .dictionaryResultType: return try dictionaries(request, context)
        case .managedObjectIDResultType: return try objects(request, context).map(\.objectID)
        default: return try objects(request, context)
        }
    }

    /// A fetch in its forms for the service and for the cache.
    func job(_ request: AnyFetchRequest) throws -> ServiceCore.FetchJob {
        let entity = try core.model.entity(named: request.entityName ?? "")
        let reference: (any PredicateObject) -> UUID? = { [weak self] object in
            let id = (object as? NSManagedObjectID) ?? (object as? NSManagedObject)?.objectID
            return id.flatMap { self?.identity(of: $0)?.id }
        }
        return ServiceCore.FetchJob(
            remote: RemoteFetch(
                request, entity, WhereTranslator(model: core.model, entity: entity, reference: reference)),
            cached: CacheStore.Fetch(request: request, reference: reference))
    }

    private func objects(_ request: AnyFetchRequest, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let answer: ServiceCore.FetchAnswer
        let job = try job(request)
        if let prepared = Self.prepared, prepared.answers(job.remote) {
            answer = prepared.answer
        } else {
            let (core, policy) = (core, currentPolicy)
            answer = try wait { try await core.objects(job, policy) }
        }
        try hold(answer.objects)
        let objects = try answer.identities.map { context.object(with: try objectID($0.entity, $0.id)) }
        guard answer.isPartial else { return objects }
        return Self.completed(objects, request, job.remote)
    }

    private func count(_ request: AnyFetchRequest, _ context: NSManagedObjectContext) throws -> Int {
        let job = try job(request)
        // A limit beside a part that memory evaluates: the objects themselves are counted.
        if job.remote.isLocal { return try objects(request, context).count }
        let (core, policy) = (core, currentPolicy)
        return try wait { try await core.count(job, policy) }
    }

    // MARK: Memory

    /// Evaluates what the service cannot: the rest of the predicate, the order, and then the window.
    private static func completed(
        _ objects: [NSManagedObject], _ request: AnyFetchRequest, _ remote: RemoteFetch
    ) -> [NSManagedObject] {
        var objects = objects
        if let predicate = remote.localPredicate?.value { objects = objects.filter { predicate.evaluate(with: $0) } }
        if remote.sortsLocally { objects = sorted(objects, by: request.sortDescriptors ?? []) }
        return window(objects, request)
    }

    private static func sorted<T>(_ values: [T], by sorts: [NSSortDescriptor]) -> [T] {
        values.enumerated().sorted { a, b in
            for sort in sorts {
                switch sort.compare(a.element, to: b.element) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return a.offset < b.offset
        }.map(\.element)
    }

    private static func window<T>(_ values: [T], _ request: AnyFetchRequest) -> [T] {
        let rest = values.dropFirst(request.fetchOffset)
        return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
    }

    // MARK: Dictionaries

    private func dictionaries(
        _ request: AnyFetchRequest, _ context: NSManagedObjectContext
    ) throws -> [NSDictionary] {
        let policy = currentPolicy
        let (core, all) = (core, NSFetchRequest<NSDictionary>())
        all.adopt(request)
        let query =
            policy == .cacheOnly
            ? nil : try DictionaryQuery(request, core.model.entity(named: request.entityName ?? ""), core.model)
        let computesWindow = query?.isAggregate == true || request.returnsDistinctResults
        if computesWindow { (all.fetchLimit, all.fetchOffset) = (0, 0) }
        let job = try job(all)
        if let query, job.remote.isLocal, query.isAggregate {
            throw DictionaryQuery.unsupported(
                "aggregates with a predicate or an order of which memory evaluates a part "
                    + "(\(job.remote.localReasons.joined(separator: "; ")))", query.entity)
        }
        if let query, query.isAggregate, !job.remote.includesSubentities {
            throw DictionaryQuery.unsupported("aggregates without the objects of subentities", query.entity)
        }
        if let query, job.remote.isLocal { return try localDictionaries(request, query, context) }
        // The cache does the window itself.
        let cached = CacheStore.Fetch(request: request, reference: job.cached.reference)
        let passed = Passed(cached)
        let answer = try wait { [self] in
            try await core.answer(policy, key: job.remote.fingerprint, notes: false) {
                guard let query else { throw ServiceCore.noCache }
                let rows = try await rows(query, job)
                return Passed((rows as [NSDictionary], false))
            } cached: { cache in
                Passed((try cache.dictionaries(passed.value) { try self.objectID($0, $1) }, true))
            }
        }.value
        guard !answer.1, computesWindow else { return answer.0 }
        return Self.window(Self.unique(RowOrder(sorts(request)).sorted(answer.0), request), request)
    }

    /// The order of groups: the service has put rows of single objects in order.
    private func sorts(_ request: AnyFetchRequest) -> [NSSortDescriptor] {
        request.propertiesToGroupBy == nil ? [] : request.sortDescriptors ?? []
    }

    private func rows(_ query: DictionaryQuery, _ job: ServiceCore.FetchJob) async throws -> [NSMutableDictionary] {
        let client = try core.client()
        if query.isAggregate {
            let answer = try await client.get("/api/\(query.entity.name)", query.parameters(job.remote.clause))
            return try query.rows(answer)
        }
        let objects = try await job.remote.objects(
            client, core.model, pageSize: core.options.pageSize, maximum: core.options.localEvaluationLimit,
            includes: query.includes)
        return try objects.map { try query.row(of: $0) }
    }

    private static func unique(_ rows: [NSDictionary], _ request: AnyFetchRequest) -> [NSDictionary] {
        guard request.returnsDistinctResults else { return rows }
        var seen: Set<NSDictionary> = []
        return rows.filter { seen.insert($0).inserted }
    }

    /// The rows of objects that memory selects or sorts.
    private func localDictionaries(
        _ request: AnyFetchRequest, _ query: DictionaryQuery, _ context: NSManagedObjectContext
    ) throws -> [NSDictionary] {
        let all = NSFetchRequest<NSManagedObject>()
        all.adopt(request)
        if request.returnsDistinctResults { (all.fetchLimit, all.fetchOffset) = (0, 0) }
        let rows = try objects(all, context).map { object in
            let row = NSMutableDictionary()
            for column in query.columns {
                switch column {
                case .path(let name, let path):
                    let value = object.value(forKeyPath: path.keys.joined(separator: "."))
                    if let value { row[name] = value }
                case .aggregate: break
                }
            }
            return row as NSDictionary
        }
        guard request.returnsDistinctResults else { return rows }
        return Self.window(Self.unique(rows, request), request)
    }
}
