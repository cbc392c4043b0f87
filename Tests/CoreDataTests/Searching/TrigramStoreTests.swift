import CoreData
import Foundation
import TestSupport
import Testing

/// Trigram indexes in the files of stores: made, kept by whoever writes, made anew, taken away.
@Suite struct TrigramStoreTests {
    /// What verifying says of the indexes; rows that others wrote may lack what is no concern of these.
    private func findings(_ stack: TrigramStack) throws -> [String] {
        try NSPersistentStoreCoordinator.verifyPersistentStore(at: stack.url, model: stack.model).findings.map {
            "\($0.severity): \($0.message)"
        }.filter { $0.contains("OCD_") }
    }

    private func indexes(_ stack: TrigramStack) throws -> [String]? {
        try NSPersistentStoreCoordinator.report(onPersistentStoreAt: stack.url).searchIndexes
    }

    @Test("The user info asks for the index, and the version hashes do not tell")
    func model() throws {
        let (with, without) = try (TrigramStack(), TrigramStack(searched: false))
        #expect(with.model.entityVersionHashesByName == without.model.entityVersionHashesByName)
        let title = try #require(with.model.entitiesByName["Note"]?.attributesByName["title"])
        #expect(title.userInfo?["OpenCoreData.search"] as? String == "trigram")
        #expect(title.hasTrigramIndex)
        #expect(try !#require(without.model.entitiesByName["Note"]?.attributesByName["title"]).hasTrigramIndex)
    }

    @Test(
        "A store of a model that asks for none has the schema that it always had",
        .enabled(if: SchemaOracle.isAvailable, "\(SchemaOracle.missing)"))
    func oracle() throws {
        let stack = try TrigramStack(searched: false)
        try stack.open { _ in }
        #expect(try SchemaOracle.complaints(about: [stack.url]) == [])
        #expect(try indexes(stack) == nil)
    }

