import CoreData
import Foundation
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

/// Which transactions are captured, and what happens where the history does not tell.
@Suite struct CaptureHistoryTests {
    @Test func batchRequestsAreCaptured() throws {
        let stack = try CaptureStack()
        try stack.context.performAndWait {
            let rows = (0..<20).map { ["name": "tag \($0)"] }
            try stack.context.execute(NSBatchInsertRequest(entityName: "Tag", objects: rows))
        }
        #expect(try stack.run().result.insertedObjects == 20)
        try stack.context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Tag")
            update.predicate = NSPredicate(format: "name ENDSWITH '7'")
            update.propertiesToUpdate = ["name": "seven"]
            try stack.context.execute(update)
        }
        let updated = try stack.run()
        #expect(updated.states.map(\.shown) == [["name": .string("seven")], ["name": .string("seven")]])
        try stack.context.performAndWait {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag")
            request.predicate = NSPredicate(format: "name == 'seven'")
            try stack.context.execute(NSBatchDeleteRequest(fetchRequest: request))
        }
        let deleted = try stack.run()
        #expect(deleted.result.deletedObjects == 2)
        #expect(Set(deleted.states.map(\.id)) == Set(updated.states.map(\.id)))
    }

    @Test func transactionsOfOtherProcessesAreCaptured() throws {
        let folder = try TemporaryFolder()
        let stack = try CaptureStack(type: NSSQLiteStoreType, url: folder("Shop.sqlite"))
        let item = try stack.save { _ in stack.new("Item", ["name": "Milk"]) }
        try stack.run()
        let id = try stack.id(item)
        // A coordinator of its own, as in another process.
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CaptureStack.shop())
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder("Shop.sqlite"),
            options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = coordinator
        try other.performAndWait {
            let items = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
            items.first?.setValue("Soy", forKey: "name")
            try other.save()
        }
        let captured = try stack.run()
        #expect(captured.states.map(\.id) == [id] && captured.states.map(\.shown) == [["name": .string("Soy")]])
    }

    // MARK: Apply's own transactions

    @Test func whatApplyMeantToWriteIsNoEdit() throws {
        let stack = try CaptureStack()
        let (item, tea, rum) = try stack.save { _ in
            (
                stack.new("Item", ["name": "Milk"]), stack.new("Item", ["name": "Tea"]),
                stack.new("Item", ["name": "Rum"])
            )
        }
        try stack.run()
        var intended = IntendedChanges()
        let new = try stack.save(author: "sync") { context in
            item.setValue("Soy", forKey: "name")
            // Beyond: the app's `willSave`, for example.
            item.setValue("changed", forKey: "note")
            context.delete(tea)
            context.delete(rum)
            return stack.new("Item", ["name": "Water"])
        }
        intended.insertUpdate(stack.key(item), "name")
        intended.deleted = [stack.key(tea)]
        intended.inserted.insert(stack.key(new).key, stack.key(new).root)
        #expect(intended.contains(stack.key(item), "name") && !intended.contains(stack.key(item), "note"))
        #expect(intended.contains(stack.key(new), "note"))
        let (itemID, rumID) = (try stack.id(item), try stack.id(rum))
        let captured = try stack.run(intended)
        #expect(captured.states.count == 2)
        #expect(captured[itemID]?.shown == ["note": .string("changed")])
        #expect(captured[rumID]?.deleted != nil)
        #expect(try stack.entry(new) == nil)
    }

    @Test func withoutAnIntentionAllOfItIsLeftOut() throws {
        let stack = try CaptureStack()
        try stack.save(author: "sync") { _ in _ = stack.new("Item", ["name": "Milk"]) }
        try stack.save(author: "app") { _ in _ = stack.new("Item", ["name": "Tea"]) }
        let captured = try stack.run()
        #expect(captured.result.transactions == 2 && captured.states.map(\.shown) == [["name": .string("Tea")]])
        #expect(try stack.run().result.transactions == 0)
    }

    // MARK: Where the history does not tell

    @Test func aStoreIsComparedWhenItIsAttached() throws {
        let stack = try CaptureStack(attach: false)
        let item = try stack.save { _ in
            let item = stack.new("Item", ["name": "Milk", "unit": stack.new("Unit", ["name": "Litre"])])
            item.mutableSetValue(forKey: "tags").add(stack.new("Tag"))
            stack.new("List").mutableOrderedSetValue(forKey: "items").add(item)
            return item
        }
        #expect(try stack.run().result.needsComparison == .firstTime)
        #expect(try stack.sidecar.counts().entries == 0)
        let captured = try stack.compare(.prevailing)
        #expect(captured.states.count == 4 && captured.result.insertedObjects == 4)
        let entry = try #require(try stack.entry(item))
        #expect(entry.state.created == SeedAge.prevailing.stamp(stack.sidecar.settings.device))
        #expect(entry.state.properties["items#"]?.text != nil && captured[entry.id]?.edges.count == 1)
        #expect(stack.sidecar.settings.seedAge == .prevailing)
        #expect(try stack.run().result.needsComparison == nil)
        try stack.save { _ in item.setValue("Tea", forKey: "name") }
        #expect(try stack.run().states.first?.properties["name"]?.stamp.isSeed == false)
    }

    @Test func aPurgedHistoryIsReplacedByAComparison() throws {
        let stack = try CaptureStack()
        let (item, tea, tag) = try stack.save { _ in
            (
                stack.new("Item", ["name": "Milk", "count": 1, "best": 1.0]), stack.new("Item", ["name": "Tea"]),
                stack.new("Tag")
            )
        }
        try stack.run()
        let (itemID, teaID) = (try stack.id(item), try stack.id(tea))
        let rum = try stack.save { context in
            item.setValue("Soy", forKey: "name")
            item.setValue(4, forKey: "count")
            item.mutableSetValue(forKey: "keywords").add(tag)
            context.delete(tea)
            return stack.new("Item", ["name": "Rum"])
        }
        try stack.save { _ in _ = stack.new("Tag", ["name": "late"]) }
        try stack.context.performAndWait {
            try stack.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        }
        #expect(try stack.run().result.needsComparison == .purged)
        let captured = try stack.compare()
        #expect(captured.states.count == 4)
        #expect(captured[itemID]?.shown == ["name": .string("Soy")])
        #expect(captured[itemID]?.properties.keys.sorted() == ["count", "name"])
        #expect(captured[itemID]?.edge("keywords", try stack.id(tag))?.isPresent == true)
        #expect(captured[teaID]?.deleted?.isSeed == false)
        #expect(captured[try stack.id(rum)]?.created?.isSeed == false)
        #expect(try stack.compare().states == [])
        #expect(try stack.run().result.needsComparison == nil)
    }

    @Test func anotherStoreNeedsAComparison() throws {
        let stack = try CaptureStack()
        var settings = stack.sidecar.settings
        settings.token = settings.token?.mapValues { $0 + 100 }
        var change = SidecarChange()
        change.settings = settings
        try stack.sidecar.write(change)
        // The store's history is shorter than the token: the store was restored from a copy.
        #expect(try stack.run().result.needsComparison == .otherStore)
        settings.storeIdentifier = "another"
        change.settings = settings
        try stack.sidecar.write(change)
        #expect(try stack.run().result.needsComparison == .otherStore)
    }

    /// The store is a copy from before; the sidecar knows later changes.
    @Test func aRestoredStoreHasSeedStamps() throws {
        let folder = try TemporaryFolder()
        let stack = try CaptureStack(type: NSSQLiteStoreType, url: folder("Shop.sqlite"))
        let item = try stack.save { _ in stack.new("Item", ["name": "Milk", "note": "x"]) }
        try stack.run()
        let created = try #require(try stack.entry(item)?.state.created)
        try stack.save { _ in item.setValue("Soy", forKey: "name") }
        let rum = try stack.save { _ in stack.new("Item", ["name": "Rum"]) }
        try stack.run()
        let rumID = try #require(try stack.id(rum))
        // As if the copy had been put there.
        try stack.save(author: "sync") { context in
            item.setValue("Milk", forKey: "name")
            context.delete(rum)
        }
        let captured = try stack.compare(.yielding)
        let state = try #require(try stack.entry(item)?.state)
        #expect(state.properties["name"]?.stamp.isSeed == true && state.properties["note"]?.stamp == created)
        #expect(captured.states.map(\.shown) == [["name": .string("Milk")]])
        let entry = try #require(try stack.sidecar.entries(ids: [rumID]).first)
        #expect(entry.key == 0 && entry.state.exists(.deleteWins))
    }

    @Test(arguments: [NSXMLStoreType, NSBinaryStoreType, NSSQLiteStoreType])
    func storesWithoutHistoryAreComparedByEachCapture(type: String) throws {
        let folder = try TemporaryFolder()
        let stack = try CaptureStack(type: type, url: folder("Shop.store"), history: false)
        #expect(!stack.capture.hasHistory)
        let (item, tea) = try stack.save { _ in
            (stack.new("Item", ["name": "Milk"]), stack.new("Item", ["name": "Tea"]))
        }
        #expect(try stack.run().states.count == 2)
        let teaID = try stack.id(tea)
        try stack.save {
            $0.delete(tea)
            item.setValue("Soy", forKey: "name")
        }
        let captured = try stack.run()
        #expect(captured.states.count == 2 && captured[teaID]?.deleted != nil)
        #expect(captured[try stack.id(item)]?.shown == ["name": .string("Soy")])
        #expect(try stack.run().states == [])
        // What apply writes is no edit, once its digests are known.
        try stack.save(author: "sync") { _ in item.setValue("Oat", forKey: "name") }
        try stack.capture.updateDigests(of: [stack.key(item)])
        #expect(try stack.run().states == [])
    }

    // MARK: Crashes

    struct Thrown: Error {}

    @Test(arguments: [3, 600])
    func aCaptureThatDiesIsDoneAgainWithLaterStamps(count: Int) throws {
        let stack = try CaptureStack()
        let unit = try stack.save { _ in
            for number in 0..<count { _ = stack.new("Unit", ["name": "unit \(number)", "size": Double(number)]) }
            return stack.new("Unit", ["name": "Litre"])
        }
        try stack.run()
        let before = stack.sidecar.settings
        try stack.save { _ in
            for number in 0..<count { _ = stack.new("Unit", ["name": "new \(number)"]) }
            unit.setValue(2.0, forKey: "size")
        }
        stack.sidecar.willCommit = { throw Thrown() }
        #expect(throws: Thrown.self) { try stack.run() }
        #expect(stack.sidecar.settings == before)
        #expect(try stack.sidecar.counts() == SidecarCounts(entries: count + 1, outgoing: 1))
        stack.sidecar.willCommit = nil
        let captured = try stack.run()
        #expect(captured.states.count == count + 1 && captured.result.segments == [2])
        #expect(captured[try stack.id(unit)]?.shown == ["size": .double((2.0).bitPattern)])
        #expect(try stack.sidecar.counts() == SidecarCounts(entries: 2 * count + 1, outgoing: 2))
        #expect(stack.sidecar.settings.clock > before.clock)
    }

    /// The process dies after the transaction and before the redo log is moved.
    @Test func newEntriesAreThereAfterACrash() throws {
        let folder = try TemporaryFolder()
        let count = Sidecar.directLimit + 7
        let stack = try CaptureStack(type: NSSQLiteStoreType, url: folder("Shop.sqlite"))
        let tag = try stack.save { _ in
            for _ in 1..<count { _ = stack.new("Tag", ["name": "x"]) }
            return stack.new("Tag", ["name": "y"])
        }
        stack.sidecar.didCommit = { throw Thrown() }
        let captured = try stack.run()
        #expect(captured.states.count == count)
        stack.sidecar.didCommit = nil
        // One opens the log that is left, the other one finds it moved.
        for _ in 0..<2 {
            let sidecar = try Sidecar.open(beside: folder("Shop.sqlite"))
            #expect(try sidecar.counts() == SidecarCounts(entries: count, outgoing: 1))
            #expect(
                try sidecar.entries(root: "Tag", keys: [stack.key(tag).key]).first?.state.shown == ["name": .stored])
        }
        #expect(try stack.run().states == [])
        #expect(try stack.id(tag) == captured.states.first { $0.shown["name"] == .string("y") }?.id)
    }

    @Test func objectsOfAnEntityThatIsIgnoredNowAreNotDeleted() throws {
        let stack = try CaptureStack()
        let tag = try stack.save { _ in stack.new("Tag", ["name": "x"]) }
        try stack.run()
        let model = CaptureStack.shop()
        model.entitiesByName["Tag"]?.userInfo = ["sync.ignore": "YES"]
        let capture = try Capture(
            coordinator: stack.coordinator, sidecar: stack.sidecar, rules: try SyncRules(model: model)
        ) { 900_000_000_000 }
        #expect(try capture.compareAll(seed: nil).deletedObjects == 0)
        #expect(try stack.entry(tag)?.state.deleted == nil)
    }

    /// Apply saved an object, and another change refers to it before its entry is written.
    @Test func referencesToInsertedObjectsOfApplyHaveTheirIDs() throws {
        let stack = try CaptureStack()
        let item = try stack.save { _ in stack.new("Item", ["name": "Milk"]) }
        try stack.run()
        let label = try stack.save(author: "sync") { _ in stack.new("Label", ["text": "new"]) }
        try stack.save { _ in item.setValue(label, forKey: "label") }
        var intended = IntendedChanges()
        let id = GlobalID(high: 5, low: 5)
        intended.inserted.insert(stack.key(label).key, stack.key(label).root)
        intended.insertedIDs = [stack.key(label): id]
        let captured = try stack.run(intended)
        #expect(captured.states.map(\.shown) == [["label": .reference(id)]])
    }

    @Test func aCoordinatorWithoutAStoreIsRefused() throws {
        let model = CaptureStack.shop()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let error = #expect(throws: CocoaError.self) {
            try Capture(
                coordinator: coordinator, sidecar: try Sidecar.inMemory(), rules: try SyncRules(model: model)
            ) { 1 }
        }
        #expect(error?.code.rawValue == 134070 && error?.localizedDescription.contains("no store") == true)
    }
}
