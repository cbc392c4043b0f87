import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// T3 and T4 on models that nobody thought of: random models, random objects, random edits that can be inferred, compared
/// with the same edits of plain values.
@Suite struct RandomMigrationTests {
    /// `COREDATA_MIGRATIONS` asks for more.
    private static let count = ProcessInfo.processInfo.environment["COREDATA_MIGRATIONS"].flatMap { Int($0) } ?? 150

    @Test func storesBecomeWhatTheReferenceBecomes() throws {
        var done: [String: Int] = [:]
        var refused = 0
        for seed in 1...Self.count {
            var numbers = SeededNumbers(seed: UInt64(seed))
            var design = ModelDesign(&numbers)
            var store = try MigratedStore(design.document) { engine in
                try engine.database.write {
                    try design.write($0, SchemaLayout.fresh(model: engine.model, entities: engine.entities))
                }
            }
            defer { try? FileManager.default.removeItem(atPath: (store.path as NSString).deletingLastPathComponent) }
            guard try matches(store, design, "seed \(seed) before") else { return }
            for step in 1...2 {
                var next = design
                let edits = (0..<(1 + numbers.below(3))).map { _ in next.edit(&numbers) }
                next.settle(from: design)
                let name = "seed \(seed), step \(step): \(edits.joined(separator: ", "))"
                do {
                    try store.migrate(to: next.document)
                } catch let failure as MigrationFailure where failure.kind == .notInferrable {
                    // Edits together may be more than can be inferred; they must be said to be so.
                    refused += 1
                    #expect(!failure.obstacles.isEmpty, "\(name): \(failure.message)")
                    continue
                } catch {
                    Issue.record("\(name): \(error)")
                    return
                }
                for edit in edits { done[edit, default: 0] += 1 }
                store.document = next.document
                guard try matches(store, next, name) else { return }
                design = next
            }
        }
        #expect(refused < Self.count / 4, "\(refused) of \(Self.count)")
        #expect(done.filter { $0.value > Self.count / 60 }.count > 14, "\(done)")
    }

    private func matches(_ store: MigratedStore, _ design: ModelDesign, _ name: String) throws -> Bool {
        let problems = try store.problems(design.document)
        #expect(problems == [], "\(name)")
        let database = try makeDatabase(DatabaseOptions(path: store.path))
        defer { database.close() }
        let model = try ModelCompiler.compile(design.document)
        let actual = try database.read { connection in
            try ModelDesign.views(
                connection,
                SchemaLayout.existing(
                    model: model, entities: Array(model.entities.indices), connection: connection))
        }
        let expected = design.views
        for key in Set(actual.keys).union(expected.keys).sorted() where actual[key] != expected[key] {
            Issue.record(
                "\(name): object \(key) is \(actual[key].map { "\($0)" } ?? "gone"), not \(expected[key].map { "\($0)" } ?? "gone")"
            )
            return false
        }
        return problems.isEmpty
    }
}
