import CoreData
import Foundation

// Saves: one request, or an entry of the queue.
extension ServiceCore {
    /// A large value that a save writes.
    struct Upload: Sendable {
        let entity: String
        let id: UUID
        let property: String
        let bytes: Data?
    }

    /// A save as the store gives it.
    struct SaveJob: Sendable {
        var list: ChangeList
        var uploads: [Upload]
        /// All values of the inserted and updated objects, for the cache.
        var values: [RemoteObject]
        /// The large values that the context has of the objects, which need not be read again.
        var bytes: [UUID: [String: Data?]]
    }

    struct SaveAnswer: Sendable {
        /// The objects as the service or the queue has them.
        var objects: [RemoteObject]
        var isQueued = false
    }

    func save(_ job: SaveJob) async throws -> SaveAnswer {
        let policy = policy
        let key = UUID()
        if policy == .cacheOnly {
            try await accountWithoutRequest()
            return try await enqueue(job, key: key, isAttempted: false)
        }
        var isAttempted = false
        do {
            return try await asking {
                let client = try client()
                isAttempted = true
                let answer = try await client.post(job.list.body, key: key)
                var objects = try QueueSender.objects(answer, model)
                for index in objects.indices { objects[index].bytes = job.bytes[objects[index].id] ?? [:] }
                for upload in job.uploads { try await send(upload, client, &objects) }
                try cache?.write(objects)
                try cache?.delete(job.list.changes.filter { $0.verb == .delete }.map { ($0.entity, $0.id) })
                try cache?.shrink(keeping: try queuedIDs())
                return SaveAnswer(objects: objects)
            }
        } catch let failure as ServiceFailure where failure.isConnection && policy.queues {
            guard (try? await account()) != nil else { throw failure }
            return try await enqueue(job, key: key, isAttempted: isAttempted)
        }
    }

    /// Sends a large value after the object. Without a connection it waits in the queue: the object is saved.
    private func send(
        _ upload: Upload, _ client: ServiceClient, _ objects: inout [RemoteObject]
    ) async throws {
        let key = UUID()
        do {
            let tag = try await client.put(
                upload.bytes, at: "/api/\(upload.entity)/\(upload.id.uuidString)/\(upload.property)", key: key)
            guard let index = objects.firstIndex(where: { $0.id == upload.id }) else { return }
            if let tag { objects[index].tag = tag }
            objects[index].bytes[upload.property] = .some(upload.bytes)
        } catch {
            if error.isConnection, let queue, policy.queues {
                try queue.add(
                    .value(entity: upload.entity, id: upload.id, property: upload.property, upload.bytes), key: key,
                    account: try await account(), isAttempted: true)
                notifyOfQueue()
                startSending()
                return
            }
            var failure = error
            // The save counts as failed, and is not put into the queue: its rows are in the service.
            if failure.isConnection { failure.type = "large-value" }
            failure.message =
                "\(upload.entity).\(upload.property) was not written, but the other changes of the save were: refresh the object, and set the value again. \(error.message)"
            throw failure
        }
    }

    /// Puts a save into the queue, and its values into the cache.
    private func enqueue(_ job: SaveJob, key: UUID, isAttempted: Bool) async throws -> SaveAnswer {
        guard let queue, let cache, let account = knownAccount?.account else { throw Self.noCache }
        let entry = try queue.add(.changes(job.list), key: key, account: account, isAttempted: isAttempted)
        for upload in job.uploads {
            try queue.add(
                .value(entity: upload.entity, id: upload.id, property: upload.property, upload.bytes), key: UUID(),
                account: account, isAttempted: false)
        }
        var objects = job.values
        for index in objects.indices { objects[index].tag = entry.tag }
        try cache.write(objects)
        try cache.delete(job.list.changes.filter { $0.verb == .delete }.map { ($0.entity, $0.id) })
        notifyOfQueue()
        if policy != .cacheOnly { startSending() }
        return SaveAnswer(objects: objects, isQueued: true)
    }

    // MARK: Sending the queue

    /// Sends what waits, before the service is asked for objects.
    func sendBeforeReading() async throws {
        guard let queue, let account = knownAccount?.account,
            try queue.entries(of: account).contains(where: { $0.refusal == nil })
        else { return }
        if let failure = try await sendQueue().failure { throw failure }
    }

    /// Sends the queue, and takes over what the service answers.
    func sendQueue() async throws -> QueueSender.Report {
        guard let queue else { return QueueSender.Report() }
        return try await line.run { [self] in
            let account = try await account()
            guard try queue.entries(of: account).contains(where: { $0.refusal == nil }) else {
                return QueueSender.Report()
            }
            let report = try await QueueSender(
                queue: queue, client: try client(), model: model, account: account, policy: conflictPolicy
            ).run()
            noteSession(report.failure)
            // What waits still is newer than the answers.
            let waiting = Set(
                try queue.entries(of: account).filter { $0.refusal == nil }.flatMap { $0.objects.map(\.id) })
            for (id, tag, queued) in report.aliases { setAlias(tag, of: queued, id) }
            try cache?.write(report.objects.filter { !waiting.contains($0.id) })
            try cache?.delete(report.missing.filter { !waiting.contains($0.id) })
            notify(of: report)
            return report
        }
    }

    /// Sends the queue in the background until it is empty: after one second, later after up to a minute.
    func startSending() {
        guard options.sendsQueuedChanges, let queue,
            (try? queue.entries(of: nil).contains { $0.refusal == nil }) ?? false
        else { return }
        setSender {
            Task.detached { [weak self] in
                var pause = 1.0
                while true {
                    try? await Task.sleep(for: .seconds(pause * Double.random(in: 0.8...1.2)))
                    guard let self, !Task.isCancelled, !isClosed else { return }
                    if policy != .cacheOnly {
                        let failure: ServiceFailure?
                        do { failure = try await sendQueue().failure } catch {
                            failure = error as? ServiceFailure ?? .answer("\(error)")
                        }
                        // Another session starts it again.
                        if failure == nil || failure?.status == 401 { break }
                    }
                    pause = min(60, pause * 2)
                }
                self?.clearSender()
            }
        }
    }

    // MARK: Notifications

    private func notify(of report: QueueSender.Report) {
        if !report.results.isEmpty { observer?(report) }
    }

    /// Observers may use the store, which waits for a request while this is called: they are called later.
    func notifyOfQueue() {
        DispatchQueue.global().async {
            NotificationCenter.default.post(name: ServiceStore.queuedChangesDidChange, object: nil)
        }
    }
}
