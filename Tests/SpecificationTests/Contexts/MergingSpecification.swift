import CoreData
import CoreDataStore
import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// What a context takes over from others, and what it tells of it.
@Suite struct MergingSpecification {
    /// What was told while this lives.
    private final class Log: @unchecked Sendable {
        // Safe because notifications come on the thread of the test.
        private(set) var told: [[AnyHashable: Any]] = []
        private var token: (any NSObjectProtocol)?

        init(_ name: Notification.Name, _ context: NSManagedObjectContext, _ look: @escaping () -> Void = {}) {
            let look = Transfer(look: look)
            token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                [weak self] note in
                self?.told.append(note.userInfo ?? [:])
                look.look()
            }
        }

        deinit { if let token { NotificationCenter.default.removeObserver(token) } }

        func objects(_ key: String) -> Set<NSManagedObject> { told.last?[key] as? Set<NSManagedObject> ?? [] }
        func ids(_ key: String) -> Set<NSManagedObjectID> { told.last?[key] as? Set<NSManagedObjectID> ?? [] }

        private struct Transfer: @unchecked Sendable {
            // Safe because it is called on the thread of the test.
            let look: () -> Void
        }
    }

    /// How a context learns of a save.
    enum Way: CaseIterable {
        case objects, ids, remoteIDs, remoteURIs, automatic
    }

    private func learn(
        _ way: Way, _ context: NSManagedObjectContext, of other: NSManagedObjectContext, _ change: () throws -> Void
    ) throws {
        let objects = Log(.NSManagedObjectContextDidSave, other)
        let ids = Log(.NSManagedObjectContextDidSaveObjectIDs, other)
        context.automaticallyMergesChangesFromParent = way == .automatic
        try change()
        switch way {
        case .objects:
            context.mergeChanges(
                fromContextDidSave: Notification(
                    name: .NSManagedObjectContextDidSave, object: other, userInfo: objects.told.last))
        case .ids:
            context.mergeChanges(
                fromContextDidSave: Notification(
                    name: .NSManagedObjectContextDidSaveObjectIDs, object: other, userInfo: ids.told.last))
        case .remoteIDs, .remoteURIs:
            var data: [AnyHashable: Any] = [:]
            for (key, idKey) in [
                (NSInsertedObjectsKey, NSInsertedObjectIDsKey), (NSUpdatedObjectsKey, NSUpdatedObjectIDsKey),
                (NSDeletedObjectsKey, NSDeletedObjectIDsKey),
            ] {
                let found = Array(ids.ids(idKey))
                data[key] = way == .remoteIDs ? found : found.map { $0.uriRepresentation() }
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: data, into: [context])
        case .automatic: break
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func whatAnotherContextSavedIsTakenOverAndToldOnce(_ store: SpecifiedStore) throws {  // D7, D8, L1, L2, L3
        for way in Way.allCases {
            try store.checkContexts { stack in
                try checkTelling(way, stack)
            }
        }
    }

    private func checkTelling(_ way: Way, _ stack: SpecifiedStack) throws {
        let (context, other) = (stack.newContext(), stack.newContext())
        let what = Comment(rawValue: "\(way)")
        let tags = try context.performAndWait {
            let tags = ["changed", "fault", "deleted", "kept"].map { context.insert("Tag", ["name": $0]) }
            try context.save()
            context.refresh(tags[1], mergeChanges: false)
            tags[3].setValue(5, forKey: "heft")
            context.processPendingChanges()
            return tags
        }
        nonisolated(unsafe) var seen: [String] = []
        let log = Log(.NSManagedObjectContextObjectsDidChange, context) {
            seen = tags[..<3].map { $0.isFault ? "fault" : $0.text("name") }
        }
        let merges = Log(.NSManagedObjectContextDidMergeChangesObjectIDs, context)
        var new: NSManagedObjectID?
        func change() throws {
            try other.performAndWait {
                for (index, id) in tags.map(\.objectID).enumerated() {
                    let tag = try other.existingObject(with: id)
                    if index == 2 { other.delete(tag) } else { tag.setValue("new \(index)", forKey: "name") }
                }
                let inserted = other.insert("Tag", ["name": "inserted"])
                try other.save()
                new = inserted.objectID
            }
        }
        if way == .automatic {
            try learn(way, context, of: other, change)
        } else {
            try context.performAndWait { try learn(way, context, of: other, change) }
        }
        try context.performAndWait {
            let id = try #require(new)
            #expect(log.told.count == 1, what)
            #expect(log.objects(NSInsertedObjectsKey).map(\.objectID) == [id], what)
            #expect(log.objects(NSRefreshedObjectsKey) == [tags[0], tags[3]], what)
            #expect(log.objects(NSDeletedObjectsKey) == [tags[2]], what)
            #expect(log.objects(NSUpdatedObjectsKey).isEmpty, what)
            #expect(seen == ["new 0", "fault", "deleted"], "all is merged when it is told, \(what)")
            #expect(merges.ids(NSInsertedObjectIDsKey) == [id], what)
            #expect(merges.ids(NSDeletedObjectIDsKey) == [tags[2].objectID], what)
            #expect(merges.ids(NSUpdatedObjectIDsKey).contains(tags[0].objectID), what)
            // Gone, and no crash.
            #expect(tags[2].managedObjectContext == nil && !tags[2].isDeleted && tags[2].text("name") == "nil", what)
            #expect(tags[1].text("name") == "new 1", what)
            // L4: what was set here stays, and is no conflict.
            #expect(tags[3].text("name") == "new 3" && tags[3].value(forKey: "heft") as? Int == 5, what)
            try context.save()
            #expect(try context.names("Tag") == ["inserted", "new 0", "new 1", "new 3"], what)
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func whatIsNotToldStaysAsItWas(_ store: SpecifiedStore) throws {  // I14, L5
        try store.checkContexts { stack in
            try stack.story { context throws in
                let tag = context.insert("Tag", ["name": "old"])
                try context.save()
                try stack.story { other throws in
                    try other.one("Tag").setValue("new", forKey: "name")
                    try other.save()
                }
                _ = try context.all("Tag")
                #expect(tag.text("name") == "old", "neither a fetch nor a save elsewhere changes what is realised")
                context.refreshAllObjects()
                #expect(tag.text("name") == "new")
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func anObjectWhoseRowIsGoneNeverCrashes(_ store: SpecifiedStore) throws {  // B4, L1
        for keeps in [true, false] {
            try store.checkContexts { stack in
                try stack.story { context throws in
                    context.shouldDeleteInaccessibleFaults = keeps
                    let book = context.insert("Book", ["title": "One"])
                    let chapters = ["a", "b"].map { context.insert("Chapter", ["title": $0, "book": book]) }
                    try context.save()
                    let ids = [book.objectID] + chapters.map(\.objectID)
                    context.refresh(book, mergeChanges: false)
                    context.refresh(chapters[0], mergeChanges: false)
                    try stack.story { other throws in
                        for id in ids { other.delete(try other.existingObject(with: id)) }
                        try other.save()
                    }
                    context.refreshAllObjects()
                    #expect(book.text("title") == "nil" && book.names(of: "chapters") == [])
                    #expect(book.isDeleted == keeps)
                    #expect(chapters[1].text("title") == "nil" && chapters[1].object("book") == nil)
                    chapters[0].setValue("set", forKey: "title")
                    NSManagedObjectContext.mergeChanges(
                        fromRemoteContextSave: [NSUpdatedObjectsKey: ids, NSRefreshedObjectsKey: ids], into: [context])
                    NSManagedObjectContext.mergeChanges(
                        fromRemoteContextSave: [NSDeletedObjectsKey: ids, NSInsertedObjectsKey: ids], into: [context])
                    #expect(book.text("title") == "nil" && chapters[0].text("title") == "nil")
                    try context.save()
                    #expect(try context.all("Book").isEmpty && !context.hasChanges)
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func whatLedToADeletedObjectLeadsNowhere(_ store: SpecifiedStore) throws {  // L1
        try store.checkContexts { stack in
            try stack.story { context throws in
                let book = context.insert("Book", ["title": "One"])
                try context.save()
                let chapter = context.insert("Chapter", ["title": "new", "book": book])
                let id = book.objectID
                try stack.story { other throws in
                    other.delete(try other.existingObject(with: id))
                    try other.save()
                }
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSDeletedObjectsKey: [id.uriRepresentation()]], into: [context])
                #expect(chapter.object("book") == nil)
                try context.save()
                try stack.story { fresh throws in #expect(try fresh.one("Chapter").object("book") == nil) }
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func severalContextsMergeFromAnyQueue(_ store: SpecifiedStore) throws {  // L2
        try store.checkContexts { stack in
            let contexts = [stack.newContext(), stack.newContext()]
            let id = try contexts[0].performAndWait {
                let tag = contexts[0].insert("Tag", ["name": "old"])
                try contexts[0].save()
                return tag.objectID
            }
            let held = try contexts.map { context in
                try context.performAndWait { () throws -> NSManagedObject in
                    let tag = try context.existingObject(with: id)
                    _ = tag.text("name")
                    return tag
                }
            }
            try stack.story { other throws in
                try other.existingObject(with: id).setValue("new", forKey: "name")
                try other.save()
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [
                        NSUpdatedObjectsKey: [id],
                        NSInsertedObjectsKey: [URL(string: "x-coredata://nowhere/Tag/p1") as Any],
                    ], into: contexts)
            }
            for (context, tag) in zip(contexts, held) {
                context.performAndWait { #expect(tag.text("name") == "new") }
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func aDeletionHereTakesWhatCameThere(_ store: SpecifiedStore) throws {  // L4
        try store.checkContexts(rules: [("Book", "chapters", .cascadeDeleteRule)]) { stack in
            try stack.story { context throws in
                let book = context.insert("Book", ["title": "One"])
                try context.save()
                context.delete(book)
                context.processPendingChanges()
                let id = book.objectID
                try stack.story { other throws in
                    _ = other.insert("Chapter", ["title": "t", "book": try other.existingObject(with: id)])
                    try other.save()
                }
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [context])
                try context.save()
                try stack.story { fresh throws in #expect(try fresh.all("Chapter").isEmpty && fresh.all("Book").isEmpty)
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func whatNobodyKnowsHereIsMergedWithoutATrace(_ store: SpecifiedStore) throws {  // L2
        try store.checkContexts { stack in
            let elsewhere = try NSPersistentStoreCoordinator(
                validating: NSManagedObjectModel(document: StoreTestSupport.document(Library.entities)))
            try elsewhere.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
            let foreign = NSManagedObjectContext(.privateQueue)
            foreign.persistentStoreCoordinator = elsewhere
            let strangers = try foreign.performAndWait {
                let books = (1...3).map { foreign.insert("Book", ["title": "\($0)"]) }
                try foreign.save()
                return books.map(\.objectID)
            }
            let gone = try stack.story { other throws in
                let books = (1...3).map { other.insert("Book", ["title": "gone \($0)"]) }
                try other.save()
                let ids = books.map(\.objectID)
                books.forEach(other.delete)
                try other.save()
                return ids
            }
            try stack.story { context throws in
                let kept = context.insert("Book", ["title": "kept"])
                try context.save()
                let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
                let list = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
                let replay = CallReplay()
                list.delegate = replay
                try list.performFetch()
                replay.begin(list)
                let temporary = context.insert("Book").objectID
                context.rollback()
                for ids in [strangers, gone, strangers + gone + [temporary]] {
                    let urls = ids.map { $0.uriRepresentation() }
                    let forms: [Any] = [ids, Set(ids), urls, Set(urls), ids.map { $0 as Any } + urls + ["x", 1]]
                    for form in forms {
                        for key in [
                            NSDeletedObjectsKey, NSDeletedObjectIDsKey, NSUpdatedObjectsKey, NSUpdatedObjectIDsKey,
                            NSInsertedObjectIDsKey, NSRefreshedObjectsKey, NSInvalidatedObjectsKey,
                        ] {
                            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: form], into: [context])
                            #expect(list.fetchedObjects == [kept], "\(key) \(form)")
                            #expect(replay.list == ListPicture(list), "\(key) \(form)")
                        }
                    }
                }
                #expect(try context.all("Book") == [kept])
                #expect(
                    !context.hasChanges,
                    "\(context.insertedObjects) \(context.updatedObjects) \(context.deletedObjects)")
                #expect(kept.text("title") == "kept")
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func listsFollowDeletionsOfRowsThatNobodyKnew(_ store: SpecifiedStore) throws {  // L2, R3
        try store.checkContexts { stack in
            try stack.story { context throws in
                let ids = try stack.story { other throws in
                    let books = (1...9).map { other.insert("Book", ["title": "\($0)"]) }
                    try other.save()
                    return books.map(\.objectID)
                }
                let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
                request.fetchOffset = 3
                request.fetchLimit = 3
                let list = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
                let replay = CallReplay()
                list.delegate = replay
                try list.performFetch()
                replay.begin(list)
                func titles() -> [String] { (list.fetchedObjects ?? []).map { $0.text("title") } }
                #expect(titles() == ["4", "5", "6"])
                try stack.story { other throws in
                    for id in [ids[0], ids[4]] { other.delete(try other.existingObject(with: id)) }
                    try other.save()
                }
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSDeletedObjectsKey: [ids[0], ids[4]].map { $0.uriRepresentation() }],
                    into: [context])
                #expect(titles() == ["6", "7", "8"])
                #expect(replay.list == ListPicture(list))
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func relationshipsLetGoOfDeletedFaults(_ store: SpecifiedStore) throws {  // L1, L2
        try store.checkContexts { stack in
            try stack.story { context throws in
                let book = context.insert("Book", ["title": "One"])
                for number in 1...3 { _ = context.insert("Chapter", ["title": "\(number)", "book": book]) }
                for number in 1...2 {
                    book.mutableOrderedSetValue(forKey: "tags").add(context.insert("Tag", ["name": "\(number)"]))
                }
                try context.save()
                let chapters = try context.all("Chapter", by: "title")
                let tags = try context.all("Tag", by: "name")
                #expect(
                    book.names(of: "chapters", by: "title") == ["1", "2", "3"] && book.names(of: "tags") == ["1", "2"])
                try stack.story { other throws in
                    other.delete(try other.existingObject(with: chapters[1].objectID))
                    other.delete(try other.existingObject(with: tags[0].objectID))
                    try other.save()
                }
                for object in [chapters[1], tags[0]] { context.refresh(object, mergeChanges: false) }
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSDeletedObjectIDsKey: [chapters[1].objectID, tags[0].objectID]],
                    into: [context])
                #expect(book.names(of: "chapters", by: "title") == ["1", "3"])
                #expect(book.names(of: "tags") == ["2"])
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                book.setValue("Two", forKey: "title")
                try context.save()
                #expect(try stack.story { try $0.one("Book").names(of: "chapters", by: "title") } == ["1", "3"])
            }
        }
    }

    // MARK: Races

    /// Each context adds members of its own and sets an attribute of its own, all of the same rows.
    @Test(arguments: SpecifiedStore.all)
    func whatWasSavedInARaceIsNotLost(_ store: SpecifiedStore) throws {
        for policy in Trials.some(of: MergePolicySpecification.policies, atLeast: 2) {
            try store.checkContexts { stack in
                let ids = try stack.story { context throws in
                    let book = context.insert("Book", ["title": "One", "code": "c"])
                    try context.save()
                    return book.objectID
                }
                let attributes = ["title", "shelf", "pages", "place"]
                let saved = Saved()
                let contexts = (0..<4).map { _ in stack.newContext() }
                DispatchQueue.concurrentPerform(iterations: 4) { number in
                    let context = contexts[number]
                    context.performAndWait {
                        context.mergePolicy = policy
                        for round in 1...12 {
                            do {
                                let book = try context.existingObject(with: ids)
                                let value: Any = number < 2 ? "\(round)" as Any : round as Any
                                book.setValue(value, forKey: attributes[number])
                                _ = context.insert("Chapter", ["title": "\(number)-\(round)", "book": book])
                                let tags = book.mutableOrderedSetValue(forKey: "tags")
                                tags.add(context.insert("Tag", ["name": "\(number)-\(round)"]))
                                _ = context.insert("Author", ["name": "\(number)-\(round)", "email": "\(round)"])
                                try context.save()
                                saved.add("\(number)-\(round)")
                            } catch { saved.fail("\(error)") }
                        }
                    }
                }
                #expect(saved.failures.isEmpty, "\(policy): \(saved.failures)")
                #expect(saved.names.count == 48)
                try stack.story { fresh throws in
                    let book = try fresh.existingObject(with: ids)
                    #expect(Set(book.names(of: "chapters", by: "title")) == saved.names, "\(policy)")
                    let authors = store.has(.uniqueValues) ? 12 : saved.names.count
                    #expect(try fresh.all("Author").count == authors, "\(policy)")
                    let tags = Set(book.names(of: "tags"))
                    if policy != .rollback { #expect(tags == saved.names, "\(policy)") }
                    guard [.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump].contains(policy) else { return }
                    #expect(book.text("title") == "12" && book.text("shelf") == "12", "\(policy)")
                    #expect(book.value(forKey: "pages") as? Int == 12 && book.value(forKey: "place") as? Int == 12)
                }
            }
        }
    }

    private final class Saved: @unchecked Sendable {
        // Safe because the lock guards both.
        private let lock = NSLock()
        private(set) var names: Set<String> = []
        private(set) var failures: [String] = []

        func add(_ name: String) { lock.withLock { _ = names.insert(name) } }
        func fail(_ text: String) { lock.withLock { failures.append(text) } }
    }
}
