import CoreData
import Foundation
import Testing

/// A counter whose hooks change things while it is saved.
final class Counter: NSManagedObject {
    static let valueKey = PropertyKey<Int32>("value")
    static let partnerKey = PropertyKey<Counter?>("partner")
    var value: Int32 {
        get { self[Self.valueKey] }
        set { self[Self.valueKey] = newValue }
    }
    var partner: Counter? {
        get { self[Self.partnerKey] }
        set { self[Self.partnerKey] = newValue }
    }
    var limit: Int32 = 0
    var hookCount = 0
    /// Runs in `willSave`.
    var hook: (Counter) -> Void = { _ in }

    override func willSave() {
        hookCount += 1
        hook(self)
    }
}

// semantics D, G, H, I, L: what a save asks before it writes, and what a merge tells
@Suite struct SaveRoundsTests {
    /// Counters of two configurations, each with a store of its own; `partner` leads from one to the other.
    private func stack(storeCount: Int = 1, readOnly: Int? = nil) throws -> (NSManagedObjectContext, [URL], () -> Void)
    {
        let model = NSManagedObjectModel()
        let entities = ["Counter", "OtherCounter"].map { name -> NSEntityDescription in
            let entity = Library.entity(name, nil)
            entity.managedObjectClassName = "CoreDataTests.Counter"
            let value = Library.attribute("value", .integer32AttributeType)
            value.defaultValue = 0
            entity.properties = [value]
            return entity
        }
        for (entity, destination) in zip(entities, entities.reversed()) {
            let partner = NSRelationshipDescription()
            partner.name = "partner"
            partner.destinationEntity = destination
            partner.maxCount = 1
            partner.deleteRule = .nullifyDeleteRule
            entity.properties.append(partner)
        }
        model.entities = entities
        model.setEntities([entities[0]], forConfigurationName: "First")
        model.setEntities([entities[1]], forConfigurationName: "Second")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rounds-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        var urls: [URL] = []
        let configurations: [String?] = storeCount == 1 ? [nil] : ["First", "Second"]
        for (index, configuration) in configurations.enumerated() {
            let url = folder.appendingPathComponent("\(index).sqlite")
            urls.append(url)
            if index == readOnly {
                let maker = try NSPersistentStoreCoordinator(validating: model)
                try maker.addPersistentStore(type: .sqlite, configuration: configuration, at: url)
            }
            try coordinator.addPersistentStore(
                type: .sqlite, configuration: configuration, at: url,
                options: index == readOnly ? [NSReadOnlyPersistentStoreOption: true] : nil)
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return (context, urls, { try? FileManager.default.removeItem(at: folder) })
    }

    private func makeCounter(_ context: NSManagedObjectContext, _ entity: String = "Counter") throws -> Counter {
        try #require(NSEntityDescription.insertNewObject(forEntityName: entity, into: context) as? Counter)
    }

    // MARK: Hooks

    @Test("H3: willSave runs again for an object that it changed, until it changes nothing")
    func hooksRunAgain() throws {
        let (context, _, remove) = try stack()
        defer { remove() }
        try context.performAndWait {
            let counter = try makeCounter(context)
            counter.hook = { if $0.value < 5 { $0.value += 1 } }
            try context.save()
            #expect(counter.value == 5)
            #expect(counter.hookCount == 6)
            #expect(!counter.hasChanges)
        }
    }

    @Test("H3: an object that another's hook changes has its hook called, also a second time")
    func hooksOfOthers() throws {
        let (context, _, remove) = try stack()
        defer { remove() }
        try context.performAndWait {
            let (first, second) = (try makeCounter(context), try makeCounter(context))
            try context.save()
            (first.hookCount, second.hookCount) = (0, 0)
            first.hook = { if $0.hookCount <= 2 { second.value += 1 } }
            second.hook = { if $0.hookCount == 1 { first.value += 10 } }
            first.value = 1
            try context.save()
            #expect((first.value, second.value) == (11, 2))
            #expect((first.hookCount, second.hookCount) == (2, 2))
            context.refreshAllObjects()
            #expect((first.value, second.value) == (11, 2), "all of it is saved")
        }
    }

    @Test("G7: a hook that always changes something is an error after 1,000 rounds, and nothing is written")
    func hooksWithoutEnd() throws {
        let (context, _, remove) = try stack()
        defer { remove() }
        try context.performAndWait {
            let counter = try makeCounter(context)
            counter.hook = { $0.value += 1 }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.localizedDescription.contains("still dirty after 1000 attempts") == true)
            #expect(counter.hookCount == 1000)
            #expect(counter.isInserted && counter.objectID.isTemporaryID)
            counter.hook = { _ in }
            try context.save()
        }
    }

