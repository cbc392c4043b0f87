import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// Models inferred from tables, beside the models that the tables were made for.
@Suite struct ModelInferenceTests {
    // MARK: Stores with rows

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"), arguments: FixtureStore.all)
    func aStoreWithoutModelIsReadAsItsModelSays(fixture: FixtureStore) throws {
        let store = try fixture.copy()
        let database = try makeDatabase(DatabaseOptions(path: store.path))
        try database.write { try $0.execute("DROP TABLE IF EXISTS Z_MODELCACHE") }
        database.close()
        let inference = try StoreEngine.inferredModel(
            options: DatabaseOptions(path: store.path), makeDatabase: makeDatabase)
        let truth = try fixture.document()
        let comparison = InferenceComparison(inference.document, truth: truth)
        #expect(comparison.wrong.isEmpty)
        #expect(comparison.missed.isEmpty)
        // Nobody has a photo there.
        let isEmpty = fixture.path == FixtureStore.grocery6.path
        #expect(comparison.missedToOnes == (isEmpty ? ["Item.photo"] : []))
        #expect(inference.doubts == (isEmpty ? ["ZITEM.ZPHOTO"] : []))
        let rows = try rowCounts(store, ModelCompiler.compile(inference.document))
        let expected = try rowCounts(fixture.copy(), ModelCompiler.compile(truth))
        for (entity, count) in expected { #expect(rows[entity] == count || rows[entity] == nil, "\(entity)") }
    }

    /// Only tools that ask for it open a store with a model of other hashes.
    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func anInferredModelOpensNothingByItself() throws {
        let store = try FixtureStore.recipes.copy()
        let inference = try StoreEngine.inferredModel(
            options: DatabaseOptions(path: store.path), makeDatabase: makeDatabase)
        let failure = try #require(throws: StoreFailure.self) {
            try StoreEngine.open(
                model: ModelCompiler.compile(inference.document), options: StoreOptions(path: store.path),
                makeDatabase: makeDatabase)
        }
        #expect(failure.kind == .incompatibleModel)
    }

    private func rowCounts(_ store: URL, _ model: CompiledModel) throws -> [String: Int] {
        var options = StoreOptions(path: store.path)
        options.ignoresModelVersioning = true
        options.database.isReadOnly = true
        let engine = try StoreEngine.open(model: model, options: options, makeDatabase: makeDatabase)
        defer { engine.database.close() }
        var counts: [String: Int] = [:]
        for entity in model.entities {
            counts[entity.name] = try engine.count(FetchPlan(entity: entity.ordinal))
        }
        return counts
    }

    // MARK: Stores without rows

    /// Schemas that Apple's Core Data made: everything is told but to-ones without the name of an entity.
    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func schemasAloneTellEntitiesAttributesAndManyRelationships() throws {
        var found = 0
        var wrong: [String] = []
        let all = try SchemaVector.all().filter { $0.partial != true }
        let vectors = Trials.some(of: all)
        for vector in vectors {
            let file = try vector.makeStore()
            defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
            let inference = try StoreEngine.inferredModel(
                options: DatabaseOptions(path: file.path), makeDatabase: makeDatabase)
            let comparison = InferenceComparison(inference.document, truth: vector.document)
            #expect(comparison.missed.isEmpty, "\(vector.source)")
            found += comparison.foundToOnes
            wrong += comparison.wrong
            let model = try ModelCompiler.compile(inference.document)
            var options = StoreOptions(path: file.path)
            options.ignoresModelVersioning = true
            let engine = try StoreEngine.open(model: model, options: options, makeDatabase: makeDatabase)
            engine.database.close()
        }
        // Links in which a column has the name of another entity than it leads to; they have no rows.
        let known = ["Contact.inviter: leads to Inviter", "File.link: leads to Link"]
        #expect(wrong.allSatisfy(known.contains), "\(wrong)")
        guard vectors.count == all.count else { return }
        #expect(found > 200)
        #expect(wrong == known)
    }

