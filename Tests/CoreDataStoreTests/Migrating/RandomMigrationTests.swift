import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// T3 and T4 on models that nobody thought of: random models, random objects, random edits that can be inferred, compared
/// with the same edits of plain values.
@Suite struct RandomMigrationTests {
    /// `COREDATA_MIGRATIONS` asks for more than the usual 150.
    private static let asked = ProcessInfo.processInfo.environment["COREDATA_MIGRATIONS"].flatMap { Int($0) }

    /// One seed in `portion` of those that are asked for, or of the usual ones; a quarter of the usual ones in the short form.
    private static func seeds(oneIn portion: Int = 1) -> [UInt64] {
        guard let asked else { return Trials.seeds(150 / portion) }
        return (1...max(1, asked / portion)).map(UInt64.init)
    }

    @Test func storesBecomeWhatTheReferenceBecomes() throws {
        var done: [String: Int] = [:]
        var refused = 0
        let seeds = Self.seeds()
        for seed in seeds {
            var numbers = SeededNumbers(seed: seed)
            var design = ModelDesign(&numbers)
            var store = try MigratedStore(design.document) { engine in
                try engine.database.write {
                    try design.write($0, SchemaLayout.fresh(model: engine.model, entities: engine.entities))
                }
            }
            defer { store.remove() }
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
        // A few seeds may meet few kinds of edits.
        guard seeds.count >= 100 else { return }
        #expect(refused < seeds.count / 4, "\(refused) of \(seeds.count)")
        #expect(done.filter { $0.value > seeds.count / 60 }.count > 14, "\(done)")
    }

    /// What is put off shows nowhere, and is done in the end; T5.
    @Test func whatIsPutOffShowsNowhere() throws {
        var deferred = 0
        let seeds = Self.seeds(oneIn: 3)
        for seed in seeds {
            var numbers = SeededNumbers(seed: seed + 20_000)
            var design = ModelDesign(&numbers)
            var store = try MigratedStore(design.document) { engine in
                try engine.database.write {
                    try design.write($0, SchemaLayout.fresh(model: engine.model, entities: engine.entities))
                }
            }
            defer { store.remove() }
            for step in 1...3 {
                var next = design
                let edits = (0..<(1 + numbers.below(3))).map { _ in next.edit(&numbers) }
                next.settle(from: design)
                let name = "seed \(seed), step \(step): \(edits.joined(separator: ", "))"
                var migration = try MigratedStore.migration(to: next.document)
                migration.defers = step < 3
                do {
                    let plan = try migration.run(DatabaseOptions(path: store.path)).plan
                    deferred += plan?.deferred.count ?? 0
                    if step == 3 { #expect(plan?.deferred ?? [] == [], "\(name)") }
                } catch let failure as MigrationFailure where failure.kind == .notInferrable {
                    continue
                } catch {
                    Issue.record("\(name): \(error)")
                    return
                }
                design = next
                store.document = next.document
                guard try matches(store, design, name, checksStore: false) else { return }
                guard numbers.chance(2) else { continue }
                let engine = try StoreEngine.open(
                    model: ModelCompiler.compile(design.document), options: StoreOptions(path: store.path),
                    makeDatabase: makeDatabase)
                while try engine.finishDeferredTask(design.document) {}
                engine.close()
                guard try matches(store, design, name + ", finished") else { return }
            }
        }
        // One in a seed on average: a few seeds may have fewer.
        #expect(deferred > (seeds.count >= 30 ? seeds.count : 0), "\(deferred)")
    }

    /// A store that is one file becomes what a database becomes, and is refused what that is refused.
    @Test func filesBecomeWhatDatabasesBecome() throws {
        for seed in Self.seeds(oneIn: 4) {
            var numbers = SeededNumbers(seed: seed + 10_000)
            let design = ModelDesign(&numbers)
            var next = design
            let edits = (0..<(1 + numbers.below(3))).map { _ in next.edit(&numbers) }
            next.settle(from: design)
            let name = "seed \(seed): \(edits.joined(separator: ", "))"
            let store = try MigratedStore(design.document) { engine in
                try engine.database.write {
                    try design.write($0, SchemaLayout.fresh(model: engine.model, entities: engine.entities))
                }
            }
            defer { store.remove() }
            let file = store.path + ".binary"
            let old = try ModelCompiler.compile(design.document)
            let engine = try StoreEngine.open(
                model: old, options: StoreOptions(path: store.path), makeDatabase: makeDatabase)
            try RowCopy(
                from: engine, to: AtomicStore.open(BinaryStoreFormat.self, model: old, options: .init(path: file)),
                model: old
            ).run()
            engine.close()
            let migration = try MigratedStore.migration(to: next.document, source: design.document)
            do {
                _ = try AtomicMigration(BinaryStoreFormat.self, migration).run(
                    path: file, timeout: nil, isReadOnly: false)
            } catch let failure as MigrationFailure where failure.kind == .notInferrable {
                #expect(throws: MigrationFailure.self) { try store.migrate(to: next.document) }
                continue
            } catch {
                Issue.record("\(name): \(error)")
                return
            }
            let new = try ModelCompiler.compile(next.document)
            let made = try MigratedStore(next.document) { engine in
                try RowCopy(
                    from: AtomicStore.open(BinaryStoreFormat.self, model: new, options: .init(path: file)),
                    to: engine, model: new
                ).run()
            }
            defer { made.remove() }
            guard try matches(made, next, name, checksStore: false) else { return }
        }
    }

    private func matches(
        _ store: MigratedStore, _ design: ModelDesign, _ name: String, checksStore: Bool = true
    ) throws -> Bool {
        let problems = checksStore ? try store.problems(design.document) : []
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
