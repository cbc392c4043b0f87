import CoreDataJSON
import Foundation

/// Sends queued changes in their order, and decides their conflicts.
struct QueueSender {
    let queue: ChangeQueue
    let client: ServiceClient
    let model: ServiceModel
    let account: String
    let policy: ServiceStore.ConflictPolicy

    /// What the store has to know afterwards.
    struct Report: Sendable {
        var results: [QueuedChange.Result] = []
        /// Objects as the service has them now.
        var objects: [RemoteObject] = []
        /// Objects that the service does not have.
        var missing: [(entity: String, id: UUID)] = []
        /// Versions whose values are those that contexts saved.
        var aliases: [(id: UUID, tag: String, queued: String)] = []
        /// Why the rest was not sent.
        var failure: ServiceFailure?
    }

    private static let maximumRounds = 8

    /// Sends until the queue has no waiting entry, or the connection fails.
    func run() async throws -> Report {
        var report = Report()
        while let entry = try queue.entries(of: account).first(where: { $0.refusal == nil }) {
            do { try await send(entry, &report) } catch let failure as ServiceFailure {
                report.failure = failure
                break
            }
        }
        return report
    }

    private func send(_ first: ChangeQueue.Entry, _ report: inout Report) async throws {
        var entry = first
        var outcomes: [QueuedChange.Object: QueuedChange.Outcome] = [:]
        for object in entry.objects { outcomes[object] = .applied }
        let change = QueuedChange(first)
        for _ in 0..<Self.maximumRounds {
            if !entry.isAttempted {
                entry = entry.withoutQueuedConditions
                entry.isAttempted = true
                try queue.update([entry])
            }
            do {
                try await finish(entry, try await attempt(entry), outcomes, &report)
                report.results.append(.init(change: change, outcomes: outcomes))
                return
            } catch let failure as ServiceFailure {
                if failure.isConnection || failure.status == 401 || failure.type == "cancelled" { throw failure }
                // A 500 says nothing of the change: it is sent again later.
                if failure.status >= 500 { throw failure }
                var reason = failure
                guard case .changes(let list) = entry.content, failure.status == 412 || failure.status == 404,
                    let resolved = try await resolve(list, entry, &outcomes, &reason, &report)
                else { return try await refuse(entry, reason, change, &report) }
                guard !resolved.changes.isEmpty else {
                    try queue.update([], deleting: [entry.origin])
                    report.results.append(.init(change: change, outcomes: outcomes))
                    return
                }
                // Another request needs another key.
                entry.content = .changes(resolved)
                entry.key = UUID()
                entry.isAttempted = false
                try queue.update([entry])
            }
        }
        let failure = ServiceFailure(
            status: 412, type: "changed",
            message: "Other writers kept changing the objects: send the change again later.")
        try await refuse(entry, failure, change, &report)
    }

    // MARK: Requests

    private func attempt(_ entry: ChangeQueue.Entry) async throws -> [RemoteObject] {
        switch entry.content {
        case .changes(let list):
            let answer = try await client.post(list.body, key: entry.key)
            return try Self.objects(answer, model)
        case .value(let entity, let id, let property, let bytes):
            _ = try await client.put(bytes, at: "/api/\(entity)/\(id.uuidString)/\(property)", key: entry.key)
            var object = try RemoteObject(try await client.get("/api/\(entity)/\(id.uuidString)"), in: model)
            object.bytes[property] = .some(bytes)
            return [object]
        }
    }

    /// The objects in an answer to a list of changes.
    static func objects(_ answer: JSONValue, _ model: ServiceModel) throws -> [RemoteObject] {
        guard let results = answer["results"]?.array else { throw ServiceFailure.answer("the results are missing") }
        return try results.compactMap { $0["object"] }.map { try RemoteObject($0, in: model) }
    }

    /// Deletes an entry that was applied, and gives later entries of its objects their versions: together.
    private func finish(
        _ entry: ChangeQueue.Entry, _ objects: [RemoteObject], _ outcomes: [QueuedChange.Object: QueuedChange.Outcome],
        _ report: inout Report
    ) async throws {
        let tags = Dictionary(objects.map { ($0.id, $0.tag) }, uniquingKeysWith: { _, last in last })
        try update(entry, deleting: true) { id, _ in tags[id] }
        let conflicting = Set(outcomes.filter { $0.value == .appliedAfterConflict }.map(\.key.id))
        report.objects += objects
        for object in objects where !conflicting.contains(object.id) {
            report.aliases.append((object.id, object.tag, entry.tag))
        }
        if case .changes(let list) = entry.content {
            report.missing += list.changes.filter { $0.verb == .delete }.map { ($0.entity, $0.id) }
        }
    }

