import CoreData
import CoreDataPredicate
import Foundation

// Requests by policy.
extension ServiceCore {
    typealias Identity = (entity: String, id: UUID)

    /// A fetch with its two forms: for the service and for the cache.
    struct FetchJob: @unchecked Sendable {
        // Safe because the request does not change while the job runs.
        let remote: RemoteFetch
        let cached: CacheStore.Fetch
    }

    /// Answers by the policy: `network` asks the service, `cached` the cache.
    ///
    /// - Parameters:
    ///   - key: the text under which a complete answer is noted; nil if none is.
    ///   - notes: whether the service's answer makes the cache complete.
    func answer<R: Sendable>(
        _ policy: ServiceStore.CachePolicy, key: String?, notes: Bool = true, network: () async throws -> R,
        cached: (CacheStore) throws -> R
    ) async throws -> R {
        switch policy {
        case .networkOnly: return try await asking(notes ? key : nil, network)
        case .networkElseCache:
            do { return try await asking(notes ? key : nil, network) } catch let failure as ServiceFailure
                where failure.isConnection
            {
                guard let cache, (try? await account()) != nil else { throw failure }
                return try cached(cache)
            }
        case .cacheOnly:
            guard let cache else { throw Self.noCache }
            try await accountWithoutRequest()
            return try cached(cache)
        case .cacheElseNetwork:
            guard let cache else { throw Self.noCache }
            if let key, (try? await account()) != nil, try cache.knowsAnswer(key) { return try cached(cache) }
            return try await asking(notes ? key : nil, network)
        }
    }

    /// The account of the cache, by the token alone.
    func accountWithoutRequest() async throws {
        if let known = knownAccount, known.token == session.token { return }
        let digest = CacheStore.Owner.digest(session.token)
        if session.token.isEmpty || cache?.owner?.tokenDigest == digest {
            try await account()
            return
        }
        throw ServiceErrors.make(
            NSPersistentStoreOperationError,
            "The cache belongs to another account or session. Use the store with a connection once.")
    }

    /// Asks the service, after it has got what waits in the queue.
    ///
    /// - Parameter key: the text under which the cache notes that it has the answer.
    func asking<R>(_ key: String? = nil, _ body: () async throws -> R) async throws -> R {
        do {
            if cache != nil {
                try await account()
                try await sendBeforeReading()
            }
            let result = try await body()
            if let key { try cache?.noteAnswer(key) }
            noteSession(nil)
            return result
        } catch let failure as ServiceFailure {
            noteSession(failure)
            throw failure
        }
    }

    /// The objects whose values the service does not have yet, or refused.
    func queuedIDs() throws -> Set<UUID> {
        guard let queue, let account = knownAccount?.account else { return [] }
        return Set(try queue.entries(of: account).flatMap { $0.objects.map(\.id) })
    }

    // MARK: Fetches

    struct FetchAnswer: Sendable {
        let identities: [Identity]
        /// The objects, if the service answered.
        var objects: [RemoteObject] = []
        /// Whether memory has to evaluate the rest of the predicate and the order.
        let isPartial: Bool
    }

    func objects(_ job: FetchJob, _ policy: ServiceStore.CachePolicy) async throws -> FetchAnswer {
        try await answer(policy, key: job.remote.fingerprint) {
            let objects = try await job.remote.objects(
                try client(), model, pageSize: options.pageSize, maximum: options.localEvaluationLimit)
            try keep(objects, job)
            return FetchAnswer(
                identities: objects.map { ($0.entity, $0.id) }, objects: objects, isPartial: job.remote.isLocal)
        } cached: { cache in
            FetchAnswer(identities: try cache.identities(job.cached), isPartial: false)
        }
    }

    /// Writes the answer of a fetch to the cache.
    private func keep(_ objects: [RemoteObject], _ job: FetchJob) throws {
        guard let cache else { return }
        let kept = try queuedIDs()
        try cache.write(objects.filter { !kept.contains($0.id) })
        if job.remote.isComplete, !job.remote.isLocal {
            try cache.reconcile(job.cached, with: Set(objects.map(\.id)), keeping: kept)
        }
        try cache.shrink(keeping: kept)
    }

    func count(_ job: FetchJob, _ policy: ServiceStore.CachePolicy) async throws -> Int {
        // A count does not fill the cache, so only the same fetch of objects makes the cache know it.
        try await answer(policy, key: job.remote.fingerprint, notes: false) {
            try await job.remote.count(try client(), model)
        } cached: { cache in
            try cache.count(job.cached)
        }
    }

    // MARK: Objects

    /// Reads objects by their IDs. An object that the result lacks does not exist any more.
    func objects(
        _ ids: [Identity], _ policy: ServiceStore.CachePolicy
    ) async throws -> [RemoteObject] {
        let groups = Dictionary(grouping: ids, by: \.entity).mapValues { $0.map(\.id) }
        if policy == .cacheElseNetwork, let cache, (try? await account()) != nil {
            let found = try groups.flatMap { try cache.objects($0.value, of: $0.key) }
            let known = Set(found.map(\.id))
            let rest = ids.filter { !known.contains($0.id) }
            if rest.isEmpty { return found }
            return try await found + objects(rest, .networkElseCache)
        }
        return try await answer(policy, key: nil) {
            var found: [RemoteObject] = []
            let client = try client()
            for (entity, ids) in groups { found += try await client.objects(ids, of: entity, model) }
            let known = Set(found.map(\.id))
            let kept = try queuedIDs()
            try cache?.write(found.filter { !kept.contains($0.id) })
            try cache?.delete(ids.filter { !known.contains($0.id) && !kept.contains($0.id) })
            return found
        } cached: { cache in
            try groups.flatMap { try cache.objects($0.value, of: $0.key) }
        }
    }

