import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Migrations by mappings that only name properties go row by row: the same comes of it as where objects are made (T6).
@Suite struct RowMigrationTests {
    /// Has objects made, as nobody knows what it overrides.
    private final class OwnManager: NSMigrationManager, @unchecked Sendable {}

    private static let count = 900

    private let folder: URL
    private let old: NSManagedObjectModel

    init() throws {
        folder = try Fixtures.temporaryFolder()
        old = try Self.model([
            entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
            entity(
                "Book", attribute("title"), attribute("pages", .integer32), attribute("price", .decimal),
                attribute("cover", .binaryData), attribute("isRead", .boolean), attribute("bought", .date),
                attribute("number", .uuid), attribute("link", .uri), attribute("weight", .float),
                toOne("author", "Author", inverse: "books"), toOne("place", "Place", inverse: "book"),
                toOne("favourite", "Author")),
            entity("Novel", parent: "Book", attribute("hero")),
            entity("Place", attribute("shelf", .integer16), toOne("book", "Book", inverse: "place")),
        ])
    }

    private static func model(_ entities: [EntityElement]) throws -> NSManagedObjectModel {
        var document = ModelDocument()
        document.entities = entities
        return try NSManagedObjectModel(document: document)
    }

    private var source: URL { folder.appendingPathComponent("Old.sqlite") }

    private func inContext<R>(
        _ url: URL, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private func fill(title: (Int) -> String? = { $0 % 7 == 0 ? nil : "Book \($0)" }) throws {
        try inContext(source, old) { context in
            func make(_ name: String, _ values: [String: Any?]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let authors = (0..<40).map { make("Author", ["name": "\($0)"]) }
            for index in 0..<Self.count {
                let book = make(
                    index % 3 == 0 ? "Novel" : "Book",
                    [
                        "title": title(index), "pages": index, "price": Decimal(index) / 4,
                        "cover": Data(repeating: UInt8(index % 251), count: index % 5 == 0 ? 2000 : 3),
                        "isRead": index % 2 == 0, "bought": Date(timeIntervalSinceReferenceDate: Double(index)),
                        "number": UUID(), "link": URL(string: "https://example.org/\(index)"),
                        "weight": Float(index) / 3, "author": index % 11 == 0 ? nil : authors[index % 37],
                        "favourite": index % 4 == 0 ? authors[index % 40] : nil,
                    ])
                if index % 3 == 0 { _ = make("Place", ["shelf": index % 100, "book": book]) }
            }
            // Keys with gaps.
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.predicate = NSPredicate(format: "name == '7' OR name == '8'")
            try context.save()
            for author in try context.fetch(request) { context.delete(author) }
            try context.save()
        }
    }

    /// The newer version: other names, an attribute more, and what the arguments ask for.
    private func newModel(
        titleIsRequired: Bool = false, minimumPages: Int? = nil, isUnique: Bool = false, className: String? = nil,
        stars: String = "3"
    ) throws -> NSManagedObjectModel {
        var book = entity(
            "Book", attribute("title", optional: !titleIsRequired), attribute("pages", .integer32),
            attribute("price", .decimal), attribute("cover", .binaryData), attribute("isRead", .boolean),
            attribute("bought", .date), attribute("number", .uuid), attribute("link", .uri),
            attribute("weight", .float), attribute("stars", .integer16, default: stars),
            attribute("note", default: "none"), attribute("kind"), toOne("author", "Author", inverse: "books"),
            toOne("place", "Place", inverse: "book"), toOne("favourite", "Author"))
        if isUnique { book.uniquenessConstraints = [["title"]] }
        book.className = className
        let model = try Self.model([
            entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")), book,
            entity("Novel", parent: "Book", attribute("hero")),
            entity("Place", attribute("shelf", .integer16), toOne("book", "Book", inverse: "place")),
        ])
        if let minimumPages, let pages = model.entitiesByName["Book"]?.attributesByName["pages"] {
            pages.setValidationPredicates(
                [NSPredicate(format: "SELF >= %d", minimumPages)], withValidationWarnings: ["few"])
        }
        return model
    }

    // MARK: Mappings

    private func property(_ name: String, _ expression: String) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = CoreData.NSExpression(format: expression)
        return mapping
    }

    private func related(_ name: String, by mapping: String) -> NSPropertyMapping {
        property(
            name,
            "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(mapping)\", $source.\(name))"
        )
    }

    private func mapping(_ name: String, _ entity: String, _ relationships: [NSPropertyMapping]) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = name
        mapping.sourceEntityName = entity
        mapping.destinationEntityName = entity
        mapping.mappingType = .transformEntityMappingType
        let names = old.entitiesByName[entity]?.attributesByName.keys.sorted() ?? []
        mapping.attributeMappings = names.map { property($0, "$source.\($0)") }
        mapping.relationshipMappings = relationships
        return mapping
    }

