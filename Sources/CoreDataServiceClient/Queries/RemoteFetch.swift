import CoreData
import CoreDataPredicate
import Foundation

/// A fetch as requests to the service: the part that it evaluates, and what memory does afterwards.
///
/// ```
///  predicate ──▶ where ─────────────┐           ┌──▶ predicate of the rest ──▶ sorts ──▶ offset, limit
///  sorts ──────▶ sort ──▶ pages ────┴──▶ objects┘    (only if the service cannot do one of them)
/// ```
struct RemoteFetch: Sendable {
    let entity: ServiceEntity
    let includesSubentities: Bool
    let clause: WhereClause?
    /// The order as the service reads it; `nil` if memory sorts.
    let sort: String?
    /// The window that the service's order has.
    let limit: Int
    let offset: Int
    /// The reasons why memory evaluates a part.
    let localReasons: [String]
    /// The predicate that memory evaluates.
    let localPredicate: Passed<NSPredicate>?
    let sortsLocally: Bool

    /// Whether the answer depends on memory, so that all matching objects must be read.
    var isLocal: Bool { localPredicate != nil || sortsLocally }

    init(_ request: AnyFetchRequest, _ entity: ServiceEntity, _ translator: WhereTranslator) {
        self.entity = entity
        includesSubentities = request.includesSubentities || entity.subentities.isEmpty
        let split = request.predicate.map { translator.split($0.node) } ?? .init()
        clause = split.clause
        localPredicate = split.rest.map { Passed(NSPredicate.make(node: $0)) }
        var reasons = split.reasons
        switch Self.sort(request.sortDescriptors ?? [], entity, translator.model) {
        case .success(let text): (sort, sortsLocally) = (text, false)
        case .failure(let mistake):
            (sort, sortsLocally) = (nil, true)
            reasons.append(mistake.words)
        }
        localReasons = reasons
        let isLocal = localPredicate != nil || sortsLocally
        limit = isLocal ? 0 : request.fetchLimit
        offset = isLocal ? 0 : request.fetchOffset
    }

    /// A fetch of all objects that match a clause.
    init(_ entity: ServiceEntity, _ clause: WhereClause) {
        self.entity = entity
        self.clause = clause
        includesSubentities = true
        (sort, limit, offset, localReasons, localPredicate, sortsLocally) = (nil, 0, 0, [], nil, false)
    }

    private static func sort(
        _ descriptors: [NSSortDescriptor], _ entity: ServiceEntity, _ model: ServiceModel
    ) -> Result<String?, ServiceKeyPath.Mistake> {
        guard !descriptors.isEmpty else { return .success(nil) }
        guard descriptors.count <= 5 else { return .failure(.init(words: "the service sorts by five keys at most")) }
        var parts: [String] = []
        for descriptor in descriptors {
            guard let key = descriptor.key else { return .failure(.init(words: "a sort descriptor has no key")) }
            if let selector = descriptor.selector?.description, selector != "compare:" {
                return .failure(.init(words: "the service does not sort '\(key)' by \(selector)"))
            }
            do throws(ServiceKeyPath.Mistake) {
                let path = try ServiceKeyPath(key.split(separator: ".").map(String.init), of: entity, in: model)
                guard case .attribute(let form) = path.end, form.isSortable, path.collections == 0 else {
                    return .failure(.init(words: "the service does not sort by '\(key)'"))
                }
            } catch { return .failure(error) }
            parts.append((descriptor.ascending ? "" : "-") + key)
        }
        guard Set(parts).count == parts.count else { return .failure(.init(words: "a key appears twice")) }
        return .success(parts.joined(separator: ","))
    }

    /// The text by which an answered fetch is recognised.
    var fingerprint: String {
        let arguments = clause?.arguments.map { "\($0.name)=\($0.values)" }.joined() ?? ""
        // The order says which objects a window has.
        let window = isComplete ? "" : "\(sort ?? "") \(limit) \(offset)"
        return [
            entity.name, "\(includesSubentities)", clause?.text ?? "", arguments, window,
        ].joined(separator: "\u{1}")
    }

    /// Whether an answer has all objects that match ``clause``, so that other cached objects do not match any more.
    var isComplete: Bool { limit == 0 && offset == 0 }

    // MARK: Requests

    private var parameters: ServiceClient.Parameters {
        (clause?.parameters ?? []) + (sort.map { [("sort", $0)] } ?? [])
    }

    /// Reads the objects, page by page.
    ///
    /// - Parameters:
    ///   - pageSize: the number of objects in one request.
    ///   - maximum: the number of objects of a fetch that memory completes, beyond which it fails.
    ///   - includes: relationships whose objects the answer has as a whole.
    func objects(
        _ client: ServiceClient, _ model: ServiceModel, pageSize: Int, maximum: Int, includes: [String] = []
    ) async throws(ServiceFailure) -> [RemoteObject] {
        var found: [RemoteObject] = []
        var skipped = 0
        var position: String?
        var seen: Set<String> = []
        while true {
            let isSkipping = skipped < offset
            let wanted = isSkipping ? offset - skipped : limit > 0 ? limit - found.count : pageSize
            // Objects of subentities may be dropped: a page of few would need many requests.
            let size = includesSubentities ? min(wanted, pageSize) : pageSize
            var page = parameters
            page.append(("limit", String(size)))
            if isSkipping, includesSubentities { page.append(("fields", "_id")) }
            if !isSkipping || !includesSubentities, !includes.isEmpty {
                page.append(("include", includes.joined(separator: ",")))
            }
            if let position { page.append(("after", position)) }
            let answer = try await client.get("/api/\(entity.name)", page)
            guard let items = answer["items"]?.array, items.count <= size else {
                throw .answer("a page has no list of items")
            }
            for item in items {
                let object = try RemoteObject(item, in: model)
                guard model.isKind(object.entity, of: entity.name) else {
                    throw .answer("an object of \(object.entity) is no \(entity.name)")
                }
                if !includesSubentities, object.entity != entity.name { continue }
                if skipped < offset {
                    skipped += 1
                } else {
                    found.append(object)
                }
                if limit > 0, found.count == limit { return found }
            }
            if isLocal, found.count > maximum { throw tooMany(maximum) }
            guard let next = answer["next"]?.string else { return found }
            // A service that answers the same position again would be asked forever.
            guard seen.insert(next).inserted, !items.isEmpty else { throw .answer("a page follows itself") }
            position = next
        }
    }

    private func tooMany(_ maximum: Int) -> ServiceFailure {
        ServiceFailure(
            status: 0, type: "too-expensive",
            message: """
                The fetch of \(entity.name) needs memory to evaluate a part that the service cannot: \
                \(localReasons.joined(separator: "; ")). More than \(maximum) objects match the rest. Add a condition \
                that the service evaluates, or raise Options.localEvaluationLimit.
                """)
    }

    /// Reads the number of objects.
    func count(_ client: ServiceClient, _ model: ServiceModel) async throws(ServiceFailure) -> Int {
        var count = try await count(of: entity.name, client)
        if !includesSubentities {
            for name in entity.subentities where model.entities[name] != nil {
                count -= try await self.count(of: name, client)
            }
        }
        count = max(0, count - offset)
        return limit > 0 ? min(limit, count) : count
    }

    private func count(of entity: String, _ client: ServiceClient) async throws(ServiceFailure) -> Int {
        let parameters = (clause?.parameters ?? []) + [("limit", "0"), ("count", "true")]
        guard let count = try await client.get("/api/\(entity)", parameters)["count"]?.integer else {
            throw .answer("a count is missing")
        }
        return count
    }
}