    // MARK: Several stores

    @Test(
        "A12, H6: a relationship from store to store is an error before anything is written", arguments: [true, false])
    func relationshipsAcrossStores(fromFirst: Bool) throws {
        let (context, _, remove) = try stack(storeCount: 2)
        defer { remove() }
        try context.performAndWait {
            let (first, second) = (try makeCounter(context), try makeCounter(context, "OtherCounter"))
            if fromFirst { first.partner = second } else { second.partner = first }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .managedObjectExternalRelationship)
            #expect(first.isInserted && second.isInserted)
            for entity in ["Counter", "OtherCounter"] {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.includesPendingChanges = false
                #expect(try context.count(for: request) == 0)
            }
            (first.partner, second.partner) = (nil, nil)
            try context.save()
        }
    }

    @Test("H9: changes of a read-only store are an error before another store is written")
    func readOnlyBesideOthers() throws {
        let (context, urls, remove) = try stack(storeCount: 2, readOnly: 1)
        defer { remove() }
        try context.performAndWait {
            let coordinator = try #require(context.persistentStoreCoordinator)
            let first = try makeCounter(context)
            let second = try makeCounter(context, "OtherCounter")
            let readOnly = try #require(coordinator.persistentStores.first { $0.url == urls[1] })
            context.assign(second, to: readOnly)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code != .persistentStoreIncompleteSave)
            #expect(first.isInserted)
            context.delete(second)
            try context.save()
            #expect(!first.isInserted)
        }
    }

    // MARK: Objects that are only looked at

    @Test("I3: an object that a save depends on is a conflict though it is not changed, and the context is not dirty")
    func detectedConflicts() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Ann"
            let book = Book(context: context)
            book.title = "Book"
            try context.save()
            context.detectConflicts(for: author)
            #expect(!context.hasChanges && !author.hasChanges)
            let other = stack.newContext()
            let id = author.objectID
            try other.performAndWait {
                (other.object(with: id) as? Author)?.name = "Bob"
                try other.save()
            }
            book.title = "by Ann"
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .managedObjectMerge)
            #expect(error?.persistentStoreSaveConflicts?.map(\.sourceObject) == [author])
            #expect(throws: CocoaError.self, "it stays noted") { try context.save() }
            context.refresh(author, mergeChanges: false)
            try context.save()
            let statements = try stack.statements {
                book.pages = 2
                try context.save()
            }
            #expect(!statements.contains { $0.contains("SELECT 1") }, "a save that succeeded ends it")
        }
    }

    @Test("I3: a noted object that nobody changed lets the save through; one that is deleted elsewhere does not")
    func detectedDeletions() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let tag = Tag(context: context)
            tag.name = "tag"
            try context.save()
            context.refresh(tag, mergeChanges: false)
            context.detectConflicts(for: tag)
            Tag(context: context).name = "other"
            try context.save()
            context.detectConflicts(for: tag)
            context.detectConflicts(for: Tag(context: context))
            let second = try LibraryStack(opening: stack.url)
            let id = tag.objectID.uriRepresentation()
            try second.story { other in
                let theirs = try #require(second.coordinator.managedObjectID(forURIRepresentation: id))
                other.delete(other.object(with: theirs))
                try other.save()
            }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.persistentStoreSaveConflicts?.first?.newVersionNumber == 0)
            context.rollback()
            try context.save()
        }
    }

    // MARK: Merging

    @Test("D7, D8, L1: merging another context's insertions tells of them")
    func mergedInsertions() throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context in
            let saves = NotificationSaves(other)
            let id = try other.performAndWait {
                let book = Book(context: other)
                book.title = "New"
                try other.save()
                return book.objectID
            }
            let log = NotificationLog(.NSManagedObjectContextObjectsDidChange, context)
            context.mergeChanges(fromContextDidSave: try #require(saves.last))
            let inserted = log.userInfos.first?[NSInsertedObjectsKey] as? Set<NSManagedObject>
            #expect(log.userInfos.count == 1)
            #expect(inserted?.map(\.objectID) == [id])
            #expect(!context.hasChanges)
        }
    }

    @Test("L1: an insertion whose row is gone by then is not told of")
    func mergedInsertionsThatAreGone() throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context in
            let saves = NotificationSaves(other)
            let stays = try other.performAndWait { () throws -> NSManagedObjectID in
                let (gone, stays) = (Book(context: other), Book(context: other))
                (gone.title, stays.title) = ("Gone", "Stays")
                try other.save()
                return stays.objectID
            }
            let notification = try #require(saves.last)
            try other.performAndWait {
                for book in try other.all(Book.self, "Book", "title == 'Gone'") { other.delete(book) }
                try other.save()
            }
            let log = NotificationLog(.NSManagedObjectContextObjectsDidChange, context)
            let merged = NotificationLog(NSManagedObjectContext.didMergeChangesObjectIDsNotification, context)
            context.mergeChanges(fromContextDidSave: notification)
            let inserted = log.userInfos.first?[NSInsertedObjectsKey] as? Set<NSManagedObject>
            #expect(inserted?.map(\.objectID) == [stays])
            #expect(merged.userInfos.first?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [stays])
        }
    }

    // MARK: Validation after a merge policy

    @Test("I5, G1: what a merge policy made is validated before it is written; it is all as it was where that fails")
    func mergedValuesAreValidated() throws {
        let stack = try LibraryStack(model: Self.rangeModel())
        try stack.story { context in
            let range = NSEntityDescription.insertNewObject(forEntityName: "Range", into: context)
            range.setValue(1, forKey: "low")
            range.setValue(10, forKey: "high")
            try context.save()
            let other = stack.newContext()
            let id = range.objectID
            try other.performAndWait {
                other.object(with: id).setValue(8, forKey: "low")
                try other.save()
            }
            range.setValue(5, forKey: "high")
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            // 8 to 5: neither of them made that.
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .coreData)
            #expect(range.value(forKey: "low") as? Int == 1 && range.value(forKey: "high") as? Int == 5)
            #expect(range.isUpdated)
            let fresh = stack.newContext()
            let high = try fresh.performAndWait { try fresh.existingObject(with: id).value(forKey: "high") as? Int }
            #expect(high == 10)
            range.setValue(9, forKey: "high")
            try context.save()
            #expect(range.value(forKey: "low") as? Int == 8 && range.value(forKey: "high") as? Int == 9)
        }
    }

    @Test("I9, G1: so is what an upsert made")
    func upsertsAreValidated() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            (book.title, book.isbn, book.pages) = ("Row", "1", 5)
            try context.save()
            var validated: [NSManagedObject] = []
            context.mergePolicy = ClosurePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType) { _, resolve in
                try resolve()
                book.pages = -1
                validated.append(book)
            }
            let new = Book(context: context)
            (new.title, new.isbn) = ("New", "1")
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSValidationNumberTooSmallError)
            #expect(validated == [book])
            #expect(new.isInserted && book.pages == 5 && !book.hasChanges && book.title == "Row")
        }
    }

    /// A range whose ends must be in order, which no property can tell by itself.
    private static func rangeModel() -> NSManagedObjectModel {
        let entity = Library.entity("Range", "ValidatedRange")
        entity.properties = ["low", "high"].map { Library.attribute($0, .integer32AttributeType) }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }
}

