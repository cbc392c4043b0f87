import CoreDataJSON
import Foundation
import Synchronization
import Testing

@testable import CoreDataService

/// Clients write while the program is killed, again and again.
///
/// Each client counts up a row of its own under the condition of its version, and adds a note in the same transaction. A
/// request whose answer did not come is sent again with its key. If an acknowledged change were lost, or a change done
/// twice, the condition of the next one would fail.
@Suite struct KillTests {
    @Test func nothingAcknowledgedIsLostAndNothingIsDoneTwice() async throws {
        try await NotesModel.run { folder, model in
            try await KillStory(model: model, store: folder.appendingPathComponent("Notes.sqlite").path).run(
                kills: PythonTools.isLong ? 100 : 5)
        }
    }
}

/// A client's work, through all processes.
struct KillStory: Sendable {
    let model: URL
    let store: String
    var arguments: [String] = []
    private let clients = 4

    init(model: URL, store: String, arguments: [String] = []) {
        self.model = model
        self.store = store
        self.arguments = arguments
    }

    /// The state of one client: what it knows, and the request whose answer is missing.
    private struct Worker: Sendable {
        var id = ""
        var version = ""
        var count = 0
        var retries = 0
        var pending: (key: String, body: JSONValue)?
    }

    /// Counts acknowledged requests, and kills the process at one of them.
    private final class Killer: Sendable {
        private let left: Mutex<Int>
        private let process: ServiceProcess

        init(_ process: ServiceProcess, after count: Int) {
            self.process = process
            left = Mutex(count)
        }

        func acknowledge() {
            let isTime = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isTime { process.send(SIGKILL) }
        }
    }

    func run(kills: Int) async throws {
        var workers = [Worker](repeating: Worker(), count: clients)
        var random: UInt64 = 42
        for _ in 0..<kills {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let process = try ServiceProcess(model: model, store: store, arguments)
            let client = try await process.client()
            if workers[0].id.isEmpty { workers = try await Self.started(workers, client) }
            let killer = Killer(process, after: 1 + Int((random >> 33) % 60))
            workers = try await withThrowingTaskGroup(of: (Int, Worker).self) { group in
                for (index, worker) in workers.enumerated() {
                    group.addTask { (index, try await Self.work(worker, index, client, killer)) }
                }
                return try await group.reduce(into: workers) { $0[$1.0] = $1.1 }
            }
        }
        try await end(workers)
    }

    private static func started(_ workers: [Worker], _ client: RawClient) async throws -> [Worker] {
        var workers = workers
        for index in workers.indices {
            let made = try await client.send("POST", "/api/Note", json: ["text": "counter", "value": 0])
            try #require(made.status == 201, "\(made.text)")
            (workers[index].id, workers[index].version) = (made.json.id, made.json.version)
        }
        return workers
    }

    /// Sends requests until the process is gone.
    private static func work(
        _ worker: Worker, _ index: Int, _ client: RawClient, _ killer: Killer
    ) async throws -> Worker {
        var worker = worker
        while true {
            let request = worker.pending ?? next(worker, index)
            worker.pending = request
            guard let answer = try? await send(request, client) else {
                worker.retries += 1
                return worker
            }
            worker = try acknowledged(worker, answer)
            killer.acknowledge()
        }
    }

    private static func next(_ worker: Worker, _ index: Int) -> (key: String, body: JSONValue) {
        let change: JSONValue = [
            "update": "Note", "id": .string(worker.id), "if": .string(worker.version),
            "values": ["value": .integer(worker.count + 1)],
        ]
        let note: JSONValue = ["create": "Note", "values": ["text": .string("\(index)-\(worker.count + 1)")]]
        return (UUID().uuidString, ["changes": [change, note]])
    }

    private static func send(_ request: (key: String, body: JSONValue), _ client: RawClient) async throws -> Answer {
        let answer = try await client.send("POST", "/api", json: request.body, ["Idempotency-Key": request.key])
        // The process was killed in the middle of the answer.
        guard answer.json != .null else { throw ClientFailure(description: "a part of an answer") }
        return answer
    }

    private static func acknowledged(_ worker: Worker, _ answer: Answer) throws -> Worker {
        try #require(answer.status == 200, "\(answer.text)")
        var worker = worker
        worker.version = answer.json["results"]?.array?.first?.version ?? ""
        worker.count += 1
        worker.pending = nil
        return worker
    }

    /// Sends what is pending once more, and compares the store with what was acknowledged.
    private func end(_ workers: [Worker]) async throws {
        let process = try ServiceProcess(model: model, store: store, arguments)
        let client = try await process.client()
        var total = 0
        for (index, worker) in workers.enumerated() {
            var worker = worker
            if let pending = worker.pending { worker = try Self.acknowledged(worker, await Self.send(pending, client)) }
            let row = try await client.get("/api/Note/\(worker.id)").json
            #expect(row["value"] == .integer(worker.count) && row.version == worker.version)
            let notes = try await client.get(
                "/api/Note?limit=0&count=true&where=\("text BEGINSWITH '\(index)-'".encoded)")
            #expect(notes.json["count"] == .integer(worker.count), "\(notes.text)")
            total += worker.count
        }
        let groups = try await client.get("/api/Note?aggregate=count&group=text&where=\("text != 'counter'".encoded)")
        if total <= 1000 {
            let counts = groups.json["groups"]?.array?.compactMap { $0["count"] } ?? []
            #expect(counts.count == total && counts.allSatisfy { $0 == 1 })
        }
        #expect(workers.contains { $0.retries > 0 })
        print(
            "\(total) changes by \(workers.count) clients, \(workers.map(\.retries).reduce(0, +)) of them sent again.")
        process.send(SIGTERM)
        #expect(try await process.end().status == 0)
    }
}
