import CoreDataModel
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// A store as SwiftData makes it of structs and enums: Apple's tables, version hashes and bookkeeping (store-format §10).
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct SwiftDataStoreTests {
    private struct Line: Decodable {
        var source: String
        var schema: [[String?]]
    }

    private static let (own, author) = (UUID(), UUID())

    private static func model() throws -> NSManagedObjectModel {
        try NSManagedObjectModel(document: CompositeVector.document())
    }

    private static func schema() throws -> [String] {
        let text = try String(contentsOf: Fixtures.url("schema-vectors-2.jsonl"), encoding: .utf8)
        let lines = try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        return try #require(lines.first { $0.source.hasSuffix("default.store") }).schema.compactMap { $0[2] }
    }

    /// A store with the history tables, no transaction, and a cocktail and an ingredient that SQL put there.
    private func makeStore(keepsModel: Bool = true) throws -> URL {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("default.store")
        let vectors = try CompositeVector.all()
        let hashes = Dictionary(uniqueKeysWithValues: vectors.map { ($0.entity, Data(hexadecimal: $0.hash)) })
        let metadata: [String: Any] = [
            NSStoreTypeKey: NSSQLiteStoreType, NSStoreModelVersionHashesKey: hashes,
            "NSStoreModelVersionHashesVersion": 3, "NSPersistenceFrameworkVersion": 1405,
            NSStoreModelVersionIdentifiersKey: ["1.0.0"], "_NSAutoVacuumLevel": "2",
        ]
        let list = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        let cache = try ModelArchive.modelCache(for: CompositeVector.document())
        let database = try SQLStore.makeDatabase(DatabaseOptions(path: url.path))
        defer { database.close() }
        try database.write { connection in
            for statement in try Self.schema() { try connection.execute(statement) }
            for (index, vector) in vectors.enumerated() {
                let maximum: Int64 = ["Cocktail", "IngredientBase"].contains(vector.entity) ? 1 : 0
                _ = try connection.run(
                    """
                    INSERT INTO Z_PRIMARYKEY VALUES (\(integer: Int64(index + 1)), \(bind: .text(vector.entity)), 0, \
                    \(integer: maximum))
                    """)
            }
            _ = try connection.run(
                "INSERT INTO Z_METADATA VALUES (1, \(bind: .text(UUID().uuidString)), \(bind: .blob(list)))")
            if keepsModel { _ = try connection.run("INSERT INTO Z_MODELCACHE VALUES (\(bind: .blob(cache)))") }
            _ = try connection.run(
                """
                INSERT INTO ZCOCKTAIL (Z_PK, Z_ENT, Z_OPT, ZISCUSTOMCOCKTAIL, ZCOCKTAILNAME, ZCOLLECTIONNAME, ZGLASSWARETYPE, \
                ZPERSON, ZID, ZID1, ZFLAVORS) VALUES (1, 1, 1, 0, 'Negroni', 'Classics', 'rocks', 'Camillo', \
                \(bind: .blob(Self.author.data)), \(bind: .blob(Self.own.data)), \(bind: .blob(Data("[]".utf8))))
                """)
            _ = try connection.run(
                """
                INSERT INTO ZINGREDIENTBASE (Z_PK, Z_ENT, Z_OPT, ZISCUSTOM, ZBASECATEGORY, ZNAME, ZSPECIALTYCATEGORY, \
                ZUMBRELLACATEGORY, ZPREPINGREDIENTNAME, ZID, ZID1) VALUES (1, 5, 1, 0, 'b', 'Gin', 's', 'u', 'cold', \
                \(bind: .blob(Self.own.data)), \(bind: .blob(Self.author.data)))
                """)
        }
        return url
    }

    private func open(_ url: URL, tracksHistory: Bool = true) throws -> NSPersistentStoreCoordinator {
        let coordinator = try NSPersistentStoreCoordinator(validating: Self.model())
        try coordinator.addPersistentStore(
            type: .sqlite, at: url,
            options: [
                NSPersistentHistoryTrackingKey: tracksHistory, NSMigratePersistentStoresAutomaticallyOption: true,
                NSInferMappingModelAutomaticallyOption: true,
            ])
        return coordinator
    }

    private func rows(_ url: URL, _ text: SQLText) throws -> [[SQLValue]] {
        let database = try SQLStore.makeDatabase(DatabaseOptions(path: url.path))
        defer { database.close() }
        return try database.read { try $0.rows(text) }
    }

    private func first(_ entity: String, _ format: String, _ context: NSManagedObjectContext) throws -> NSManagedObject
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format)
        return try #require(try context.fetch(request).first, "\(format)")
    }

    @Test func structsAndEnumsAreRead() throws {
        let coordinator = try open(makeStore())
        try FileStack.story(coordinator) { context in
            let cocktail = try first(
                "Cocktail", "author.person BEGINSWITH 'Cam' AND glasswareType.glasswareType == 'rocks' AND ice == nil",
                context)
            #expect(cocktail.value(forKey: "id") as? UUID == Self.own)
            let author = try #require(cocktail.value(forKey: "author") as? [String: Any])
            #expect(author.keys.sorted() == ["id", "person"])
            #expect(author["id"] as? UUID == Self.author && author["person"] as? String == "Camillo")
            #expect(cocktail.value(forKey: "glasswareType") as? [String: String] == ["glasswareType": "rocks"])
            #expect(cocktail.value(forKeyPath: "compiledTags.flavors") as? Data == Data("[]".utf8))
            #expect(cocktail.value(forKey: "variation") == nil)
            let gin = try first("IngredientBase", "prep.prepIngredientName == 'cold'", context)
            #expect(gin.value(forKey: "id") as? UUID == Self.own)
            #expect(gin.value(forKeyPath: "prep.id") as? UUID == Self.author)
        }
    }

    @Test func structsAndEnumsAreWrittenWhereAppleWritesThem() throws {
        let url = try makeStore()
        let coordinator = try open(url)
        let (own, prep, author) = (UUID(), UUID(), UUID())
        try FileStack.story(coordinator) { context in
            let lime = NSEntityDescription.insertNewObject(forEntityName: "IngredientBase", into: context)
            lime.setValuesForKeys([
                "name": "Lime", "specialtyCategory": "s", "umbrellaCategory": "u", "baseCategory": "b", "id": own,
                "isCustom": true, "prep": ["id": prep, "prepIngredientName": "pressed"],
            ])
            let cocktail = try first("Cocktail", "cocktailName == 'Negroni'", context)
            cocktail.setValue(["id": author, "person": "Fosco"], forKey: "author")
            cocktail.setValue("coupe", forKeyPath: "glasswareType.glasswareType")
            try context.save()
        }
        try coordinator.remove(coordinator.persistentStores[0])
        #expect(
            try rows(url, "SELECT ZID, ZID1, ZPREPINGREDIENTNAME FROM ZINGREDIENTBASE WHERE ZNAME = 'Lime'") == [
                [.blob(own.data), .blob(prep.data), .text("pressed")]
            ])
        #expect(
            try rows(url, "SELECT ZID, ZID1, ZPERSON, ZGLASSWARETYPE FROM ZCOCKTAIL") == [
                [.blob(author.data), .blob(Self.own.data), .text("Fosco"), .text("coupe")]
            ])
        // The history had no transaction before this one.
        #expect(
            try rows(url, "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY 1") == [
                [.integer(16001), .text("CHANGE")], [.integer(16002), .text("TRANSACTION")],
                [.integer(16003), .text("TRANSACTIONSTRING")],
            ])
        #expect(try rows(url, "SELECT COUNT(*) FROM ATRANSACTION") == [[.integer(1)]])
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: url).findings.isEmpty)
    }

    @Test func aStoreOfSwiftDataIsRecovered() throws {
        let url = try makeStore()
        let new = url.deletingLastPathComponent().appendingPathComponent("new.sqlite")
        let recovery = try NSPersistentStoreCoordinator.recoverPersistentStore(at: url, to: new)
        #expect(recovery.isComplete, "\(recovery.notes)")
        let columns: SQLText = "SELECT ZID, ZID1, ZPERSON, ZGLASSWARETYPE, ZFLAVORS FROM ZCOCKTAIL"
        #expect(try rows(new, columns) == rows(url, columns))
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: new).findings.isEmpty)
    }

    /// Without its copy of the model every column becomes an attribute of its own.
    @Test func aStoreOfSwiftDataWithoutModelIsRecoveredColumnByColumn() throws {
        let url = try makeStore(keepsModel: false)
        let folder = url.deletingLastPathComponent()
        let inferred = try StoreEngine.inferredModel(
            options: DatabaseOptions(path: url.path), makeDatabase: { try SQLStore.makeDatabase($0) })
        let new = folder.appendingPathComponent("new.sqlite")
        let recovery = try NSPersistentStoreCoordinator.recoverPersistentStore(
            at: url, to: new, model: NSManagedObjectModel(document: inferred.document))
        #expect(recovery.notes.isEmpty, "\(recovery.notes)")
        let columns: SQLText = "SELECT ZID, ZID1, ZPERSON, ZGLASSWARETYPE, ZFLAVORS FROM ZCOCKTAIL"
        #expect(try rows(new, columns) == rows(url, columns))
    }

    /// What the model does not have is named.
    @Test func whatAModelDoesNotHaveIsNamedByRecovery() throws {
        let url = try makeStore()
        var document = try CompositeVector.document()
        for index in document.entities.indices {
            document.entities[index].properties.removeAll { ["author", "prep"].contains($0.name) }
        }
        let new = url.deletingLastPathComponent().appendingPathComponent("new.sqlite")
        let recovery = try NSPersistentStoreCoordinator.recoverPersistentStore(
            at: url, to: new, model: NSManagedObjectModel(document: document))
        #expect(!recovery.isComplete)
        #expect(
            Set(recovery.notes) == [
                "the column ZCOCKTAIL.ZPERSON belongs to nothing in the model: its value was left out",
                "the column ZCOCKTAIL.ZID1 belongs to nothing in the model: its value was left out",
                "the column ZINGREDIENTBASE.ZPREPINGREDIENTNAME belongs to nothing in the model: its value was left out",
                "the column ZINGREDIENTBASE.ZID1 belongs to nothing in the model: its value was left out",
            ])
    }
}

extension Data {
    fileprivate init(hexadecimal text: String) {
        var bytes: [UInt8] = []
        var rest = Substring(text)
        while rest.count >= 2 {
            bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        self.init(bytes)
    }
}