/// Its low end is not above its high end.
final class ValidatedRange: NSManagedObject {
    override func validateForUpdate() throws {
        try super.validateForUpdate()
        let ends = ["low", "high"].compactMap { value(forKey: $0) as? Int }
        if ends.count == 2, ends[0] > ends[1] { throw CocoaError(.coreData) }
    }

    @Test("F1: objects that delete one another as they are deleted are deleted once each")
    func deletionsInTheHook() throws {
        let entity = Library.entity("Pair", "Pair")
        let (next, previous) = Library.pair("next", of: entity, "previous", of: entity)
        previous.maxCount = 1
        entity.properties = [next, previous]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let (first, second) = (Pair(context: context), Pair(context: context))
            (first.next, second.next) = (second, first)
            try context.save()
            context.delete(first)
            #expect(first.isDeleted && second.isDeleted && first.count == 1 && second.count == 1)
            try context.save()
            #expect(try context.count(for: NSFetchRequest<Pair>(entityName: "Pair")) == 0)
        }
    }
}

/// Takes the other one along, and itself.
final class Pair: NSManagedObject {
    var next: Pair? {
        get { value(forKey: "next") as? Pair }
        set { setValue(newValue, forKey: "next") }
    }
    var count = 0

    override func prepareForDeletion() {
        count += 1
        managedObjectContext?.delete(self)
        if let next, !next.isDeleted { managedObjectContext?.delete(next) }
    }
}