    /// Adds the bytes of large values, four at a time.
    func addingLargeValues(
        _ objects: [RemoteObject], _ policy: ServiceStore.CachePolicy
    ) async throws -> [RemoteObject] {
        var result = objects
        var missing: [(index: Int, property: String)] = []
        for (index, object) in objects.enumerated() {
            let known = try cache?.objects([object.id], of: object.entity).first
            if let known, known.tag == object.tag { result[index].bytes.merge(known.bytes) { own, _ in own } }
            for name in model.entities[object.entity]?.largeValues ?? [] where result[index].bytes[name] == nil {
                missing.append((index, name))
            }
        }
        guard !missing.isEmpty, policy != .cacheOnly else { return result }
        var gone: Set<UUID> = []
        do {
            let client = try client()
            for start in stride(from: 0, to: missing.count, by: 4) {
                let some = Array(missing[start..<min(missing.count, start + 4)])
                let loaded = try await withThrowingTaskGroup(of: (Int, String, Data??).self) { group in
                    for (index, property) in some {
                        let path = objects[index].path(of: property)
                        group.addTask { (index, property, try await client.bytes(at: path)) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                for (index, property, bytes) in loaded {
                    // Without the object there is nothing to read.
                    if let bytes {
                        result[index].bytes[property] = .some(bytes)
                    } else {
                        gone.insert(objects[index].id)
                    }
                }
            }
            result.removeAll { gone.contains($0.id) }
        } catch let failure as ServiceFailure where failure.isConnection && policy != .networkOnly { return result }
        let kept = try queuedIDs()
        try cache?.write(result.filter { !kept.contains($0.id) })
        return result
    }

    // MARK: Relationships

    /// Reads the members of a to-many relationship of several objects, in order.
    func members(
        of relationship: ServiceRelationship, _ entity: String, _ ids: [UUID], _ policy: ServiceStore.CachePolicy
    ) async throws -> (members: [UUID: [Identity]], objects: [RemoteObject]) {
        let name = relationship.name
        let key = ids.count == 1 ? "relationship \(entity) \(ids[0].uuidString) \(name)" : nil
        let result = try await answer(policy, key: key) {
            let (owners, members) = try await askMembers(relationship, entity, ids)
            let kept = try queuedIDs()
            try cache?.write(owners.filter { !kept.contains($0.id) })
            let objects = members.values.flatMap { $0 }
            try cache?.write(objects.filter { !kept.contains($0.id) })
            for (id, members) in members where relationship.isToMany && !kept.contains(id) {
                try cache?.write(members.map { ($0.entity, $0.id) }, of: name, of: entity, id)
            }
            return MemberAnswer(
                members: members.mapValues { $0.map { MemberAnswer.Member(entity: $0.entity, id: $0.id) } },
                objects: objects)
        } cached: { cache in
            var members: [UUID: [MemberAnswer.Member]] = [:]
            for id in ids {
                members[id] = try cache.members(of: name, of: entity, id)?.map { .init(entity: $0.entity, id: $0.id) }
            }
            return MemberAnswer(members: members, objects: [])
        }
        return (result.members.mapValues { $0.map { ($0.entity, $0.id) } }, result.objects)
    }

    private struct MemberAnswer: Sendable {
        struct Member: Sendable {
            let entity: String
            let id: UUID
        }

        var members: [UUID: [Member]]
        var objects: [RemoteObject]
    }

    /// Reads members as whole objects in the places of their IDs; more than an answer may have by their inverse.
    private func askMembers(
        _ relationship: ServiceRelationship, _ entity: String, _ ids: [UUID]
    ) async throws -> (owners: [RemoteObject], members: [UUID: [RemoteObject]]) {
        let client = try client()
        do {
            let owners = try await client.objects(ids, of: entity, model, including: [relationship.name])
            var members: [UUID: [RemoteObject]] = [:]
            for owner in owners {
                let json = owner.members[relationship.name] ?? .null
                members[owner.id] = try (json.array ?? (json == .null ? [] : [json])).map {
                    try RemoteObject($0, in: model)
                }
            }
            return (owners, members)
        } catch let failure as ServiceFailure where failure.status == 400 && failure.type == "query" {
            // More members than an answer has.
            guard let inverse = relationship.inverse, relationship.isToMany, !relationship.isOrdered,
                let destination = model.entities[relationship.destination]
            else { throw failure }
            var members: [UUID: [RemoteObject]] = [:]
            for id in ids {
                let text = "\(inverse.name) \(inverse.isToMany ? "CONTAINS" : "==") $v1"
                let fetch = RemoteFetch(
                    destination, WhereClause(text: text, arguments: [.init(name: "v1", values: [id.uuidString])]))
                members[id] = try await fetch.objects(
                    client, model, pageSize: options.pageSize, maximum: .max)
            }
            return ([], members)
        }
    }
}