    /// Replaces the versions that later entries expect of the objects of an entry.
    private func update(
        _ entry: ChangeQueue.Entry, deleting: Bool, _ condition: (UUID, ChangeList.Change) -> String?
    ) throws {
        var later: [ChangeQueue.Entry] = []
        for var other in try queue.entries(of: account) where other.order > entry.order && !other.isAttempted {
            guard case .changes(var list) = other.content else { continue }
            for index in list.changes.indices where list.changes[index].condition == entry.tag {
                list.changes[index].condition = condition(list.changes[index].id, list.changes[index])
            }
            other.content = .changes(list)
            later.append(other)
        }
        try queue.update(later, deleting: deleting ? [entry.origin] : [])
    }

    private func refuse(
        _ entry: ChangeQueue.Entry, _ failure: ServiceFailure, _ change: QueuedChange, _ report: inout Report
    ) async throws {
        var entry = entry
        entry.refusal = failure
        try queue.update([entry])
        report.results.append(
            .init(
                change: change,
                outcomes: Dictionary(
                    change.objects.map { ($0, .refused(failure.serviceError)) }, uniquingKeysWith: { first, _ in first }
                )))
        // Contexts and the cache have values that the service does not take.
        let present = try await current(entry.objects.map { ($0.entity, $0.id) })
        report.objects += present.values
        report.missing += entry.objects.filter { present[$0.id] == nil }.map { ($0.entity, $0.id) }
    }

    // MARK: Conflicts

    private func current(_ ids: [(entity: String, id: UUID)]) async throws -> [UUID: RemoteObject] {
        var found: [UUID: RemoteObject] = [:]
        for (entity, group) in Dictionary(grouping: ids, by: \.entity) {
            for object in try await client.objects(group.map(\.id), of: entity, model) { found[object.id] = object }
        }
        return found
    }

    /// Returns the changes that the policy lets be applied.
    ///
    /// - Returns: `nil` if the service refused for another reason, or the policy cannot decide.
    private func resolve(
        _ list: ChangeList, _ entry: ChangeQueue.Entry,
        _ outcomes: inout [QueuedChange.Object: QueuedChange.Outcome], _ reason: inout ServiceFailure,
        _ report: inout Report
    ) async throws -> ChangeList? {
        let changed = list.changes.filter { $0.verb != .create }
        let present = try await current(changed.map { ($0.entity, $0.id) })
        let decision = ConflictDecision(policy: policy, date: entry.date)
        var kept: [ChangeList.Change] = []
        var discarded: [UUID: String?] = [:]
        for change in list.changes {
            let object = QueuedChange.Object(entity: change.entity, id: change.id, verb: change.verb.rawValue)
            guard change.verb != .create else {
                kept.append(change)
                continue
            }
            guard let server = present[change.id] else {
                // Deleted in the service: a deletion is done, and a change has no object.
                if change.verb == .update, case .clientWins = policy { return nil }
                outcomes[object] = change.verb == .delete ? .applied : .discarded
                discarded[change.id] = .some(change.condition)
                report.missing.append((change.entity, change.id))
                continue
            }
            guard let condition = change.condition, condition != server.tag else {
                kept.append(change)
                continue
            }
            switch decision.outcome(change, server, model.entities[server.entity]) {
            case .discard:
                outcomes[object] = .discarded
                discarded[change.id] = .some(condition)
                report.objects.append(server)
            case .apply(let applied):
                outcomes[object] = .appliedAfterConflict
                kept.append(applied)
            case .refuse(let words):
                reason = ServiceFailure(
                    status: 412, type: "conflict", message: words, entity: change.entity, property: nil)
                return nil
            }
        }
        if !discarded.isEmpty {
            // Later changes of a discarded one are based on it, so they meet the same conflict.
            try update(entry, deleting: false) { id, change in
                discarded[id] ?? change.condition
            }
        }
        return ChangeList(kept)
    }
}

extension ChangeQueue.Entry {
    /// The entry without versions of changes before that never became versions of the service.
    fileprivate var withoutQueuedConditions: Self {
        guard case .changes(var list) = content else { return self }
        for index in list.changes.indices where list.changes[index].condition.map(QueuedTag.isQueued) ?? false {
            list.changes[index].condition = nil
        }
        var copy = self
        copy.content = .changes(list)
        return copy
    }
}
