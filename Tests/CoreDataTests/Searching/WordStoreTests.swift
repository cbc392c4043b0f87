import CoreData
import Foundation
import TestSupport
import Testing

/// Word indexes in the files of stores: made, kept by whoever writes, made anew, taken away.
@Suite struct WordStoreTests {
    @Test("The user info asks for both kinds of index, and the version hashes do not tell")
    func model() throws {
        let (with, without) = try (WordStack(), WordStack(searched: false))
        #expect(with.model.entityVersionHashesByName == without.model.entityVersionHashesByName)
        let title = try #require(with.model.entitiesByName["Note"]?.attributesByName["title"])
        #expect(title.userInfo?["OpenCoreData.search"] as? String == "words")
        let note = NSAttributeDescription()
        note.hasWordIndex = true
        note.hasTrigramIndex = true
        #expect(note.userInfo?["OpenCoreData.search"] as? String == "trigram, words")
        note.hasWordIndex = false
        #expect(note.hasTrigramIndex && !note.hasWordIndex)
        note.hasTrigramIndex = false
        #expect(note.userInfo?["OpenCoreData.search"] == nil)
    }

    @Test(
        "What others write is found at once, also where it cannot be put into the index",
        .enabled(if: Python.isInstalled, "\(Python.missing)"))
    func others() throws {
        let stack = try WordStack()
        let log = "SELECT COUNT(*) FROM OCD_WORDS_ZNOTE_LOG"
        try stack.open { (context) throws in
            context.insertNote("Fresh milk")
            try context.save()
            #expect(try stack.foreign(log) == "0\n")
            try stack.foreign("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (100, 2, 1, 'Sour milk')")
            try stack.foreign("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZPLAIN) VALUES (101, 2, 1, 'milk')")
            #expect(try stack.foreign(log) == "2\n")
            #expect(try Set(context.found("milk")) == ["Fresh milk", "Sour milk", "nil"])
            // The search has put right what was noted.
            #expect(try stack.foreign(log) == "0\n")
            try stack.foreign("UPDATE ZNOTE SET ZTITLE = 'Sour cream' WHERE Z_PK = 100")
            try stack.foreign("DELETE FROM ZNOTE WHERE Z_PK = 101")
            #expect(try context.found("milk") == ["Fresh milk"])
            #expect(try context.found("cream") == ["Sour cream"])
        }
        try stack.foreign("UPDATE ZNOTE SET ZTITLE = 'Sour butter' WHERE Z_PK = 100")
        try stack.foreign("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (102, 2, 1, 'Butter milk')")
        try stack.open([NSReadOnlyPersistentStoreOption: true]) { (context) throws in
            #expect(try context.found("cream") == [])
            #expect(try context.found("butter").sorted() == ["Butter milk", "Sour butter"])
            #expect(try context.found("milk") == ["Fresh milk", "Butter milk"])
            #expect(
                try context.found("milk") { $0.predicate = NSPredicate(format: "title BEGINSWITH 'B'") } == [
                    "Butter milk"
                ])
            #expect(try stack.foreign(log) == "2\n")
        }
        try stack.open { (context) throws in #expect(try context.found("butter").count == 2) }
        #expect(try stack.findings() == [])
    }

    @Test("Batch requests keep the index")
    func batches() throws {
        let stack = try WordStack()
        try stack.open { (context) throws in
            let rows = (0..<700).map { ["title": "Number \($0)", "plain": "one of many"] }
            try context.execute(NSBatchInsertRequest(entityName: "Note", objects: rows))
            #expect(try context.found("699") == ["Number 699"])
            #expect(try context.found("many").count == 700)
            let update = NSBatchUpdateRequest(entityName: "Note")
            update.predicate = NSPredicate(format: "title == 'Number 5'")
            update.propertiesToUpdate = ["title": "Five"]
            try context.execute(update)
            #expect(try context.found("five") == ["Five"])
            #expect(try context.found("5") == [])
            let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Note")
            fetch.predicate = NSPredicate(format: "title BEGINSWITH 'Number'")
            try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
            #expect(try context.found("many") == ["Five"])
        }
        #expect(try stack.findings() == [])
    }

