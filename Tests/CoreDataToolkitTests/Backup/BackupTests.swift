import CoreData
import CoreDataToolkit
import CoreDataZip
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct BackupTests {
    private static func folder(_ grocery: Grocery) -> URL { grocery.folder.appendingPathComponent("Backups") }

    private static func addPhoto(_ stack: CoreDataStack) async throws {
        try await stack.performImport { context in
            let photo = NSEntityDescription.insertNewObject(forEntityName: "Item_Photo", into: context)
            photo.setValue(Data(repeating: 7, count: 300_000), forKey: "data")
        }
    }

    private static func photoSize(_ stack: CoreDataStack) async throws -> Int? {
        try await stack.inView { context in
            let photos = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item_Photo"))
            return (photos.first?.value(forKey: "data") as? Data)?.count
        }
    }

    @Test func aBackupIsMadeListedVerifiedRestoredAndDeleted() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeFullStack()
        try await Self.addPhoto(stack)
        try await DefaultData.setChoice(.imported, in: stack)
        let backup = Backup(stack, to: FolderDestination(Self.folder(grocery)))
        #expect(try await backup.list().isEmpty)
        let told = Mutex<[Double]>([])
        let made = try await backup.create { progress in told.withLock { $0.append(progress.fractionCompleted) } }
        #expect(made.name.hasPrefix("Grocery-") && made.name.hasSuffix(".zip") && made.size > 1000)
        #expect(told.withLock { $0.last } == 1)
        #expect(try await backup.list().map(\.name) == [made.name])
        #expect(try await backup.verify(made.name).allSatisfy { $0.severity != .error })
        // Everything changes, and comes back.
        try await stack.performImport { context in
            for entity in ["Item", "Item_Photo"] {
                for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
                    context.delete(object)
                }
            }
        }
        try await DefaultData.setChoice(.declined, in: stack)
        #expect(try await stack.count("Item") == 0)
        try await backup.restore(made.name)
        #expect(try await stack.count("Item") == 377)
        #expect(try await stack.count("Item", "unit.name == 'g'") == 57)
        #expect(try await Self.photoSize(stack) == 300_000)
        #expect(DefaultData.choice(in: stack) == .imported)
        // Life goes on.
        try await stack.performImport { _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: $0) }
        #expect(try await stack.count("Item") == 378)
        let left = try FileManager.default.contentsOfDirectory(
            atPath: grocery.storeURL.deletingLastPathComponent().path)
        #expect(!left.contains { $0.contains("restoring") }, "\(left)")
        try await backup.delete(made.name)
        #expect(try await backup.list().isEmpty)
        await #expect(throws: ToolkitError.self) { try await backup.restore(made.name) }
        #expect(try await stack.count("Item") == 378)
    }

    @Test func aBackupOfAnotherAppIsRefused() async throws {
        let (grocery, other) = (try Grocery(), try Grocery())
        let entity = NSEntityDescription()
        entity.name = "Movie"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try await CoreDataStack.setUp(model: model, storeURL: other.storeURL, options: .server)
        let made = try await Backup(stack, to: FolderDestination(Self.folder(grocery))).create()
        try await stack.removeStores()
        let own = try await grocery.makeFullStack()
        let error = await #expect(throws: ToolkitError.self) {
            try await Backup(own, to: FolderDestination(Self.folder(grocery))).restore(made.name)
        }
        #expect(error?.message.contains("none of its entities (Movie)") == true, "\(error?.message ?? "")")
        #expect(try await own.count("Item") == 377)
        // Nor is its store taken for one of this app's.
        await #expect(throws: ToolkitError.self) {
            try await CoreDataStack.setUp(model: Grocery.model(), storeURL: other.storeURL, options: .server)
        }
        let again = try await CoreDataStack.setUp(model: model, storeURL: other.storeURL, options: .server)
        #expect(try await again.count("Movie") == 0)
    }

    @Test func whatIsNotSavedIsNotLostByARestore() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        let backup = Backup(stack, to: FolderDestination(Self.folder(grocery)))
        let made = try await backup.create()
        let add = { @Sendable (context: NSManagedObjectContext) -> Void in
            NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue("Milk", forKey: "name")
        }
        for isParent in [false, true] {
            await stack.inView(add)
            if isParent { try await stack.inView { try $0.save() } }
            let error = await #expect(throws: ToolkitError.self) { try await backup.restore(made.name) }
            #expect(error?.message.contains("1 inserted, 0 updated and 0 deleted") == true)
            #expect(try await stack.texts("Item", "name") == ["Milk"])
            if !isParent { await stack.rollback() }
        }
        try await stack.save()
        #expect(try await stack.texts("Item", "name") == ["Milk"])
        try await backup.restore(made.name)
        #expect(try await stack.count("Item") == 0)
    }

    /// Each save inserts two objects, so that a backup has an even number.
    @Test func aBackupIsOfOneMomentWhileOthersSave() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        let backup = Backup(stack, to: FolderDestination(Self.folder(grocery)))
        let writing = Task {
            var saves = 0
            while !Task.isCancelled {
                try await stack.performImport { context in
                    for _ in 0..<2 { _ = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: context) }
                }
                saves += 1
            }
            return saves
        }
        var names: [String] = []
        for index in 0..<4 { names.append(try await backup.create(name: "b\(index).zip").name) }
        writing.cancel()
        let saves = try await writing.value
        for name in names {
            try await backup.restore(name)
            let count = try await stack.count("Unit")
            #expect(count.isMultiple(of: 2) && count <= saves * 2, "\(count) of \(saves * 2)")
        }
    }

    @Test func aProgramThatIsKilledWhileItRestoresHasAllOrNothing() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeFullStack()
        try await Self.addPhoto(stack)
        let backup = Backup(stack, to: FolderDestination(Self.folder(grocery)))
        try await backup.create(name: "full.zip")
        try await stack.performImport { context in
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")) {
                context.delete(object)
            }
        }
        try await backup.create(name: "empty.zip")
        try await stack.removeStores()
        for round in 0..<6 {
            // It restores one after the other, and tells at several points of each.
            try Worker.runAndKill(
                afterLines: 3 + round * 5, "restore", grocery.storeURL.path, Self.folder(grocery).path)
            let again = try await grocery.makeStack()
            let count = try await again.count("Item")
            #expect(count == 377 || count == 0)
            #expect(try await Self.photoSize(again) == 300_000)
            let left = try FileManager.default.contentsOfDirectory(
                atPath: grocery.storeURL.deletingLastPathComponent().path)
            #expect(!left.contains { $0.contains("restoring") }, "\(left)")
            try await again.removeStores()
            let findings = try NSPersistentStoreCoordinator.verifyPersistentStore(at: grocery.storeURL).findings
            #expect(!findings.contains { $0.severity == .error })
        }
    }

    /// What an archive may claim, made of an honest one.
    private static let lies = [
        "traversal", "twice", "more", "missing", "wrong manifest", "newer", "other bytes", "cut", "not a zip",
        "no store",
        "other type",
    ]

    private static func lying(_ lie: String, _ honest: URL, to url: URL) throws {
        if lie == "not a zip" { return try Data("hello".utf8).write(to: url) }
        let data = try Data(contentsOf: honest)
        if lie == "cut" { return try data.dropLast(30).write(to: url) }
        if lie == "other bytes" {
            var changed = data
            changed[data.count / 2] ^= 0xFF
            return try changed.write(to: url)
        }
        let reader = try ZipReader(honest)
        let writer = try ZipWriter(to: url)
        for entry in reader.entries {
            var content = try reader.data(of: entry, limit: 1 << 30)
            if entry.name == "manifest.json" {
                var text = String(decoding: content, as: UTF8.self)
                if lie == "wrong manifest" { text = "{\"format\": 1}" }
                if lie == "newer" { text = text.replacing("\"format\" : 1", with: "\"format\" : 2") }
                if lie == "other type" { text = text.replacing("\"SQLite\"", with: "\"Binary\"") }
                content = Data(text.utf8)
            } else if lie == "no store", entry.name.hasSuffix("Store.sqlite") {
                content = Data(repeating: 65, count: content.count)
            } else if lie == "missing" {
                continue
            }
            try writer.add(content, as: entry.name)
            if lie == "twice" { try writer.add(content, as: entry.name) }
        }
        if lie == "traversal" { try writer.add(Data("evil".utf8), as: "store/../../evil") }
        if lie == "more" { try writer.add(Data("more".utf8), as: "store/more") }
        try writer.finish()
    }

    @Test(arguments: lies)
    func archivesThatLieAreRefusedAndNothingChanges(lie: String) async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        try await stack.performImport { _ = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: $0) }
        let backup = Backup(stack, to: FolderDestination(Self.folder(grocery)))
        let made = try await backup.create(name: "honest.zip")
        try await stack.performImport { _ = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: $0) }
        let folder = Self.folder(grocery)
        try Self.lying(lie, folder.appendingPathComponent(made.name), to: folder.appendingPathComponent("lie.zip"))
        await #expect(throws: (any Error).self) { try await backup.restore("lie.zip") }
        #expect(try await stack.count("Unit") == 2)
        await #expect(throws: (any Error).self) {
            let findings = try await backup.verify("lie.zip")
            if lie == "other type" || findings.contains(where: { $0.severity == .error }) {
                throw ToolkitError("found")
            }
        }
        let around = try FileManager.default.subpathsOfDirectory(atPath: grocery.folder.path)
        #expect(!around.contains { $0.contains("evil") || $0.contains("restoring") }, "\(around)")
    }

    @Test func aBackupOfAnOlderModelIsMigrated() async throws {
        let grocery = try Grocery()
        let old = try await grocery.makeFullStack()
        let destination = FolderDestination(Self.folder(grocery))
        let made = try await Backup(old, to: destination).create()
        try await old.destroyStores()
        try await old.removeStores()
        let model = try Grocery.model()
        let note = NSAttributeDescription()
        note.name = "note"
        note.attributeType = .stringAttributeType
        note.isOptional = true
        model.entitiesByName["Item"]?.properties.append(note)
        let stack = try await CoreDataStack.setUp(model: model, storeURL: grocery.storeURL, options: .server)
        #expect(try await stack.count("Item") == 0)
        try await Backup(stack, to: destination).restore(made.name)
        #expect(try await stack.count("Item", "note == nil") == 377)
    }

    @Test func namesThatAreNoFilesAreRefused() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        let backup = Backup(stack, to: FolderDestination(Self.folder(grocery)))
        for name in ["../a.zip", "a/b.zip", ".a.zip", "a", "", "a b.zip", "ä.zip", "a\u{0}.zip"] {
            await #expect(throws: ToolkitError.self, "\(name)") { try await backup.create(name: name) }
            await #expect(throws: ToolkitError.self, "\(name)") { try await backup.delete(name) }
        }
        try await backup.create(name: "a.zip")
        let twice = await #expect(throws: ToolkitError.self) { try await backup.create(name: "a.zip") }
        #expect(twice?.message.contains("already") == true)
        let inMemory = try await CoreDataStack.setUp(model: Grocery.model(), storeURL: nil, options: .server)
        let memory = Backup(inMemory, to: FolderDestination(Self.folder(grocery)))
        await #expect(throws: ToolkitError.self) { try await memory.create() }
        #expect(try await backup.list().count == 1)
    }
}
