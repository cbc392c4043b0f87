import CoreData
import CoreDataJSON
import Foundation
import HTTPTypes
import Hummingbird

/// Answers requests for objects.
struct ObjectRoutes: Sendable {
    let store: ServedStore

    private var limits: ServiceLimits { store.limits }

    // MARK: Lists

    func list(_ entity: ServedEntity, _ request: Request, _ caller: Caller) async throws -> Response {
        let query = try QueryParameters(request.uri.query)
        try query.check(
            query["aggregate"] == nil
                ? ["where", "sort", "fields", "include", "after", "limit", "count"] : ["where", "aggregate", "group"])
        let filter = try query["where"].map { text throws(Problem) in
            try WhereClause.compile(text, arguments: query.arguments, of: entity, in: store.model)
        }
        do {
            if let text = query["aggregate"] { return try await aggregate(text, query, filter, entity, caller) }
            return try await page(query, filter, entity, request, caller)
        } catch let error as CocoaError where error.code.rawValue == NSCoreDataError {
            // A predicate that no store can evaluate; the message quotes what the client sent.
            throw Problem.query(error.localizedDescription)
        }
    }

    private func page(
        _ query: QueryParameters, _ filter: NSPredicate?, _ entity: ServedEntity, _ request: Request, _ caller: Caller
    ) async throws -> Response {
        let selection = try Selection(fields: query["fields"], include: query["include"], of: entity, in: store.model)
        let order = try SortOrder(query["sort"], of: entity, in: store.model)
        let limit = try query.integer("limit", in: 0...limits.maximumPageSize, default: limits.pageSize)
        let after = try query["after"].map { text throws(Problem) in try order.predicate(after: text) }
        let wantsCount = try query.flag("count")
        let (model, tags) = (store.model, store.tags)
        let predicates = Passed((filter, after))
        let body = try await store.reading(caller) { context -> [UInt8] in
            var members: [JSONValue.Member] = []
            if limit > 0 {
                let fetch = NSFetchRequest<NSManagedObject>(entityName: entity.name)
                let parts = [predicates.value.0, predicates.value.1].compactMap { $0 }
                if !parts.isEmpty { fetch.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: parts) }
                fetch.sortDescriptors = order.descriptors
                // One more tells whether there is a next page.
                fetch.fetchLimit = limit + 1
                fetch.relationshipKeyPathsForPrefetching = selection.prefetchedKeyPaths
                let found = try await store.fetch(fetch, in: context)
                members = try await context.result {
                    var reader = ObjectReader(model: model, tags: tags)
                    let items = try found.value.prefix(limit).map { try reader.json($0, selection) }
                    let next = found.value.count > limit ? order.position(of: found.value[limit - 1]) : nil
                    return [.init("items", .array(items)), .init("next", next.map { .string($0) } ?? .null)]
                }
            } else {
                members = [.init("items", .array([])), .init("next", .null)]
            }
            if wantsCount {
                let count = NSFetchRequest<NSNumber>(entityName: entity.name)
                count.resultType = .countResultType
                count.predicate = predicates.value.0
                let found = try await store.fetch(count, in: context)
                members.append(.init("count", .integer(found.value.first?.intValue ?? 0)))
            }
            return JSONWriter.bytes(.object(members))
        }
        return .bytes(body, type: "application/json")
    }

    private func aggregate(
        _ text: String, _ query: QueryParameters, _ filter: NSPredicate?, _ entity: ServedEntity, _ caller: Caller
    ) async throws -> Response {
        let aggregation = Passed(try Aggregation(text, group: query["group"], of: entity, in: store.model))
        let filter = Passed(filter)
        let body = try await store.reading(caller) { context -> [UInt8] in
            let rows = try await store.fetch(aggregation.value.request(entity.name, filter.value), in: context).value
            guard rows.count <= Aggregation.maximumGroups else {
                throw Problem.query("there are more than \(Aggregation.maximumGroups) groups: filter by where")
            }
            return JSONWriter.bytes(.object([.init("groups", aggregation.value.json(rows))]))
        }
        return .bytes(body, type: "application/json")
    }

    // MARK: One object

    func read(_ entity: ServedEntity, _ id: UUID, _ request: Request, _ caller: Caller) async throws -> Response {
        let query = try QueryParameters(request.uri.query)
        try query.check(["fields", "include"])
        let selection = try Selection(fields: query["fields"], include: query["include"], of: entity, in: store.model)
        let condition = try Self.tags(request, .ifNoneMatch)
        let (model, tags) = (store.model, store.tags)
        return try await store.reading(caller) { context in
            let fetch = Self.fetch(entity, id)
            fetch.relationshipKeyPathsForPrefetching = selection.prefetchedKeyPaths
            let found = try await store.fetch(fetch, in: context)
            return try await context.result {
                guard let object = found.value.first else { throw Problem.missing(entity.name) }
                var reader = ObjectReader(model: model, tags: tags)
                let body = JSONWriter.bytes(try reader.json(object, selection))
                // The checksum tells apart what other selections, and accounts with other rights, get of the same row.
                let tag = Self.tag(tags.tag(of: object), body)
                var headers: HTTPFields = [
                    .eTag: "\"\(tag)\"", .cacheControl: "private, no-cache", .vary: "Authorization",
                ]
                if condition?.contains(tag) ?? false { return Response(status: .notModified, headers: headers) }
                headers[.contentType] = "application/json"
                return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
            }
        }
    }

    /// The tag of an answer: the row's, and a checksum of the answer.
    private static func tag(_ row: String?, _ body: [UInt8]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in body { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (row ?? "") + "-" + String(hash, radix: 16)
    }

    static func fetch(_ entity: ServedEntity, _ id: UUID) -> NSFetchRequest<NSManagedObject> {
        let fetch = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        fetch.predicate = NSPredicate(format: "%K == %@", entity.identity, id as NSUUID)
        fetch.fetchLimit = 1
        return fetch
    }

    static func tags(_ request: Request, _ name: HTTPField.Name) throws(Problem) -> TagList? {
        guard let header = request.headers[name] else { return nil }
        guard let tags = TagList(header) else {
            throw Problem(
                400, "header", "A header cannot be understood", "\(name.rawName): expected \"…\" with an ETag, or *.")
        }
        return tags
    }

    /// Refuses conditions that would have no effect.
    private static func refuseConditions(_ request: Request, _ reason: String) throws(Problem) {
        for name in [HTTPField.Name.ifMatch, .ifNoneMatch] where request.headers[name] != nil {
            throw Problem(
                400, "header", "A header has no meaning here", "\(reason): leave \(name.rawName) out.")
        }
    }

    // MARK: Changes

    func create(_ entity: ServedEntity, _ request: Request, _ caller: Caller) async throws -> Response {
        try Self.refuseConditions(request, "A new object has no version")
        let (json, bytes) = try await body(request)
        let key = try self.key(request, caller, bytes)
        let change = try Change.creation(json, of: entity, newID: key?.newID(0) ?? UUID())
        let wantsObject = Self.wantsObject(request, by: true)
        let (results, isReplayed) = try await store.change(
            [change], caller: caller, key: key, wantsObjects: wantsObject)
        var headers = Self.headers(isReplayed)
        guard let result = results.first else { throw Problem.missing(entity.name) }
        headers[.location] = "/api/\(result.entity)/\(result.id.uuidString)"
        return Self.answer(result, .created, headers)
    }

    func update(_ entity: ServedEntity, _ id: UUID, _ request: Request, _ caller: Caller) async throws -> Response {
        let (json, bytes) = try await body(request)
        guard case .object = json else {
            throw Problem.body("Expected an object with the values that change, found \(json.kind).")
        }
        let key = try self.key(request, caller, bytes)
        let change = Change(
            kind: .update(json), entity: entity, id: id, condition: try Self.tags(request, .ifMatch),
            exclusion: try Self.tags(request, .ifNoneMatch))
        let (results, isReplayed) = try await store.change(
            [change], caller: caller, key: key, wantsObjects: Self.wantsObject(request, by: true))
        guard let result = results.first else { throw Problem.missing(entity.name) }
        return Self.answer(result, .ok, Self.headers(isReplayed))
    }

    func delete(_ entity: ServedEntity, _ id: UUID, _ request: Request, _ caller: Caller) async throws -> Response {
        let key = try self.key(request, caller, [])
        let change = Change(
            kind: .delete, entity: entity, id: id, condition: try Self.tags(request, .ifMatch),
            exclusion: try Self.tags(request, .ifNoneMatch))
        let (_, isReplayed) = try await store.change([change], caller: caller, key: key, wantsObjects: false)
        return Response(status: .noContent, headers: Self.headers(isReplayed))
    }

    func changeList(_ request: Request, _ caller: Caller) async throws -> Response {
        try Self.refuseConditions(request, "Each change has a condition of its own, 'if'")
        let (json, bytes) = try await body(request)
        let key = try self.key(request, caller, bytes)
        let changes = try Change.list(json, in: store.model) { key?.newID($0) ?? UUID() }
        let (results, isReplayed) = try await store.change(
            changes, caller: caller, key: key, wantsObjects: Self.wantsObject(request, by: false))
        return .json(["results": .array(results.map(\.listed))], headers: Self.headers(isReplayed))
    }

    private static func answer(_ result: ChangeResult, _ status: HTTPResponse.Status, _ headers: HTTPFields) -> Response
    {
        var headers = headers
        guard let json = result.json else {
            if let tag = result.tag { headers[.eTag] = "\"\(tag)\"" }
            headers[.preferenceApplied] = "return=minimal"
            return Response(status: status == .ok ? .noContent : status, headers: headers)
        }
        let body = JSONWriter.bytes(json)
        headers[.eTag] = "\"\(tag(result.tag, body))\""
        return .bytes(body, status: status, type: "application/json", headers: headers)
    }

    static func headers(_ isReplayed: Bool) -> HTTPFields { isReplayed ? [.idempotencyReplayed: "true"] : [:] }

    private func body(_ request: Request) async throws -> (JSONValue, [UInt8]) {
        let type = request.headers[.contentType]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces)
            .lowercased()
        guard let type, type == "application/json" || type == "application/merge-patch+json" else {
            throw Problem(415, "media-type", "The media type is not supported", "Send Content-Type: application/json.")
        }
        let bytes = try await BodyCollector.collect(request, limit: limits.bodySize, within: limits.bodyTime)
        do { return (try JSONParser.parse(bytes), bytes) } catch {
            throw Problem.body("It is not JSON: \(error).")
        }
    }

    func key(_ request: Request, _ caller: Caller, _ body: [UInt8]) throws(Problem) -> RequestKey? {
        guard let key = request.headers[.idempotencyKey] else { return nil }
        return try RequestKey(
            key, caller: caller.id, method: request.method.rawValue, path: request.uri.path, body: body)
    }

    private static func wantsObject(_ request: Request, by default: Bool) -> Bool {
        let prefer = request.headers[.prefer]?.lowercased() ?? ""
        if prefer.contains("return=minimal") { return false }
        return prefer.contains("return=representation") || `default`
    }
}
