import CoreDataModel
import CoreDataSQL
import CoreDataSQLite
import CoreDataStore
import TestSupport
import Testing

/// Schemas against files that Apple's Core Data made.
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct FixtureSchemaTests {
    /// Text and order of everything, the indexes that SQLite itself makes included.
    @Test(arguments: FixtureStore.all.filter(\.isFresh))
    func freshStoreHasApplesSchema(fixture: FixtureStore) throws {
        let apples = try makeDatabase(DatabaseOptions(path: fixture.copy().path))
        let expected = try schema(of: apples)
        var options = StoreOptions(path: nil)
        options.tracksHistory = expected.contains { $0.contains("ACHANGE") }
        let engine = try StoreEngine.open(model: fixture.compiled(), options: options, makeDatabase: makeDatabase)
        let ours = try schema(of: engine.database)
        for (ours, expected) in zip(ours, expected) { #expect(ours == expected) }
        #expect(ours == expected)
    }

    @Test(arguments: FixtureStore.all)
    func storeOpensWithItsModel(fixture: FixtureStore) throws {
        let model = try fixture.compiled()
        let engine = try StoreEngine.open(
            model: model, options: StoreOptions(path: fixture.copy().path), makeDatabase: makeDatabase)
        #expect(!engine.identifier.isEmpty)
        for entity in model.entities {
            let bound = try #require(engine.layout.entities[entity.ordinal])
            #expect(bound.columnNames.count == entity.rowLayout.columns.count)
            #expect(!bound.columnNames.contains(nil), "\(entity.name): \(bound.columnNames)")
            #expect(engine.layout.ordinalByNumber[bound.number] == entity.ordinal)
        }
    }

    /// The copy says all that the store depends on: hashes, and the schema with the indexes that compiling adds.
    @Test(arguments: FixtureStore.all)
    func storeKeepsItsModel(fixture: FixtureStore) throws {
        let document = try fixture.document()
        let model = try ModelCompiler.compile(document)
        var options = StoreOptions(path: nil)
        options.document = { document }
        let engine = try StoreEngine.open(model: model, options: options, makeDatabase: makeDatabase)
        let cached = try ModelCompiler.compile(engine.cachedModelDocument())
        #expect(cached.entities.map(\.name) == model.entities.map(\.name))
        #expect(cached.entities.map(\.versionHash) == model.entities.map(\.versionHash))
        let ordinals = Array(model.entities.indices)
        #expect(
            try SchemaLayout.fresh(model: cached, entities: ordinals).statements()
                == SchemaLayout.fresh(model: model, entities: ordinals).statements())
    }

    @Test func storesBefore2015KeepNoModel() throws {
        let failure = try #require(throws: StoreFailure.self) {
            try StoreEngine.cachedModelDocument(
                options: DatabaseOptions(path: FixtureStore.surfJournal.copy().path), makeDatabase: makeDatabase)
        }
        #expect(failure.kind == .noCachedModel)
        #expect(failure.message.contains("SurfJournalModel.sqlite"))
    }

    @Test func renamedEntityKeepsItsOldNumber() throws {
        // Apple's migration from ExpensiveSportCar to LuxuryCar left the old name in Z_PRIMARYKEY.
        let model = try FixtureStore.sample2.compiled()
        let engine = try StoreEngine.open(
            model: model, options: StoreOptions(path: FixtureStore.sample2.copy().path), makeDatabase: makeDatabase)
        let luxury = try #require(model.entity(named: "LuxuryCar"))
        #expect(engine.layout.entities[luxury.ordinal]?.number == 3)
    }

    @Test func otherVersionIsRefusedWithTheDifference() throws {
        let failure = try #require(throws: StoreFailure.self) {
            try StoreEngine.open(
                model: FixtureStore.sample2.compiled(),
                options: StoreOptions(path: FixtureStore.sample1.copy().path), makeDatabase: makeDatabase)
        }
        #expect(failure.kind == .incompatibleModel)
        #expect(failure.mismatch?.added == ["LuxuryCar"])
        #expect(failure.mismatch?.removed == ["ExpensiveSportCar"])
        #expect(failure.mismatch?.changed == ["Car", "Person", "SportCar"])
        #expect(failure.metadata?.metadata.frameworkVersion == 1044)
        // SportCar inherits what changed in Car; transient properties do not count.
        #expect(
            failure.mismatch?.details == [
                "Car.color is only in the store", "Person.id is only in the store",
            ])
        #expect(failure.message.contains("Person.id is only in the store"))
    }

    @Test func everyTraitOfAPropertyIsTold() throws {
        let old = FixtureStore.bookmarks1
        let failure = try #require(throws: StoreFailure.self) {
            try StoreEngine.open(
                model: FixtureStore.bookmarks4.compiled(), options: StoreOptions(path: old.copy().path),
                makeDatabase: makeDatabase)
        }
        #expect(
            failure.mismatch?.details == [
                "BookmarkEntity.favoriteFolder is only in the store",
                "BookmarkEntity.favoriteFolders is only in the model",
                "BookmarkEntity.favorites: inverse was favoriteFolder, is favoriteFolders",
                "BookmarkEntity.isFavorite is only in the store",
                "BookmarkEntity.isPendingDeletion is only in the model",
                "BookmarkEntity.modifiedAt is only in the model",
            ])
    }
}