    @Test("A migration makes the index anew, or takes it away", arguments: [true, false])
    func migration(searched: Bool) throws {
        let old = try WordStack()
        try old.open { (context) throws in
            context.insertNote("Fresh milk")
            try context.save()
        }
        let new = try WordStack(searched: searched, adds: "added", at: old.url)
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        try new.open(options) { (context) throws in
            if searched {
                #expect(try context.found("milk") == ["Fresh milk"])
            } else {
                #expect(throws: CocoaError.self) { try context.found("milk") }
            }
        }
        let indexes = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: new.url).searchIndexes
        #expect(indexes == (searched ? ["OCD_WORDS_ZFOLDER", "OCD_WORDS_ZNOTE"] : nil))
        #expect(try new.findings() == [])
    }

    @Test("An attribute more makes the index anew")
    func anotherAttribute() throws {
        let old = try WordStack()
        try old.open { (context) throws in
            context.insertNote("Fresh milk", "White")
            try context.save()
        }
        let new = try WordStack(at: old.url)
        new.model.entitiesByName["Note"]?.attributesByName["plain"]?.hasWordIndex = false
        try new.open { (context) throws in
            #expect(try context.found("white") == [])
            #expect(try context.found("milk") == ["Fresh milk"])
        }
        try old.open([NSReadOnlyPersistentStoreOption: true]) { (context) throws in
            // The index is not the one that this model asks for: all texts are read.
            #expect(try context.found("white") == ["Fresh milk"])
        }
        try old.open { (context) throws in #expect(try context.found("white") == ["Fresh milk"]) }
        #expect(try old.findings() == [])
    }

    @Test("What is copied, replaced, moved to another file and recovered is found there")
    func copies() throws {
        let stack = try WordStack()
        let folder = stack.url.deletingLastPathComponent()
        let (copy, moved) = (
            folder.appendingPathComponent("Copy.sqlite"), folder.appendingPathComponent("Moved.sqlite")
        )
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
        let store = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: stack.url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            context.insertNote("Fresh milk")
            try context.save()
            try coordinator.copyPersistentStore(store, to: copy)
            let new = try coordinator.migratePersistentStore(store, to: moved, type: .sqlite)
            context.reset()
            #expect(try context.found("milk") == ["Fresh milk"])
            context.insertNote("Sour milk")
            try context.save()
            #expect(try context.found("milk").count == 2)
            try coordinator.remove(new)
        }
        for url in [copy, moved] {
            let other = try WordStack(at: url)
            try other.open([NSReadOnlyPersistentStoreOption: true]) { (context) throws in
                #expect(try context.found("fresh") == ["Fresh milk"])
            }
            #expect(try other.findings() == [])
        }
        try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: moved, type: .sqlite)
        try WordStack(at: copy).open { (context) throws in #expect(try context.found("milk").count == 2) }
        #expect(try WordStack(at: copy).findings() == [])
    }

    @Test("A store that is recovered has its indexes, of both kinds")
    func recovery() throws {
        let stack = try WordStack()
        stack.model.entitiesByName["Note"]?.attributesByName["title"]?.hasTrigramIndex = true
        try stack.open { (context) throws in
            context.insertNote("Fresh milk")
            try context.save()
        }
        let new = stack.url.deletingLastPathComponent().appendingPathComponent("Recovered.sqlite")
        _ = try NSPersistentStoreCoordinator.recoverPersistentStore(at: stack.url, to: new, model: stack.model)
        let found = try WordStack(at: new)
        found.model.entitiesByName["Note"]?.attributesByName["title"]?.hasTrigramIndex = true
        try found.open([NSReadOnlyPersistentStoreOption: true]) { (context) throws in
            #expect(try context.found("milk") == ["Fresh milk"])
            #expect(try context.titles("title CONTAINS 'sh mi'") == ["Fresh milk"])
            #expect(try context.explained("title CONTAINS 'sh mi'").sql.contains("MATCH ?"))
        }
        #expect(try found.findings() == [])
        let indexes = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: new).searchIndexes
        #expect(indexes == ["OCD_TRIGRAM_ZNOTE_ZTITLE", "OCD_WORDS_ZFOLDER", "OCD_WORDS_ZNOTE"])
    }

    @Test("A pinned context searches what was")
    func generations() throws {
        let stack = try WordStack()
        try stack.open { (context) throws in
            context.insertNote("Fresh milk")
            try context.save()
            let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            try other.performAndWait {
                try other.setQueryGenerationFrom(.current)
                #expect(try other.found("milk") == ["Fresh milk"])
            }
            context.insertNote("Sour milk")
            try context.save()
            try other.performAndWait { () throws in
                #expect(try other.found("milk") == ["Fresh milk"])
                try other.setQueryGenerationFrom(.current)
                #expect(try other.found("milk").count == 2)
            }
        }
    }
}