    @Test(
        "A store that is there gets its indexes when it is opened with a model that asks for them, unless for reading")
    func existingStore() throws {
        let plain = try TrigramStack(searched: false)
        try plain.open { (context) throws in
            context.note("Fresh milk")
            try context.save()
        }
        let stack = try TrigramStack(at: plain.url)
        try stack.open([NSReadOnlyPersistentStoreOption: true]) { (context) throws in
            #expect(try context.titles("title CONTAINS 'milk'") == ["Fresh milk"])
            #expect(!(try context.explained("title CONTAINS 'milk'").sql.contains("MATCH ?")))
        }
        #expect(try findings(stack).filter { $0.contains("has no search index") }.count == 3)
        try stack.open { (context) throws in
            #expect(try context.explained("title CONTAINS 'milk'").sql.contains("MATCH ?"))
            #expect(try context.titles("title CONTAINS 'milk'") == ["Fresh milk"])
        }
        #expect(
            try indexes(stack) == [
                "OCD_TRIGRAM_ZFOLDER_ZNAME", "OCD_TRIGRAM_ZNOTE_ZSENDER", "OCD_TRIGRAM_ZNOTE_ZTITLE",
            ])
        #expect(try findings(stack) == [])
        // A model that does not ask leaves the index, notes what it writes, and whoever asks finds it.
        try plain.open { (context) throws in
            context.note("Sour milk")
            try context.save()
        }
        try stack.open([NSReadOnlyPersistentStoreOption: true]) { (context) throws in
            #expect(try context.explained("title CONTAINS 'milk'").sql.contains("MATCH ?"))
            #expect(try context.titles("title CONTAINS 'milk'") == ["Fresh milk", "Sour milk"])
        }
        try stack.open { (context) throws in
            #expect(try context.titles("title CONTAINS 'milk'") == ["Fresh milk", "Sour milk"])
        }
        #expect(try findings(stack) == [])
    }

    @Test(
        "What others write is found at once, whatever their statements say of conflicts",
        .enabled(if: Python.isInstalled, "\(Python.missing)"))
    func others() throws {
        let stack = try TrigramStack()
        try stack.open { (context) throws in
            context.note("Fresh milk")
            try context.save()
            let log = "SELECT COUNT(*) FROM OCD_TRIGRAM_ZNOTE_ZTITLE_LOG"
            #expect(try stack.foreign(log) == "0\n")
            let columns = "INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES"
            let written = try stack.foreign(
                "INSERT \(columns) (100, 2, 1, 'Sour milk')", "INSERT OR REPLACE \(columns) (100, 2, 1, 'Goat milk')",
                "INSERT OR FAIL \(columns) (101, 2, 1, 'Oat')",
                "UPDATE OR ABORT ZNOTE SET ZTITLE = 'Oat milk' WHERE Z_PK = 101",
                "INSERT \(columns) (101, 2, 1, 'x') ON CONFLICT (Z_PK) DO UPDATE SET ZTITLE = 'Oat milk!'",
                "UPDATE OR ROLLBACK ZNOTE SET ZTITLE = 'Old milk' WHERE Z_PK = 1", log)
            #expect(written == "3\n")
            #expect(try context.titles("title CONTAINS 'milk'").count == 3)
            #expect(try context.titles("title CONTAINS 'Goat'") == ["Goat milk"])
            try stack.foreign("DELETE FROM ZNOTE WHERE Z_PK = 100")
            #expect(try context.titles("title CONTAINS 'Goat'") == [])
            // The next save puts right what was noted.
            context.note("Rice milk")
            try context.save()
            #expect(try stack.foreign(log) == "0\n")
            #expect(try context.titles("title CONTAINS 'Oat mil'") == ["Oat milk!"])
            #expect(try context.titles("title CONTAINS 'Rice'") == ["Rice milk"])
        }
        #expect(try findings(stack) == [])
    }

    @Test(
        "A table that somebody made anew took the triggers with it: then the index is made anew, too",
        .enabled(if: Python.isInstalled, "\(Python.missing)"))
    func tableMadeAnew() throws {
        let stack = try TrigramStack()
        try stack.open { (context) throws in
            context.note("Fresh milk")
            try context.save()
        }
        try stack.foreign(
            "CREATE TABLE X AS SELECT * FROM ZNOTE", "DROP TABLE ZNOTE",
            "CREATE TABLE ZNOTE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFOLDER INTEGER, ZPLAIN VARCHAR, ZTITLE VARCHAR, ZSENDER VARCHAR )",
            "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT Z_PK, Z_ENT, Z_OPT, 'Sour milk' FROM X",
            "DROP TABLE X")
        try stack.open([NSReadOnlyPersistentStoreOption: true]) { (context) throws in
            #expect(try context.titles("title CONTAINS 'Sour'") == ["Sour milk"])
        }
        try stack.open { (context) throws in
            #expect(try context.explained("title CONTAINS 'Sour'").sql.contains("MATCH ?"))
            #expect(try context.titles("title CONTAINS 'Sour'") == ["Sour milk"])
            #expect(try context.titles("title CONTAINS 'Fresh'") == [])
        }
        #expect(try findings(stack) == [])
    }

    @Test(
        "A migration makes the indexes that the newer model asks for, and takes away the others",
        arguments: [true, false])
    func migration(searched: Bool) throws {
        let old = try TrigramStack()
        try old.open { (context) throws in
            context.note("Fresh milk")
            try context.save()
        }
        let new = try TrigramStack(searched: searched, adds: "added", at: old.url)
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        try new.open(options) { (context) throws in
            #expect(try context.titles("title CONTAINS 'milk'") == ["Fresh milk"])
            #expect(try context.explained("title CONTAINS 'milk'").sql.contains("MATCH ?") == searched)
            context.note("Sour milk")
            try context.save()
            #expect(try context.titles("title CONTAINS 'milk'") == ["Fresh milk", "Sour milk"])
        }
        #expect(try indexes(new)?.count == (searched ? 3 : nil))
        #expect(try findings(new) == [])
    }

    @Test("What is put off of a migration keeps the index", .enabled(if: Python.isInstalled, "\(Python.missing)"))
    func deferredMigration() throws {
        let old = try TrigramStack(adds: "aaa")
        try old.open { (context) throws in
            context.note("Fresh milk")
            try context.save()
        }
        let new = try TrigramStack(at: old.url)
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSPersistentStoreDeferredLightweightMigrationOptionKey: true,
        ]
        try new.open(options) { (context) throws in
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
            #expect(try new.foreign("SELECT COUNT(*) FROM pragma_table_info('ZNOTE') WHERE name = 'ZAAA'") == "0\n")
            try new.foreign("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (100, 2, 1, 'Sour milk')")
            #expect(try context.titles("title CONTAINS 'milk'") == ["Fresh milk", "Sour milk"])
        }
        #expect(try findings(new) == [])
    }

    @Test("Verifying tells of a text that the index lacks", .enabled(if: Python.isInstalled, "\(Python.missing)"))
    func verifying() throws {
        let stack = try TrigramStack()
        try stack.open { (context) throws in
            context.note("Fresh milk")
            try context.save()
        }
        try stack.foreign("UPDATE ZNOTE SET ZTITLE = 'Sour milk'", "DELETE FROM OCD_TRIGRAM_ZNOTE_ZTITLE_LOG")
        #expect(try findings(stack) == ["error: is not found by the search index OCD_TRIGRAM_ZNOTE_ZTITLE"])
    }

    @Test("Two programs that save at once miss nothing of each other")
    func twoCoordinators() throws {
        let stack = try TrigramStack()
        try stack.open { (first) throws in
            try stack.open { (second) throws in
                for round in 0..<20 {
                    first.note("first milk \(round)")
                    try first.save()
                    second.note("second milk \(round)")
                    try second.save()
                    #expect(try first.titles("title CONTAINS 'milk'").count == 2 * round + 2)
                    #expect(try second.titles("title CONTAINS 'milk \(round)'").count >= 2)
                }
            }
        }
        #expect(try findings(stack) == [])
    }

    @Test("A mistake in the user info is told, and what is no text of a store has no index")
    func mistakes() throws {
        let stack = try TrigramStack()
        let attribute = NSAttributeDescription()
        attribute.name = "count"
        attribute.attributeType = .integer32AttributeType
        attribute.hasTrigramIndex = true
        stack.model.entitiesByName["Folder"]?.properties.append(attribute)
        try stack.open { _ in }
        #expect(try indexes(stack)?.contains { $0.contains("COUNT") } == false)
    }
}
