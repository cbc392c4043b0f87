import CoreDataModel
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Stores that earlier versions of this framework made, before Apple's version hash and columns of composite attributes were known.
@Suite struct FormerCompositeTests {
    private static func document(_ more: PropertyElement...) -> ModelDocument {
        var shop = entity(
            "Shop", attribute("name"), attribute("city"),
            composite("address", attribute("number", .integer16), attribute("city"), attribute("zip")))
        shop.properties += more
        return model(shop, entity("Tag", attribute("name")))
    }

    private static var migrating: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    /// A closed store of a former version, with one shop and one tag.
    private func formerStore(options: [AnyHashable: Any]? = nil) throws -> FileStack {
        let document = Self.document()
        let stack = try FileStack(.sqlite, model: NSManagedObjectModel(document: document))
        if let options { try stack.reopen(options) }
        try stack.story { context in
            let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
            shop.setValue("Book & Co", forKey: "name")
            shop.setValue("Bergen", forKey: "city")
            shop.setValue(["number": 7, "city": "Oslo"], forKey: "address")
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("new", forKey: "name")
            try context.save()
        }
        try stack.coordinator.remove(stack.store)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: stack.url)
        metadata[NSStoreUUIDKey] = nil
        let entities = try ModelCompiler.compile(document).entities
        let hashes = entities.map { ($0.name, $0.formerVersionHash ?? $0.versionHash) }
        metadata[NSStoreModelVersionHashesKey] = Dictionary(uniqueKeysWithValues: hashes)
        metadata["NSStoreModelVersionChecksumKey"] = VersionHash.checksum(Dictionary(uniqueKeysWithValues: hashes))
        let list = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        try withDatabase(stack) { connection in
            for (new, former) in [
                ("ZCITY", "ZADDRESS_CITY"), ("ZCITY1", "ZCITY"), ("ZNUMBER", "ZADDRESS_NUMBER"),
                ("ZZIP", "ZADDRESS_ZIP"),
            ] { try connection.execute("ALTER TABLE ZSHOP RENAME COLUMN \(new) TO \(former)") }
            _ = try connection.run("UPDATE Z_METADATA SET Z_PLIST = \(bind: .blob(list))")
        }
        return stack
    }

    private func withDatabase<R>(_ stack: FileStack, _ body: (any SQLConnection) throws -> R) throws -> R {
        let database = try SQLStore.makeDatabase(DatabaseOptions(path: stack.url.path))
        defer { database.close() }
        return try database.write(body)
    }

    private func columns(_ stack: FileStack) throws -> Set<String> {
        try withDatabase(stack) { connection in
            Set(try StoreCatalog.read(connection).table("ZSHOP")?.columns ?? [])
        }
    }

    private static let fixed: Set = ["Z_PK", "Z_ENT", "Z_OPT", "ZNAME"]
    private static let apples = fixed.union(["ZCITY", "ZCITY1", "ZNUMBER", "ZZIP"])
    private static let former = fixed.union(["ZCITY", "ZADDRESS_CITY", "ZADDRESS_NUMBER", "ZADDRESS_ZIP"])

    private func open(
        _ stack: FileStack, _ document: ModelDocument, _ options: [AnyHashable: Any]?
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = try NSPersistentStoreCoordinator(validating: NSManagedObjectModel(document: document))
        try coordinator.addPersistentStore(type: .sqlite, at: stack.url, options: options)
        return coordinator
    }

    private func shops(_ coordinator: NSPersistentStoreCoordinator, _ format: String) throws -> [String] {
        try FileStack.story(coordinator) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Shop")
            request.predicate = NSPredicate(format: format)
            return try context.fetch(request).map { shop in
                let address = shop.value(forKey: "address") as? [String: Any] ?? [:]
                let parts = [
                    shop.value(forKey: "name"), shop.value(forKey: "city"), address["number"], address["city"],
                    address["zip"],
                ]
                return parts.map { $0.map { "\($0)" } ?? "-" }.joined(separator: " ")
            }
        }
    }

    private func verification(_ stack: FileStack, _ document: ModelDocument) throws -> PersistentStoreVerification {
        try NSPersistentStoreCoordinator.verifyPersistentStore(
            at: stack.url, model: NSManagedObjectModel(document: document))
    }

    @Test func aFormerStoreIsMigratedWhenItIsOpened() throws {
        let stack = try formerStore()
        #expect(try columns(stack) == Self.former)
        let coordinator = try open(stack, Self.document(), Self.migrating)
        #expect(try shops(coordinator, "address.city == 'Oslo' AND city == 'Bergen'") == ["Book & Co Bergen 7 Oslo -"])
        try coordinator.remove(coordinator.persistentStores[0])
        #expect(try columns(stack) == Self.apples)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: stack.url)
        #expect(
            try NSManagedObjectModel(document: Self.document()).isConfiguration(
                withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(try verification(stack, Self.document()).findings.isEmpty)
    }

    @Test func aFormerStoreIsMigratedToANewerVersion() throws {
        let stack = try formerStore()
        let newer = Self.document(attribute("floor", .integer16), composite("geo", attribute("x", .double)))
        let coordinator = try open(stack, newer, Self.migrating)
        #expect(try shops(coordinator, "address.number == 7 AND geo == nil") == ["Book & Co Bergen 7 Oslo -"])
        try coordinator.remove(coordinator.persistentStores[0])
        #expect(try columns(stack) == Self.apples.union(["ZFLOOR", "ZX"]))
        #expect(try verification(stack, newer).findings.isEmpty)
    }

    /// Where nobody asks for a migration the store stays as it is, and works.
    @Test(arguments: [false, true])
    func aFormerStoreIsReadAndWrittenWithoutMigration(isReadOnly: Bool) throws {
        let stack = try formerStore()
        let options = isReadOnly ? Self.migrating.merging([NSReadOnlyPersistentStoreOption: true]) { $1 } : nil
        let coordinator = try open(stack, Self.document(), options)
        #expect(try shops(coordinator, "address.city == 'Oslo'") == ["Book & Co Bergen 7 Oslo -"])
        if !isReadOnly {
            try FileStack.story(coordinator) { context in
                let shop = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shop")).first)
                shop.setValue("0150", forKeyPath: "address.zip")
                shop.setValue("Voss", forKey: "city")
                try context.save()
            }
        }
        try coordinator.remove(coordinator.persistentStores[0])
        #expect(try columns(stack) == Self.former)
        let row = try withDatabase(stack) { connection in
            try connection.rows("SELECT ZCITY, ZADDRESS_CITY, ZADDRESS_ZIP FROM ZSHOP")
        }
        #expect(
            row == [
                isReadOnly
                    ? [.text("Bergen"), .text("Oslo"), .null] : [.text("Voss"), .text("Oslo"), .text("0150")]
            ])
        let verification = try verification(stack, Self.document())
        #expect(verification.isPassed && verification.findings.count == 1)
        #expect(verification.findings.first?.message.contains("earlier version of OpenCoreData") == true)
    }

    /// Which property an update was of is found in the history afterwards, too.
    @Test func theHistoryOfAFormerStoreStays() throws {
        let history: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        let stack = try formerStore(options: history)
        func change(_ coordinator: NSPersistentStoreCoordinator, _ path: String, _ value: Any) throws {
            try FileStack.story(coordinator) { context in
                let shop = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shop")).first)
                shop.setValue(value, forKeyPath: path)
                try context.save()
            }
        }
        let former = try open(stack, Self.document(), history)
        try change(former, "address.number", 8)
        try former.remove(former.persistentStores[0])
        let coordinator = try open(stack, Self.document(), Self.migrating.merging(history) { $1 })
        try change(coordinator, "city", "Voss")
        let updates = try FileStack.story(coordinator) { context in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
            return transactions.flatMap { $0.changes ?? [] }.filter { $0.changeType == .update }
                .map { ($0.updatedProperties ?? []).map(\.name).sorted() }
        }
        #expect(updates == [["address"], ["city"]])
    }

    /// Stages begin at the version that the store is of, whatever its hashes.
    @Test func aFormerStoreIsLedOverStages() throws {
        let stack = try formerStore()
        let newer = Self.document(attribute("floor", .integer16))
        let checksums = try [Self.document(), newer].map { try NSManagedObjectModel(document: $0).versionChecksum }
        let stages = NSStagedMigrationManager([NSLightweightMigrationStage(checksums)])
        let coordinator = try open(
            stack, newer, Self.migrating.merging([NSPersistentStoreStagedMigrationManagerOptionKey: stages]) { $1 })
        #expect(try shops(coordinator, "floor == nil") == ["Book & Co Bergen 7 Oslo -"])
    }

    @Test func aFormerXMLStoreGetsApplesHashesWithItsNextSave() throws {
        let document = Self.document()
        let stack = try FileStack(.xml, model: NSManagedObjectModel(document: document))
        try stack.story { context in
            let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
            shop.setValue(["city": "Oslo"], forKey: "address")
            try context.save()
        }
        try stack.coordinator.remove(stack.store)
        let shop = try #require(try ModelCompiler.compile(document).entity(named: "Shop"))
        let former = try #require(shop.formerVersionHash?.base64EncodedString())
        let apples = shop.versionHash.base64EncodedString()
        let text = try String(contentsOf: stack.url, encoding: .utf8)
        #expect(text.contains(apples))
        try text.replacingOccurrences(of: apples, with: former).write(to: stack.url, atomically: true, encoding: .utf8)
        #expect(try verification(stack, document).findings.count == 1)
        try stack.reopen(Self.migrating)
        try stack.story { context in
            let shop = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shop")).first)
            #expect(shop.value(forKeyPath: "address.city") as? String == "Oslo")
            shop.setValue("Voss", forKey: "city")
            try context.save()
        }
        let saved = try String(contentsOf: stack.url, encoding: .utf8)
        #expect(saved.contains(apples) && !saved.contains(former))
    }

    @Test func aFormerStoreIsRecoveredWhole() throws {
        let stack = try formerStore()
        let new = stack.folder.appendingPathComponent("new.sqlite")
        let recovery = try NSPersistentStoreCoordinator.recoverPersistentStore(at: stack.url, to: new)
        #expect(recovery.isComplete, "\(recovery.notes)")
        let coordinator = try NSPersistentStoreCoordinator(
            validating: NSManagedObjectModel(document: Self.document()))
        try coordinator.addPersistentStore(type: .sqlite, at: new)
        #expect(try shops(coordinator, "TRUEPREDICATE") == ["Book & Co Bergen 7 Oslo -"])
    }
}
