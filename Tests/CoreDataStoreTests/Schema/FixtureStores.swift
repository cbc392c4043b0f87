import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import CoreDataStore
import Foundation
import TestSupport
import Testing

let makeDatabase: DatabaseFactory = { try SQLiteDatabase(SQLiteOptions($0)) }

/// A store that Apple's Core Data made, and where its model is.
struct FixtureStore: CustomTestStringConvertible, Sendable {
    enum Model: Sendable {
        /// A version of a `.xcdatamodeld` or a `.xcdatamodel`.
        case source(String, version: String? = nil, renaming: [String: String] = [:])
        /// The copy in the store.
        case cache
    }

    var path: String
    var model: Model
    /// Whether its schema is what a fresh store of today has, statement for statement.
    var isFresh = false
    /// What the verifier rightly finds.
    var findings: [String] = []

    var testDescription: String { "\(path) \(model)" }

    /// The same store with the model that it keeps.
    var withCache: FixtureStore {
        var copy = self
        copy.model = .cache
        return copy
    }

    func document() throws -> ModelDocument {
        switch model {
        case .source(let path, let version, let renaming):
            let versions = try ModelReader.read(contentsOf: Fixtures.url(path))
            var document = try unwrap(versions[version ?? versions.currentName])
            for entity in document.entities.indices {
                for property in document.entities[entity].properties.indices {
                    let name = document.entities[entity].properties[property].name
                    document.entities[entity].properties[property].name = renaming[name] ?? name
                }
            }
            return document
        case .cache:
            return try StoreEngine.cachedModelDocument(
                options: DatabaseOptions(path: copy().path), makeDatabase: makeDatabase)
        }
    }

    func compiled() throws -> CompiledModel { try ModelCompiler.compile(document()) }

    /// A copy that a test may write to.
    func copy() throws -> URL { try Fixtures.temporaryCopy(path) }

    static let bookmarks1 = FixtureStore(
        path: "bookmarks/Bookmarks_V1.sqlite",
        model: .source("bookmarks/BookmarksModel.xcdatamodeld", version: "BookmarksModel"), isFresh: true)
    static let bookmarks2 = FixtureStore(
        path: "bookmarks/Bookmarks_V2.sqlite",
        model: .source("bookmarks/BookmarksModel.xcdatamodeld", version: "BookmarksModel 2"), isFresh: true)
    static let bookmarks4 = FixtureStore(
        path: "bookmarks/Bookmarks_V4.sqlite",
        model: .source("bookmarks/BookmarksModel.xcdatamodeld", version: "BookmarksModel 4"), isFresh: true)
    static let sample1 = FixtureStore(
        path: "sample-model/SampleModel_V1.sqlite",
        model: .source("sample-model/SampleModel.xcdatamodeld", version: "SampleModel"), isFresh: true)
    static let sample2 = FixtureStore(
        path: "sample-model/SampleModel_V2.sqlite",
        model: .source("sample-model/SampleModel.xcdatamodeld", version: "SampleModel2"),
        findings: [
            "note: LuxuryCar: stands in Z_PRIMARYKEY under its old name 'ExpensiveSportCar' (a migration renamed it)"
        ])
    static let grocery5 = FixtureStore(
        path: "grocery-dude/DefaultData-5-entities.sqlite",
        model: .source("grocery-dude/Model.xcdatamodeld", version: "Model 6"))
    /// Made with a version of the model before two names got their misspellings.
    static let grocery6 = FixtureStore(
        path: "grocery-dude/DefaultData.sqlite",
        model: .source(
            "grocery-dude/Model.xcdatamodeld", version: "Model 8",
            renaming: ["colletced": "collected", "storeIn": "storedIn"]),
        // What Apple's migration of 2013 left: -1 everywhere.
        findings: [("Item", 399), ("Location", 35), ("Unit", 8)].map {
            "warning: \($0.0): the highest primary key handed out is said to be -1, but there is a row \($0.1) (keys are then counted from the rows)"
        })
    static let surfJournal = FixtureStore(
        path: "surf-journal/SurfJournalModel.sqlite",
        model: .source("surf-journal/SurfJournalModel.xcdatamodeld"))

    /// Its model was made in code.
    static let books = FixtureStore(
        path: "sample-model-2/SampleModel2_V2.sqlite", model: .cache, isFresh: true)
    static let recipes = FixtureStore(
        path: "recipes/Recipes.sqlite", model: .source("recipes/Recipes.xcdatamodeld", version: "Recipes 2"))
    static let coreDataBooks = FixtureStore(
        path: "core-data-books/CoreDataBooks.CDBStore",
        model: .source("core-data-books/CoreDataBooks.xcdatamodeld"))
    static let tweets = FixtureStore(
        path: "twitter-seed/RKSeedDatabase.sqlite", model: .source("twitter-seed/RKTwitterCoreData.xcdatamodel"))
    static let compiledSample1 = FixtureStore(
        path: "sample-model/SampleModel_V1.sqlite",
        model: .source("sample-model/SampleModel.momd", version: "SampleModel"), isFresh: true)

    static let all =
        [
            bookmarks1, bookmarks2, bookmarks4, sample1, sample2, grocery5, grocery6, surfJournal, books, recipes,
            coreDataBooks, tweets, compiledSample1,
        ] + [bookmarks1, bookmarks2, bookmarks4, sample1, sample2, grocery5].map(\.withCache)
}

struct Missing: Error {}

func unwrap<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw Missing() }
    return value
}

/// The statements and index names of a file's schema, in its order.
func schema(of database: any SQLDatabase) throws -> [String] {
    try database.read { connection in
        try connection.rows("SELECT IFNULL(sql, name) FROM sqlite_master ORDER BY rowid").compactMap { row in
            if case .text(let text) = row[0] { text } else { nil }
        }
    }
}
