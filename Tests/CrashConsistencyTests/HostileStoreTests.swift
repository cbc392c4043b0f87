import CSQLite
import CoreData
import CoreDataModel
import Foundation
import TestSupport
import Testing

/// Stores of an attacker: what the schema of a database may do, and where the files of external data may lead.
@Suite struct HostileStoreTests {
    private static func makeModel() throws -> NSManagedObjectModel {
        let picture = attribute("picture", .binaryData).with {
            guard case .attribute(var attribute) = $0.kind else { return }
            attribute.allowsExternalBinaryDataStorage = true
            $0.kind = .attribute(attribute)
        }
        return try NSManagedObjectModel(document: model(entity("Note", attribute("text"), picture)))
    }

    private static func withContext<R>(_ url: URL, _ body: (NSManagedObjectContext) throws -> R) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try makeModel())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private static func insert(_ text: String, _ picture: Data? = nil, in context: NSManagedObjectContext) throws {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue(text, forKey: "text")
        note.setValue(picture, forKey: "picture")
        try context.save()
    }

    /// Runs SQL as the attacker, who has a connection without limits.
    private static func attack(_ url: URL, _ sql: String) throws {
        var database: OpaquePointer?
        #expect(sqlite3_open(url.path, &database) == SQLITE_OK)
        defer { sqlite3_close(database) }
        let code = sqlite3_exec(database, sql, nil, nil, nil)
        #expect(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(database)))")
    }

    private static func withStore(_ body: (URL) throws -> Void) throws {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Notes.sqlite")
        try withContext(url) { try insert("first", Data(repeating: 7, count: 101 << 10), in: $0) }
        try body(url)
    }

    /// What a trigger must not be able to do when the program saves.
    @Test(arguments: [
        "SELECT load_extension('/tmp/evil.so')",
        "SELECT fts3_tokenizer('simple')",
    ])
    func triggersHaveNoSideEffectsOutsideTheStore(query: String) throws {
        try Self.withStore { url in
            try Self.attack(
                url,
                """
                CREATE TRIGGER evil AFTER INSERT ON ZNOTE BEGIN
                UPDATE ZNOTE SET ZTEXT = (\(query)) WHERE Z_PK = NEW.Z_PK; END
                """)
            #expect(throws: (any Error).self) {
                try Self.withContext(url) { try Self.insert("second", in: $0) }
            }
            let texts = try Self.withContext(url) { context in
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).map {
                    $0.value(forKey: "text") as? String
                }
            }
            #expect(texts == ["first"], "the failed save left nothing")
        }
    }

    @Test func aGeneratedColumnIsOnlyAColumn() throws {
        try Self.withStore { url in
            try Self.attack(url, "ALTER TABLE ZNOTE ADD COLUMN evil TEXT AS (upper(ZTEXT)) VIRTUAL")
            try Self.withContext(url) { try Self.insert("second", in: $0) }
            #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: url).isPassed)
        }
    }

    // MARK: External data

    /// The file of the first note's picture.
    private static func picture(_ url: URL) throws -> URL {
        let folder = url.deletingLastPathComponent().appendingPathComponent(".Notes_SUPPORT/_EXTERNAL_DATA")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        return folder.appendingPathComponent(name)
    }

    @Test(arguments: ["link", "pipe", "folder"]) func onlyRegularFilesAreExternalData(kind: String) throws {
        try Self.withStore { url in
            let secret = url.deletingLastPathComponent().appendingPathComponent("secret")
            try Data(repeating: 1, count: 200 << 10).write(to: secret)
            let file = try Self.picture(url)
            try FileManager.default.removeItem(at: file)
            switch kind {
            case "link": try FileManager.default.createSymbolicLink(at: file, withDestinationURL: secret)
            case "pipe": #expect(mkfifo(file.path, 0o600) == 0)
            default: try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
            }
            // A value that cannot be read is nil, and its error is logged.
            let pictures = try Self.withContext(url) { context in
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).map {
                    $0.value(forKey: "picture") as? Data
                }
            }
            #expect(pictures == [nil])
            // Nor is it copied.
            let copy = url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
            #expect(throws: (any Error).self) {
                try NSPersistentStoreCoordinator(managedObjectModel: try Self.makeModel()).replacePersistentStore(
                    at: copy, withPersistentStoreFrom: url, type: .sqlite)
            }
        }
    }
}
