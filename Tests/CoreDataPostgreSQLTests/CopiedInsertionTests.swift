import CoreDataPostgreSQL
import CoreDataSQL
import CoreDataStore
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQLDriver

/// Saves of so many new objects that their rows are copied.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct CopiedInsertionTests {
    private static func makeModel() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let (item, shop, code) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (item.name, shop.name, code.name) = ("Item", "Shop", "Code")
        let (owner, items) = (NSRelationshipDescription(), NSRelationshipDescription())
        (owner.name, owner.destinationEntity, owner.maxCount) = ("shop", shop, 1)
        (items.name, items.destinationEntity, items.maxCount) = ("items", item, 0)
        (owner.inverseRelationship, items.inverseRelationship) = (items, owner)
        item.properties = [
            attribute("name", .stringAttributeType), attribute("number", .integer64AttributeType),
            attribute("day", .dateAttributeType), owner,
        ]
        shop.properties = [attribute("name", .stringAttributeType), items]
        code.properties = [attribute("text", .stringAttributeType)]
        code.uniquenessConstraints = [["text"]]
        let model = NSManagedObjectModel()
        model.entities = [item, shop, code]
        return model
    }

    private struct Opened {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
        let context = NSManagedObjectContext(.privateQueue)
        let recorder = SQLRecorder()
        let schema = Notes.newSchema("a")

        let database: any SQLDatabase

        init(_ rest: String = "", folder: String? = nil) throws {
            PostgreSQLStore.register()
            let url = try PostgreSQLServer.shared.url(schema: schema, folder: folder, rest)
            let store = try coordinator.addPersistentStore(type: .postgreSQL, at: url)
            database = try #require(coordinator.attachedStore(of: store)?.source as? StoreEngine).database
            database.addObserver(recorder)
            context.persistentStoreCoordinator = coordinator
        }

        func makeItems(_ numbers: Range<Int>, shop: NSManagedObject? = nil) {
            for number in numbers {
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue("item \(number)", forKey: "name")
                item.setValue(number, forKey: "number")
                item.setValue(Date(timeIntervalSinceReferenceDate: Double(number) / 3), forKey: "day")
                item.setValue(shop, forKey: "shop")
            }
        }

        /// The numbers of the items as another context reads them, and whether all else of them is right.
        func numbers() throws -> [Int] {
            let other = NSManagedObjectContext(.privateQueue)
            other.persistentStoreCoordinator = coordinator
            return try other.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
                return try other.fetch(request).map { item in
                    let number = try #require(item.value(forKey: "number") as? Int)
                    let day = try #require(item.value(forKey: "day") as? Date)
                    #expect(abs(day.timeIntervalSinceReferenceDate - Double(number) / 3) < 0.000_002)
                    #expect(item.value(forKey: "name") as? String == "item \(number)")
                    return number
                }
            }
        }

        func execute(_ sql: String) throws {
            let connection = try PostgreSQLConnection(
                PostgreSQLOptions(PostgreSQLAddress(PostgreSQLServer.shared.url(schema: schema))))
            defer { connection.close() }
            try connection.execute(sql)
        }

        var copyCount: Int { recorder.statements.filter { $0.hasPrefix("COPY \"Item\" (") }.count }
    }

    private static let modes = ["", "&pooler=transaction"]

    /// Each mode with each of the others; in the short form a quarter of these pairs, other ones every day.
    private static func inEachMode<Other>(_ others: [Other]) -> [(String, Other)] {
        Trials.some(of: others.flatMap { other in modes.map { ($0, other) } })
    }

    /// Beside an update, which tells whether its row is as it was read.
    @Test(arguments: inEachMode([4_096, 4_097, 9_000]))
    func newRowsAreCopied(_ mode: String, _ count: Int) throws {
        let opened = try Opened(mode)
        try opened.context.performAndWait {
            let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: opened.context)
            try opened.context.save()
            opened.recorder.removeAll()
            opened.makeItems(0..<count, shop: shop)
            shop.setValue("x", forKey: "name")
            try opened.context.save()
            #expect(opened.copyCount == 1)
            #expect(
                !opened.context.hasChanges && (shop.value(forKey: "items") as? Set<NSManagedObject>)?.count == count)
        }
        #expect(try opened.numbers() == Array(0..<count))
        // What was copied is what the objects have: they change by the versions that they know.
        try opened.context.performAndWait {
            for item in opened.context.registeredObjects where item.entity.name == "Item" {
                item.setValue(Date(timeIntervalSinceReferenceDate: 0), forKey: "day")
            }
            try opened.context.save()
        }
    }

    /// Those of an entity go together, in whichever order they were made.
    @Test(arguments: Trials.some(of: [true, false]))
    func entitiesAreCopiedOneByOne(_ isFirst: Bool) throws {
        let opened = try Opened()
        let context = opened.context
        try context.performAndWait {
            func makeOthers() {
                for number in 0..<5_000 {
                    NSEntityDescription.insertNewObject(forEntityName: "Code", into: context)
                        .setValue("\(number)", forKey: "text")
                }
            }
            if isFirst { makeOthers() }
            opened.makeItems(0..<5_000)
            if !isFirst { makeOthers() }
            opened.makeItems(5_000..<10_000)
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Code")) == 5_000)
        }
        #expect(try opened.numbers() == Array(0..<10_000))
        #expect(opened.copyCount == 1)
    }

    /// A unique value that a row gives up is free for a new one, as where its row is deleted.
    @Test func whatMakesRoomGoesFirst() throws {
        let opened = try Opened()
        let context = opened.context
        try context.performAndWait {
            func makeCodes() -> [NSManagedObject] {
                (0..<4_200).map { number in
                    let code = NSEntityDescription.insertNewObject(forEntityName: "Code", into: context)
                    code.setValue("\(number)", forKey: "text")
                    return code
                }
            }
            let codes = makeCodes()
            try context.save()
            for code in codes.prefix(2_000) { code.setValue(nil, forKey: "text") }
            for code in codes.suffix(2_200) { context.delete(code) }
            _ = makeCodes()
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Code")) == 6_200)
        }
    }

    /// Where a row is refused nothing is written, and the objects are as they were.
    @Test(arguments: Trials.some(of: ["server", "text", "conflict", "validation"]))
    func aSaveThatFails(_ reason: String) throws {
        let opened = try Opened()
        let context = opened.context
        try context.performAndWait {
            let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
            try context.save()
            opened.makeItems(0..<10_000)
            let items = context.insertedObjects.filter { $0.value(forKey: "number") as? Int == 9_000 }
            let item = try #require(items.first)
            switch reason {
            case "server":
                try opened.execute(
                    "ALTER TABLE \"Item\" ADD CONSTRAINT small CHECK (\"number\" < 9000 OR \"number\" > 9000)")
            case "text": item.setValue("a\0b", forKey: "name")
            case "conflict":
                shop.setValue("mine", forKey: "name")
                try opened.execute("UPDATE \"Shop\" SET \"_version\" = \"_version\" + 1, \"name\" = 'theirs'")
            default: item.setValue(Date(timeIntervalSinceReferenceDate: 1e15), forKey: "day")
            }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            if reason == "conflict" { #expect(error?.code.rawValue == NSManagedObjectMergeError) }
            if reason == "text" || reason == "validation" {
                #expect(error?.localizedDescription.contains("Item") == true, "\(error.map { "\($0)" } ?? "")")
            }
            #expect(context.insertedObjects.count == 10_000 && item.objectID.isTemporaryID)
            #expect(try opened.numbers().isEmpty)
            // What was in the way is gone.
            switch reason {
            case "server": try opened.execute("ALTER TABLE \"Item\" DROP CONSTRAINT small")
            case "text": item.setValue("item 9000", forKey: "name")
            case "conflict": context.refresh(shop, mergeChanges: true)
            default: item.setValue(Date(timeIntervalSinceReferenceDate: 3_000), forKey: "day")
            }
            try context.save()
            #expect(!context.hasChanges && !item.objectID.isTemporaryID)
        }
        #expect(try opened.numbers() == Array(0..<10_000))
    }

    /// The connection is lost while rows are on their way, or behind them: they are sent again on another.
    @Test(arguments: inEachMode([1, 3, 6]))
    func aConnectionThatIsLost(_ mode: String, _ portion: Int) throws {
        let server = try PostgreSQLServer.shared
        let trap = PacketTrap()
        let relay = try PacketRelay(to: server) { trap.fate($0) }
        let opened = try Opened(mode, folder: relay.folder)
        let left = Mutex(portion)
        trap.set(.cut(after: 1_000)) { packet in
            guard !packet.isFromServer, packet.count > 16_000 else { return false }
            return left.withLock { left in
                left -= 1
                return left == 0
            }
        }
        try opened.context.performAndWait {
            opened.makeItems(0..<12_000)
            try opened.context.save()
        }
        #expect(trap.hasSprung)
        #expect(try opened.numbers() == Array(0..<12_000))
    }

    /// It is lost when all that comes before the copy was answered, and nothing of the copy sent.
    @Test(arguments: inEachMode(["Item", "Code"]))
    func aConnectionThatIsLostBeforeACopy(_ mode: String, _ entity: String) throws {
        let program = Notes.newSchema("a")
        let opened = try Opened("\(mode)&application_name=\(program)")
        let ending = SessionEnding(opened, program)
        opened.database.addObserver(ending)
        try opened.context.performAndWait {
            for _ in 0..<5_000 { _ = NSEntityDescription.insertNewObject(forEntityName: entity, into: opened.context) }
            try opened.context.save()
            #expect(try opened.context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) == 5_000)
        }
        #expect(ending.endedCount.withLock { $0 } == 1)
    }

    /// Ends the sessions of a program when it has first been told that a commit is noted.
    private final class SessionEnding: SQLObserver {
        let endedCount = Mutex(0)
        private let opened: Opened
        private let program: String

        init(_ opened: Opened, _ program: String) { (self.opened, self.program) = (opened, program) }

        func didRun(_ sql: String, duration: Duration, rows: Int) {
            guard ServerText.isNote(sql), endedCount.withLock({ $0 == 0 }) else { return }
            endedCount.withLock { $0 += 1 }
            do {
                try opened.execute(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '\(program)'"
                )
            } catch { Issue.record(error) }
        }
    }
}
