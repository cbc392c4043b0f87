import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataCLI

/// `coredata migrate` drops nothing that nobody has named, and goes on with what a stopped run has left.
@Suite struct MigrateLossTests {
    private static let shop = """
        <entity name="Item"><attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="price" optional="YES" attributeType="Integer 64"/>
        <relationship name="unit" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Unit" \
        inverseName="items" inverseEntity="Unit"/></entity>
        <entity name="Unit"><attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="items" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Item" \
        inverseName="unit" inverseEntity="Item"/></entity>
        """
    private static let smaller = """
        <entity name="Item"><attribute name="name" optional="YES" attributeType="String"/></entity>
        """
    private static let unrelated = """
        <entity name="Author"><attribute name="name" optional="YES" attributeType="String"/></entity>
        """

    private static func book(_ attribute: String, unique: Bool = false) -> String {
        let constraint = """
            <uniquenessConstraints><uniquenessConstraint><constraint value="headline"/></uniquenessConstraint>\
            </uniquenessConstraints>
            """
        return """
            <entity name="Book"><attribute name="\(attribute)/>
            <attribute name="note" optional="YES" attributeType="String"/>\(unique ? constraint : "")</entity>
            """
    }

    /// `title`, then `heading`, which was that, then `headline`, which was `heading` and has to be another for each book.
    private static let chain: [(String, String)] = [
        ("Library", book(#"title" optional="YES" attributeType="String""#)),
        ("Library 2", book(#"heading" elementID="title" optional="YES" attributeType="String""#)),
        ("Library 3", book(#"headline" elementID="heading" optional="YES" attributeType="String""#, unique: true)),
    ]

    private func makeModel(
        _ scratch: Scratch, _ name: String, _ versions: [(String, String)], current: String? = nil
    ) throws -> String {
        let folder = scratch.folder.appendingPathComponent("\(name).xcdatamodeld")
        for (name, entities) in versions {
            let version = folder.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            let contents = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities)</model>
                """
            try contents.write(to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        if let current {
            let mark = """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(current).xcdatamodel</string></dict></plist>
                """
            try mark.write(
                to: folder.appendingPathComponent(".xccurrentversion"), atomically: true, encoding: .utf8)
        }
        return folder.path
    }

    /// Three items, two of which have a price.
    private func makeShop(_ scratch: Scratch) throws -> String {
        let store = try scratch.makeStore(entities: Self.shop)
        let items = try scratch.write(
            #"[{"name": "Tea", "price": 3}, {"name": "Milk", "price": 2}, {"name": "Air"}]"#, to: "items.json")
        try CommandRun.coredata("import", store, "--entity", "Item", items)
        let units = try scratch.write(#"[{"name": "box"}]"#, to: "units.json")
        try CommandRun.coredata("import", store, "--entity", "Unit", units)
        return store
    }

    private func expectUntouched(_ store: String, _ comment: Comment) throws {
        #expect(
            try CommandRun.coredata("query", store, "Item", "--where", "price > 0", "--count").output == "2\n", comment)
        #expect(!FileManager.default.fileExists(atPath: store + ".before-migration"), comment)
    }

    // MARK: What would be lost

    @Test func anUnrelatedModelDoesNotEmptyAStore() throws {
        let scratch = try Scratch()
        let store = try makeShop(scratch)
        let model = try makeModel(scratch, "Other", [("Other", Self.unrelated)])
        for options in [[], ["--dry-run"], ["--no-backup"], ["--progressive"]] {
            let words = ["migrate", "run", store, "--model", model] + options
            let run = try CommandRun.run(CommandRun.executable(), words)
            #expect(run.status == 2, "\(options): \(run.output)")
            for line in [
                "  entity Item: 3 objects", "  entity Unit: 1 object", "--allow-loss Item --allow-loss Unit",
            ] { #expect(run.error.contains(line), "\(options): \(run.error)") }
            try expectUntouched(store, "\(options)")
        }
        let run = try CommandRun.coredata(
            "migrate", "run", store, "--model", model, "--allow-loss", "Item", "--allow-loss", "Unit")
        #expect(run.status == 0, "\(run.error)")
        #expect(run.lines.suffix(2) == ["Dropped entity Item: 3 objects", "Dropped entity Unit: 1 object"])
        #expect(try CommandRun.coredata("migrate", "rollback", store).status == 0)
        try expectUntouched(store, "put back")
    }

    @Test func eachLossIsNamed() throws {
        let scratch = try Scratch()
        let store = try makeShop(scratch)
        let model = try makeModel(scratch, "Smaller", [("Smaller", Self.smaller)])
        let plan = try CommandRun.coredata("migrate", "plan", store, "--model", model)
        #expect(plan.lines.contains("drops attribute Item.price: 2 objects have a value"), "\(plan.output)")
        let json = try CommandRun.coredata("migrate", "plan", store, "--model", model, "--json")
        #expect(json.output.contains(#""name" : "Item.price""#) && json.output.contains(#""count" : 2"#))
        let some = try CommandRun.coredata(
            "migrate", "run", store, "--model", model, "--allow-loss", "Item.price", "--allow-loss", "Unti")
        #expect(some.status == 2)
        #expect(some.error.contains("--allow-loss Item.unit --allow-loss Unit\n"), "\(some.error)")
        #expect(!some.error.contains("attribute Item.price"), "\(some.error)")
        #expect(some.error.contains("note: --allow-loss Unti"), "\(some.error)")
        try expectUntouched(store, "some")
        let all = try CommandRun.coredata(
            "migrate", "run", store, "--model", model, "--no-backup", "--allow-loss", "Item.price", "--allow-loss",
            "Item.unit", "--allow-loss", "Unit")
        #expect(all.status == 0, "\(all.error)")
        #expect(all.lines.contains("Dropped attribute Item.price: 2 objects have a value"), "\(all.output)")
        #expect(all.lines.contains("Dropped relationship Item.unit: 0 objects have others there"), "\(all.output)")
    }

    @Test func aStoreInXMLLosesNothingEither() throws {
        let scratch = try Scratch()
        let versions = [("Shop", Self.shop), ("Shop 2", Self.smaller)]
        let model = try makeModel(scratch, "Shop", versions, current: "Shop 2")
        let store = scratch.path("Shop.xml")
        let first = scratch.folder.appendingPathComponent("Shop.xcdatamodeld/Shop.xcdatamodel").path
        #expect(try CommandRun.coredata("store", "create", store, "--model", first).status == 0)
        let items = try scratch.write(#"[{"name": "Tea", "price": 3}]"#, to: "items.json")
        try CommandRun.coredata("import", store, "--model", first, "--entity", "Item", items)
        let before = try scratch.read("Shop.xml")
        let run = try CommandRun.coredata("migrate", "run", store, "--model", model)
        #expect(run.status == 2 && run.error.contains("attribute Item.price: 1 object has a value"), "\(run.error)")
        #expect(try scratch.read("Shop.xml") == before)
    }

    /// A chain loses what it loses of the store's, by the names of the store's version.
    @Test func theLossesOfAChainHaveTheStoresNames() throws {
        let scratch = try Scratch()
        let short = """
            <entity name="Book"><attribute name="headline" elementID="heading" optional="YES" attributeType="String"/></entity>
            """
        let model = try makeModel(
            scratch, "Library", Self.chain.dropLast() + [("Library 3", short)], current: "Library 3")
        let store = try scratch.makeStore(entities: Self.chain[0].1)
        let books = try scratch.write(#"[{"title": "One", "note": "n"}, {"title": "Two"}]"#, to: "books.json")
        try CommandRun.coredata("import", store, "--entity", "Book", books)
        let refused = try CommandRun.coredata("migrate", "run", store, "--model", model, "--progressive")
        #expect(refused.status == 2)
        #expect(refused.error.contains("  attribute Book.note: 1 object has a value\nhint"), "\(refused.error)")
        let run = try CommandRun.coredata(
            "migrate", "run", store, "--model", model, "--progressive", "--allow-loss", "Book.note")
        #expect(run.status == 0, "\(run.error)")
        let found = try CommandRun.coredata("query", store, "Book", "--where", "headline == 'Two'", "--count")
        #expect(found.output == "1\n", "\(found.error)")
    }

    // MARK: Which version

    @Test func aModelThatNamesNoCurrentVersionAsksForOne() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.chain[1].1)
        let model = try makeModel(scratch, "Library", Self.chain)
        for command in [
            ["run", store, "--model", model], ["plan", store, "--model", model],
            ["run", store, "--model", model, "--progressive"], ["check", model],
        ] {
            let run = try CommandRun.run(CommandRun.executable(), ["migrate"] + command)
            #expect(run.status == 2, "\(command)")
            #expect(run.error.contains("'Library', 'Library 2', 'Library 3'"), "\(run.error)")
            #expect(run.error.contains("--to"), "\(run.error)")
        }
        let named = try CommandRun.coredata("migrate", "run", store, "--model", model, "--to", "Library 3")
        #expect(named.status == 0, "\(named.error)")
        let lint = try CommandRun.coredata("model", "lint", model)
        #expect(lint.output.contains("no-current-version"), "\(lint.output)")
        // Of one there is nothing to choose.
        let one = try makeModel(scratch, "One", [Self.chain[2]])
        #expect(try CommandRun.coredata("migrate", "plan", store, "--model", one).status == 0)
        #expect(try !CommandRun.coredata("model", "lint", one).output.contains("no-current-version"))
        let marked = try makeModel(scratch, "Library", Self.chain, current: "Library 3")
        #expect(try !CommandRun.coredata("model", "lint", marked).output.contains("no-current-version"))
    }

    // MARK: Runs that were stopped

    @Test func aRunThatWasKilledBeforeItMigratedIsRepeated() throws {
        let scratch = try Scratch()
        let model = try makeModel(scratch, "Library", Array(Self.chain.prefix(2)), current: "Library 2")
        let manager = FileManager.default
        var kills = 0
        for _ in 0..<4 {
            let folder = try Scratch()
            let store = try folder.makeStore(entities: Self.chain[0].1)
            let filled = try CommandRun.coredata("generate-data", store, "--count", "Book=4000")
            #expect(filled.status == 0, "\(filled.error)")
            let copy = store + ".before-migration"
            let process = Process()
            process.executableURL = try CommandRun.executable()
            process.arguments = ["migrate", "run", store, "--model", model]
            (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
            try process.run()
            let deadline = Date(timeIntervalSinceNow: 60)
            while process.isRunning, !manager.fileExists(atPath: copy), Date() < deadline { usleep(200) }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            if process.terminationReason == .uncaughtSignal, manager.fileExists(atPath: copy) { kills += 1 }
            let again = try CommandRun.coredata("migrate", "run", store, "--model", model)
            #expect(again.status == 0, "\(again.error)")
            #expect(
                try CommandRun.coredata("query", store, "Book", "--where", "heading != nil OR TRUEPREDICATE", "--count")
                    .output == "4000\n")
            #expect(try CommandRun.coredata("migrate", "rollback", store).status == 0)
            let back = try CommandRun.coredata(
                "query", store, "Book", "--where", "title != nil OR TRUEPREDICATE", "--count")
            #expect(back.output == "4000\n", "\(back.error)")
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                type: .sqlite, at: URL(fileURLWithPath: store))
            #expect(metadata[MigrationCopy.targetKey] == nil)
        }
        #expect(kills > 0)
    }

    /// What a run leaves that was killed between the copy and the migration, to which others have written since.
    @Test func theCopyOfARunThatDidNotMigrateIsMadeAnew() throws {
        let scratch = try Scratch()
        let model = try makeModel(scratch, "Library", Array(Self.chain.prefix(2)), current: "Library 2")
        let store = try scratch.makeStore(entities: Self.chain[0].1)
        try FileManager.default.copyItem(atPath: store, toPath: store + ".before-migration")
        let copy = URL(fileURLWithPath: store + ".before-migration")
        // A copy without the note of a run is somebody's.
        let theirs = try CommandRun.coredata("migrate", "run", store, "--model", model)
        #expect(
            theirs.status == 2 && theirs.error.contains("There is a copy of an earlier migration"), "\(theirs.error)")
        try MigrationCopy.change(copy) { $0[MigrationCopy.targetKey] = "of whatever version" }
        let books = try scratch.write(#"[{"title": "One"}]"#, to: "books.json")
        try CommandRun.coredata("import", store, "--entity", "Book", books)
        let run = try CommandRun.coredata("migrate", "run", store, "--model", model)
        #expect(run.status == 0, "\(run.error)")
        #expect(
            try CommandRun.coredata("query", store, "Book", "--where", "heading == 'One'", "--count").output == "1\n")
        #expect(try CommandRun.coredata("migrate", "rollback", store).status == 0)
        #expect(try CommandRun.coredata("query", store, "Book", "--where", "title == 'One'", "--count").output == "1\n")
    }

    @Test func aChainThatEndedHalfTheWayIsGoneOnWith() throws {
        let scratch = try Scratch()
        let model = try makeModel(scratch, "Library", Self.chain, current: "Library 3")
        let store = try scratch.makeStore(entities: Self.chain[0].1)
        let books = try scratch.write(
            #"[{"title": "One", "note": "a"}, {"title": "One", "note": "b"}]"#, to: "books.json")
        try CommandRun.coredata("import", store, "--entity", "Book", books)
        let words = ["migrate", "run", store, "--model", model, "--progressive"]
        let half = try CommandRun.run(CommandRun.executable(), words)
        #expect(half.status == 2 && half.error.contains("unique"), "\(half.error)")
        let second = scratch.folder.appendingPathComponent("Library.xcdatamodeld/Library 2.xcdatamodel")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try .load(contentsOf: second))
        let added = try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: store))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "note == 'b'")
            for book in try context.fetch(request) { context.delete(book) }
            try context.save()
        }
        try coordinator.remove(added)
        let whole = try CommandRun.run(CommandRun.executable(), words)
        #expect(whole.status == 0, "\(whole.error)")
        #expect(
            try CommandRun.coredata("query", store, "Book", "--where", "headline == 'One'", "--count").output == "1\n")
        // The copy is as the store was before all of it.
        #expect(try CommandRun.coredata("migrate", "rollback", store).status == 0)
        #expect(try CommandRun.coredata("query", store, "Book", "--where", "title == 'One'", "--count").output == "2\n")
    }
}