    // MARK: Single rules

    @Test func valuesTellWhereAColumnLeads() throws {
        var owner = StoreOutline.Column(name: "ZOWNER", type: "INTEGER")
        owner.holders = [1]
        func target(_ table: String, rows: Int, entity: Int64) -> StoreOutline.Target {
            .init(table: table, hits: 20, misses: 0, rowCount: rows, entities: [entity])
        }
        func destination(_ targets: [StoreOutline.Target], index: Bool = true) throws -> String? {
            owner.targets = targets
            let outline = StoreOutline(
                entities: [
                    .init(number: 1, name: "Car", parent: 0, maximum: 0),
                    .init(number: 2, name: "Person", parent: 0, maximum: 0),
                    .init(number: 3, name: "Garage", parent: 0, maximum: 0),
                ],
                tables: [
                    .init(name: "ZCAR", root: 1, columns: [owner]), .init(name: "ZPERSON", root: 2, columns: []),
                    .init(name: "ZGARAGE", root: 3, columns: []),
                ], joinTables: [], schemaNames: index ? ["ZCAR_ZOWNER_INDEX"] : [])
            let car = try #require(ModelInference(outline).document.entities.first)
            guard case .relationship(let relationship)? = car.properties.first?.kind else { return nil }
            return relationship.destinationName
        }
        #expect(try destination([target("ZPERSON", rows: 20, entity: 2)]) == "Person")
        // 20 keys of 20 rows would hardly be 20 keys of 500.
        let both = [target("ZGARAGE", rows: 500, entity: 3), target("ZPERSON", rows: 20, entity: 2)]
        #expect(try destination(both) == "Person")
        #expect(try destination([both[1], target("ZGARAGE", rows: 21, entity: 3)]) == nil)
        #expect(try destination([target("ZPERSON", rows: 20, entity: 2)], index: false) == nil)
        #expect(try destination([]) == nil)
    }

    @Test func namesAreSpeltAsIndexesAndEntitiesSpellThem() throws {
        let outline = StoreOutline(
            entities: [
                .init(number: 1, name: "Item", parent: 0, maximum: 0),
                .init(number: 2, name: "LocationAtHome", parent: 0, maximum: 0),
            ],
            tables: [
                .init(
                    name: "ZITEM", root: 1,
                    columns: ["ZLOCATIONATHOME", "ZDISPLAYORDER", "ZISFAVORITE", "ZHASH"].map {
                        .init(name: $0, type: "INTEGER")
                    }), .init(name: "ZLOCATIONATHOME", root: 2, columns: []),
            ], joinTables: [], schemaNames: ["ZITEM_ZLOCATIONATHOME_INDEX", "Z_Item_UNIQUE_displayOrder"])
        let entities = ModelInference(outline).document.entities
        #expect(
            entities[0].properties.map(\.name).sorted() == ["Hash", "displayOrder", "isfavorite", "locationAtHome"])
        #expect(entities[1].properties.map(\.name) == ["items"])
        #expect(throws: Never.self) { try ModelCompiler.compile(ModelInference(outline).document) }
    }

    /// Stores are files: what they say need not make sense.
    @Test(arguments: [
        [(1, 2), (2, 1)], [(1, 1)], [(1, 7)], [(1, 0), (2, 9), (3, 2)],
    ])
    func parentsThatMakeNoTreeAreLeftOut(rows: [(Int64, Int64)]) throws {
        let outline = StoreOutline(
            entities: rows.map { .init(number: $0.0, name: "E\($0.0)", parent: $0.1, maximum: 0) },
            tables: [.init(name: "ZE1", root: 1, columns: [.init(name: "Z9_E", type: "INTEGER")])],
            joinTables: [("Z_1THINGS", ["Z_1A", "Z_9THINGS"]), ("Z_1B", ["Z_1B"]), ("Z_9", [])], schemaNames: [])
        #expect(throws: Never.self) { try ModelCompiler.compile(ModelInference(outline).document) }
    }
}
