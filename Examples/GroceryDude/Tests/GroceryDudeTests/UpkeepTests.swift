import CoreData
import CoreDataToolkit
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// What keeps a store tidy: duplicates, small pictures, what other stores have.
@Suite(.timeLimit(.minutes(2))) struct UpkeepTests {
    @Test func duplicatesAreMergedAndABackupHasHowItWas() async throws {
        try await TestServer.run(.small) { server in
            // As another program leaves it.
            try await server.app.groceries.stack.performImport { context in
                let unit = Unit(context: context)
                unit.name = " KG"
                for name in ["milk ", "Sugar"] {
                    let item = Item(context: context)
                    item.name = name
                    item.unit = unit
                }
            }
            let browser = try server.browser
            #expect(try await browser.get("/units").words.contains("KG"))
            #expect(try await browser.submit("/settings/duplicates").words.contains("2 duplicates merged."))
            let page = try await browser.get("/prepare")
            // The older one stays, since it has more in it, with what only the other one had.
            #expect(page.words.contains("Fridge 2 Butter Dairy Milk 1 kg · Dairy"), "\(page.words)")
            #expect(page.words.contains("Sugar 1 kg"))
            #expect(!(try await browser.get("/units").words.contains("KG")))
            #expect(try await browser.get("/backups").words.contains("before merge"))
            #expect(try await browser.submit("/settings/duplicates").words.contains("There are no duplicates."))
            #expect(try await Groceries.backupFolder(of: server.store).list().count == 1)
            // All of it is one step.
            let undone = try await browser.submit("/undo", ["back": "/units"])
            #expect(undone.words.contains("Undone: Merge duplicates."), "\(undone.words)")
            #expect(undone.words.contains("KG 2 items kg 1 item"), "\(undone.words)")
            #expect(try await browser.get("/prepare").words.contains("Anywhere at home 2 milk 1 KG Sugar 1 KG"))
            #expect(try await browser.submit("/redo").words.contains("Done again: Merge duplicates."))
            #expect(!(try await browser.get("/units").words.contains("KG")))
        }
    }

    @Test(.enabled(if: Pictures.scaler != nil, "there is neither vipsthumbnail nor convert"))
    func picturesOfOtherProgramsGetSmallOnes() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let page = try await browser.get("/prepare")
            let at = try #require(page.text.firstMatch(of: /data-at="([^"]+)"/)).output.1
            let reader = try browser.events("prepare", after: String(at))
            try await addPicture(to: server.store)
            while true {
                let patch = try await reader.next("patch").data
                if patch.contains("/thumbnail?v=") { break }
            }
            #expect(try await browser.get("/items/1/thumbnail").header("Content-Type") == "image/png")
        }
    }

    /// Through a stack of its own, as another process has.
    private func addPicture(to store: URL) async throws {
        let stack = try await CoreDataStack.setUp(
            model: try Versions.model(Versions.newest), storeURL: store, options: .server)
        try await stack.performImport { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "name == 'Milk'")
            let photo = NSEntityDescription.insertNewObject(forEntityName: "Item_Photo", into: context)
            photo.setValue(TestPicture.png(width: 300, height: 200), forKey: "data")
            try context.fetch(request).first?.setValue(photo, forKey: "photo")
        }
        try await stack.removeStores()
    }

    @Test func aPictureDoesNotStayInMemory() async throws {
        try await TestServer.run(.small) { server in
            try await addPicture(to: server.store)
            await server.app.groceries.stack.mergeNow()
            #expect(try await server.browser.get("/items/1/photo").body == TestPicture.png(width: 300, height: 200))
            try await MainActor.run {
                let photo = try #require(server.app.groceries.item(1)?.photo)
                #expect(photo.isFault)
            }
        }
    }

    @Test func whatAnotherStoreHasIsTakenOver() async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let other = folder.appendingPathComponent("Other.sqlite")
        try await fill(other)
        try await TestServer.run(.small) { server in
            for _ in 0..<2 { #expect(try await server.app.groceries.copyItems(from: other) == 3) }
            let page = try await server.browser.get("/prepare")
            #expect(
                page.words.contains("Fridge 2 Butter Dairy Milk Dairy Pantry 2 Flour 5 kg · Baking Oats"),
                "\(page.words)")
            #expect(try await server.browser.get("/units").words.contains("kg 1 item"))
        }
        await #expect(throws: (any Error).self) {
            try await TestServer.run { server in
                try await server.app.groceries.copyItems(from: folder.appendingPathComponent("Nothing.sqlite"))
            }
        }
    }

    @Test(arguments: [1, 4, 7]) func soIsWhatAStoreOfAnOlderVersionHas(_ version: Int) async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let other = folder.appendingPathComponent("Other.sqlite")
        let picture = TestPicture.png(width: 4, height: 4)
        try OldStore.make(version, at: other) { context in
            for name in ["Milk", "Oats"] {
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue(name, forKey: "name")
                item.setValue(picture, forKey: "photoData")
            }
        }
        try await TestServer.run(.small) { server in
            for _ in 0..<2 { #expect(try await server.app.groceries.copyItems(from: other) == 2) }
            let browser = try server.browser
            #expect(try await browser.get("/prepare").words.contains("Oats"))
            #expect(await server.app.groceries.count("Item") == 4)
            #expect(try await browser.get("/items/1/photo").body == picture)
        }
        // The other store is as it was.
        #expect(try Versions.version(ofStoreAt: other) == version)
    }

    @Test func aStoreOfAnotherProgramIsRefused() async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let other = folder.appendingPathComponent("Other.sqlite")
        let model = NSManagedObjectModel()
        let entity = NSEntityDescription()
        entity.name = "Item"
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: other, options: nil)
        try coordinator.remove(store)
        try await TestServer.run(.small) { server in
            let error = await #expect(throws: ToolkitError.self) {
                try await server.app.groceries.copyItems(from: other)
            }
            #expect(error?.message.contains("of no version that this program knows") == true)
            #expect(await server.app.groceries.count("Item") == 3)
        }
    }

    @MainActor private func fill(_ store: URL) async throws {
        let groceries = try await Groceries(at: store)
        try groceries.perform("Fill") {
            for (name, quantity) in [("Flour", 5), ("Oats", 1)] as [(String, Float)] {
                let item = try groceries.makeItem(named: name)
                item.quantity = quantity
                item.locationAtHome = try groceries.findOrMakePlace(.home, named: "Pantry") as? LocationAtHome
                guard name == "Flour" else { continue }
                item.unit = try groceries.findOrMakePlace(.unit, named: "kg") as? GroceryDude.Unit
                item.locationAtShop = try groceries.findOrMakePlace(.shop, named: "Baking") as? LocationAtShop
            }
            // Nothing tells it from others.
            try groceries.makeItem(named: "").name = nil
        }
        groceries.live.close()
    }

    @Test func theDemoIsHalfDone() async throws {
        try await TestServer.run { server in
            try await server.app.groceries.makeDemo()
            let page = try await server.browser.get("/prepare")
            #expect(page.text.contains("Search 400 items"))
            #expect(page.body.count < 70_000)
            let shop = try await server.browser.get("/shop").words
            #expect(shop.contains("11 of 31"), "\(shop)")
        }
    }
}
