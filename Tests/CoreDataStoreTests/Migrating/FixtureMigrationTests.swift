import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// Stores that Apple's Core Data made, brought to every later version of their model.
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct FixtureMigrationTests {
    private static let bookmarks = (1...6).map { $0 == 1 ? "BookmarksModel" : "BookmarksModel \($0)" }

    private func document(_ path: String, _ version: String) throws -> ModelDocument {
        try unwrap(try ModelReader.read(contentsOf: Fixtures.url(path))[version])
    }

    @Test(arguments: [(FixtureStore.bookmarks1, 1), (.bookmarks2, 2), (.bookmarks4, 4)])
    func bookmarksReachEveryLaterVersion(fixture: FixtureStore, version: Int) throws {
        for later in (version + 1)...6 {
            let new = try document("bookmarks/BookmarksModel.xcdatamodeld", Self.bookmarks[later - 1])
            let store = MigratedStore(path: try fixture.copy().path, try fixture.document())
            let (before, after) = (try ModelCompiler.compile(store.document), try ModelCompiler.compile(new))
            let mapping = ModelMapping(
                ModelPairing(
                    old: .init(before, document: store.document),
                    new: .init(after, document: new)))
            let counts = try Self.counts(store.path)
            do { try store.migrate(to: new) } catch let failure as MigrationFailure where failure.kind == .notInferrable
            {
                Issue.record("\(version) → \(later): \(failure.message)")
                continue
            }
            #expect(try store.problems(new) == [], "\(version) → \(later)")
            let expected = Dictionary(
                counts.compactMap { name, count -> (String, Int64)? in
                    guard let old = mapping.source.ordinalByName[name], let new = mapping.destination(of: old) else {
                        return nil
                    }
                    return (mapping.destination.entities[new].name, count)
                }, uniquingKeysWith: { first, _ in first })
            #expect(try Self.counts(store.path).filter { $0.value > 0 } == expected.filter { $0.value > 0 })
        }
    }

    /// Objects of each entity.
    private static func counts(_ path: String) throws -> [String: Int64] {
        let database = try makeDatabase(DatabaseOptions(path: path))
        defer { database.close() }
        return try database.read { connection in
            var result: [String: Int64] = [:]
            let names = try connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
            let tables = try connection.rows(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%Z_ENT INTEGER, Z_OPT%' AND name LIKE 'Z%'"
            )
            for case .text(let table)? in tables.map(\.first) {
                for row in try connection.rows("SELECT Z_ENT, COUNT(*) FROM \(identifier: table) GROUP BY Z_ENT") {
                    guard case .integer(let count) = row[1],
                        case .text(let name)? = names.first(where: { $0[0] == row[0] })?[1]
                    else { continue }
                    result[name, default: 0] += count
                }
            }
            return result
        }
    }

    /// Stores that we make of each version, which the oracle finds to be those of a fresh store but for the order.
    @Test func grocerySteps() throws {
        let path = "grocery-dude/Model.xcdatamodeld"
        let names = (1...8).map { $0 == 1 ? "Model" : "Model \($0)" }
        var reached: [String] = []
        for (index, name) in names.enumerated() {
            for later in names[(index + 1)...] {
                let (old, new) = (try document(path, name), try document(path, later))
                let store = try MigratedStore(old)
                do {
                    try store.migrate(to: new)
                    #expect(try store.problems(new) == [], "\(name) → \(later)")
                    reached.append("\(name) → \(later)")
                } catch let failure as MigrationFailure where failure.kind == .notInferrable {
                    #expect(!failure.obstacles.isEmpty)
                }
            }
        }
        #expect(reached.count >= 8, "\(reached)")
    }
}