    private func mappings(_ name: String, to new: NSManagedObjectModel) throws -> NSMappingModel {
        if name == "inferred" {
            return try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        }
        let result = NSMappingModel()
        let author = [related("author", by: "Authors"), related("favourite", by: "Authors")]
        let books = mapping("Books", "Book", author + [related("place", by: "Places")])
        let places = mapping("Places", "Place", [related("book", by: "Books")])
        let authors = mapping("Authors", "Author", [related("books", by: "Books")])
        switch name {
        case "by name": for mapping in [books, places, authors] { mapping.attributeMappings = nil }
        case "constants":
            books.attributeMappings? += [
                property("stars", "5"), property("note", "nil"), property("kind", "'paper'"), property("isRead", "YES"),
            ]
        case "some":
            books.sourceExpression = CoreData.NSExpression(
                format:
                    "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Book\", \"pages > 100\"), FUNCTION($manager, \"sourceContext\"), NO)"
            )
        default: break
        }
        result.entityMappings = [books, places, authors]
        return result
    }

    private func migrated(
        _ mapping: NSMappingModel, _ new: NSManagedObjectModel, _ file: String, own: Bool,
        options: [AnyHashable: Any]? = nil
    ) throws -> StoreSketch {
        let destination = folder.appendingPathComponent(file)
        let manager =
            own
            ? OwnManager(sourceModel: old, destinationModel: new)
            : NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = false
        try manager.migrateStore(
            from: source, type: .sqlite, options: nil, mapping: mapping, to: destination, type: .sqlite,
            options: options)
        #expect(manager.migrationProgress == 1)
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: destination, model: new).findings.isEmpty)
        return try inContext(destination, new) { try StoreSketch($0, new) }
    }

    /// Whether no object is made.
    private func goesByRows(_ mapping: NSMappingModel, _ new: NSManagedObjectModel) throws -> Bool {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: source)
        defer { try? coordinator.remove(store) }
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        let runtime = NSPersistentStoreCoordinator(managedObjectModel: new).runtime
        return RowMigration(manager, mapping.entityMappings ?? [], from: coordinator, to: runtime) != nil
    }

    @Test(arguments: Trials.some(of: ["inferred", "all", "by name", "constants", "some"]))
    func rowsAgreeWithObjects(name: String) throws {
        try fill()
        let new = try newModel()
        let mapping = try mappings(name, to: new)
        // What is inferred is asked for by a manager that has it.
        if name != "inferred" { #expect(try goesByRows(mapping, new)) }
        let rows = try migrated(mapping, new, "Rows.sqlite", own: false)
        let objects = try migrated(mapping, new, "Objects.sqlite", own: true)
        #expect(rows.objects.count > Self.count / 3)
        #expect(rows.objects.count == objects.objects.count)
        let different = rows.objects.filter { objects.objects[$0] != $1 }
        #expect(
            different.isEmpty,
            "\(different.count), as \(different.first.map { "\($0) and \(String(describing: objects.objects[$0.key]))" } ?? "")"
        )
        let mode = try SQLStore.makeDatabase(.init(path: folder.appendingPathComponent("Rows.sqlite").path)).read {
            try $0.rows("PRAGMA journal_mode")
        }
        #expect(mode == [[.text("wal")]])
    }

    @Test(
        "T6: what objects would be refused for is told as where objects are made",
        arguments: Trials.some(of: [0, 1, 2, 3]))
    func mistakesAreTold(number: Int) throws {
        try fill(title: { number == 2 ? "Book \($0 % (Self.count - 10))" : $0 == 500 ? nil : "Book \($0)" })
        let new =
            switch number {
            case 0: try newModel(titleIsRequired: true)
            case 1: try newModel(minimumPages: 3)
            case 2: try newModel(isUnique: true)
            default: try newModel(minimumPages: 0)
            }
        let mapping = try mappings("all", to: new)
        #expect(try goesByRows(mapping, new))
        var told: [NSError?] = []
        for own in [false, true] {
            do {
                _ = try migrated(mapping, new, "Made\(own).sqlite", own: own)
                told.append(nil)
            } catch { told.append(error as NSError) }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!names.contains { $0.hasPrefix(".migrating") })
            #expect(names.contains("Made\(own).sqlite") == (number == 3))
        }
        #expect(told.count == 2 && (told[0] == nil) == (number == 3))
        #expect(told[0]?.code == told[1]?.code)
        #expect(told[0]?.localizedDescription == told[1]?.localizedDescription)
    }

    private final class WokenBook: NSManagedObject {
        override func awakeFromInsert() { setPrimitiveValue("woken", forKey: "note") }
    }

    private final class PlainBook: NSManagedObject {}

    @Test func classesWithHooksHaveObjectsMade() throws {
        try fill()
        let woken = try newModel(className: String(reflecting: WokenBook.self))
        let mapping = try mappings("all", to: woken)
        #expect(try !goesByRows(mapping, woken))
        let sketch = try migrated(mapping, woken, "Woken.sqlite", own: false)
        #expect(sketch.objects.values.filter { $0.values["note"] == "woken" }.count == Self.count * 2 / 3)
        #expect(try goesByRows(mapping, newModel(className: String(reflecting: PlainBook.self))))
    }

    @Test func historyIsRecorded() throws {
        try fill()
        let new = try newModel()
        let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true as NSNumber]
        let mapping = try mappings("all", to: new)
        let sketch = try migrated(mapping, new, "History.sqlite", own: false, options: options)
        let database = try SQLStore.makeDatabase(.init(path: folder.appendingPathComponent("History.sqlite").path))
        defer { database.close() }
        let count = try database.read { try $0.rows("SELECT COUNT(*) FROM ACHANGE") }
        #expect(count == [[.integer(Int64(sketch.objects.count))]])
    }

    @Test func cancelledBetweenRows() throws {
        struct Stopped: Error {}
        try fill()
        let new = try newModel()
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.progressListener = { [unowned manager] in if $0 > 0 { manager.cancelMigrationWithError(Stopped()) } }
        let destination = folder.appendingPathComponent("None.sqlite")
        #expect(throws: Stopped.self) {
            try manager.migrateStore(
                from: source, type: .sqlite, mapping: mappings("all", to: new), to: destination, type: .sqlite)
        }
        #expect(!FileManager.default.fileExists(atPath: destination.path))
    }

    // MARK: Keys

    @Test(
        "Runs of keys tell what pairs of keys tell",
        arguments: Trials.some(of: Trials.some(of: Array(0..<40)), atLeast: 4))
    func runsAgreeWithPairs(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        var pairs: [(source: KeyPairs.Key, destination: KeyPairs.Key)] = []
        var runs = KeyPairs()
        var (from, to) = (Int64(1), Int64(1))
        for _ in 0..<300 {
            if numbers.chance(8) { from = Int64(numbers.below(60)) + 1 }
            if numbers.chance(8) { to = Int64(numbers.below(60)) + 1 }
            let root = numbers.chance(20) ? 1 : 0
            let pair = (
                KeyPairs.Key(root: root, entity: root, primaryKey: from),
                KeyPairs.Key(root: 0, entity: 0, primaryKey: to)
            )
            pairs.append(pair)
            runs.append(pair.0, pair.1)
            from += 1
            to += 1
        }
        #expect(runs.count == pairs.count)
        for start in stride(from: 0, to: 300, by: 37) {
            let range = start..<min(300, start + 50)
            #expect(runs.pairs(range).elementsEqual(pairs[range]) { $0.0 == $1.0 && $0.1 == $1.1 })
        }
        for key in Int64(0)..<400 {
            for root in 0...1 {
                let wanted = KeyPairs.Key(root: root, entity: root, primaryKey: key)
                #expect(runs.destinations(of: wanted) == pairs.filter { $0.source == wanted }.map(\.destination))
                #expect(runs.sources(of: wanted) == pairs.filter { $0.destination == wanted }.map(\.source))
            }
        }
    }
}
