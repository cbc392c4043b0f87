import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Statements T6 and T9 where a migration goes through more objects than it keeps in memory.
@Suite struct MigrationPortionTests {
    /// Two portions and some of a third.
    private static let count = 1100

    private let folder: URL
    private let old: NSManagedObjectModel

    init() throws {
        folder = try Fixtures.temporaryFolder()
        old = try Self.model([
            entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
            entity(
                "Book", attribute("title"), attribute("number", .integer32),
                toOne("author", "Author", inverse: "books"),
                toMany("tags", "Tag", inverse: "books")),
            entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags")),
        ])
    }

    private static func model(_ entities: [EntityElement]) throws -> NSManagedObjectModel {
        var document = ModelDocument()
        document.entities = entities
        return try NSManagedObjectModel(document: document)
    }

    /// The newer version: every book has to have an author, and numbers are unique if that is asked for.
    private func newModel(
        isUnique: Bool = false, number: AttributeType = .integer32
    ) throws -> NSManagedObjectModel {
        let book = entity(
            "Book", attribute("name"), attribute("number", number),
            toOne("author", "Author", inverse: "books").with { $0.isOptional = false },
            toMany("tags", "Tag", inverse: "books"))
        return try Self.model([
            entity("Author", attribute("name"), toMany("books", "Book", inverse: "author", ordered: true)),
            book.with { if isUnique { $0.uniquenessConstraints = [["number"]] } },
            entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags")),
        ])
    }

    private var source: URL { folder.appendingPathComponent("Old.sqlite") }
    private var destination: URL { folder.appendingPathComponent("New.sqlite") }

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

    /// A source as it is without the deviations of a test, which was made once.
    private static let filled = Result { () throws -> URL in
        let tests = try Self()
        try tests.fill(orphan: nil)
        return tests.source
    }

    private func fill() throws { try FileManager.default.copyItem(at: Self.filled.get(), to: source) }

    private func fill(orphan: Int? = nil, number: (Int) -> Int = { $0 }) throws {
        try inContext(source, old) { context in
            func make(_ name: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let authors = (0..<7).map { make("Author", ["name": "\($0)"]) }
            let tags = (0..<5).map { make("Tag", ["name": "\($0)"]) }
            for index in 0..<Self.count {
                let book = make("Book", ["title": "Book \(index)", "number": number(index)])
                if index != orphan { book.setValue(authors[index % 7], forKey: "author") }
                book.setValue(NSSet(array: [tags[index % 5], tags[index % 3]]), forKey: "tags")
            }
            try context.save()
        }
    }

    private func mapping(policy: String? = nil) -> NSMappingModel {
        func property(_ name: String, _ expression: String) -> NSPropertyMapping {
            let mapping = NSPropertyMapping()
            mapping.name = name
            mapping.valueExpression = CoreData.NSExpression(format: expression)
            return mapping
        }
        func related(_ name: String, by mapping: String) -> NSPropertyMapping {
            property(
                name,
                "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(mapping)\", $source.\(name))"
            )
        }
        func entity(
            _ name: String, _ attributes: [NSPropertyMapping], _ relationships: [NSPropertyMapping]
        ) -> NSEntityMapping {
            let mapping = NSEntityMapping()
            mapping.name = "\(name)s"
            mapping.sourceEntityName = name
            mapping.destinationEntityName = name
            mapping.mappingType = .transformEntityMappingType
            mapping.attributeMappings = attributes
            mapping.relationshipMappings = relationships
            return mapping
        }
        let books = entity(
            "Book", [property("name", "$source.title"), property("number", "$source.number")],
            [related("author", by: "Authors"), related("tags", by: "Tags")])
        books.entityMigrationPolicyClassName = policy
        let model = NSMappingModel()
        model.entityMappings = [
            books, entity("Author", [property("name", "$source.name")], []),
            entity("Tag", [property("name", "$source.name")], []),
        ]
        return model
    }

    private func migrate(
        to new: NSManagedObjectModel, _ mapping: NSMappingModel, _ change: (NSMigrationManager) -> Void = { _ in }
    ) throws {
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        change(manager)
        try manager.migrateStore(from: source, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
    }

    private func checkContents(_ new: NSManagedObjectModel) throws {
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: destination, model: new).findings.isEmpty)
        try inContext(destination, new) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            let books = try context.fetch(request)
            #expect(books.count == Self.count)
            for book in books {
                let index = try #require(book.value(forKey: "number") as? Int)
                guard book.value(forKey: "name") as? String == "Book \(index)",
                    (book.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String
                        == "\(index % 7)",
                    (book.value(forKey: "tags") as? NSSet)?.count == Set([index % 5, index % 3]).count
                else {
                    Issue.record("book \(index)")
                    return
                }
            }
            let authors = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
            let counts = authors.map { ($0.value(forKey: "books") as? NSOrderedSet)?.count ?? 0 }
            #expect(counts.reduce(0, +) == Self.count)
        }
    }

    private func expectNothingLeft() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { !$0.hasPrefix("Old.sqlite") } == [])
    }

    @Test("T6: what lies portions apart is related, and only the end is validated")
    func portionsAreRelated() throws {
        let new = try newModel(isUnique: true)
        try fill()
        try migrate(to: new, mapping())
        try checkContents(new)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { $0.contains("migrating") } == [])
    }

    @Test("T9: what is wrong with an object of an earlier portion is told in the end, and nothing is left")
    func objectsAreValidatedInTheEnd() throws {
        try fill(orphan: 3)
        let error = try #require(throws: CocoaError.self) { try migrate(to: newModel(), mapping()) }
        #expect(error.errorCode == CocoaError.Code.validationMissingMandatoryProperty.rawValue)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "author")
        try expectNothingLeft()
    }

    @Test("T9: a value of an earlier portion that is too large for its attribute is told in the end")
    func numbersThatAreTooLargeAreTold() throws {
        try fill { $0 == 5 ? 70_000 : $0 }
        let error = try #require(throws: CocoaError.self) {
            try migrate(to: newModel(number: .integer16), mapping())
        }
        #expect(error.errorCode == CocoaError.Code.validationNumberTooLarge.rawValue)
        try expectNothingLeft()
    }

    @Test("T9: what violates a uniqueness constraint is told in the end; a policy can put it right before")
    func duplicatesCanBePutRight() throws {
        try fill { $0 == Self.count - 1 ? 0 : $0 }
        let error = try #require(throws: CocoaError.self) { try migrate(to: newModel(isUnique: true), mapping()) }
        #expect(error.errorCode == NSManagedObjectConstraintMergeError)
        try expectNothingLeft()
        let new = try newModel(isUnique: true)
        try migrate(to: new, mapping(policy: "RenumberingPolicy"))
        let count = try inContext(destination, new) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
        }
        #expect(count == Self.count)
    }

    @Test("T6: policies find what became of what, however long ago", arguments: [true, false])
    func policiesFindAssociations(isFile: Bool) throws {
        try fill()
        let new = try newModel()
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        let target = isFile ? folder.appendingPathComponent("New.binary") : destination
        try manager.migrateStore(
            from: source, type: .sqlite, mapping: mapping(policy: "AssociationPolicy"), to: target,
            type: isFile ? .binary : .sqlite)
        let told = try #require(manager.userInfo?["told"] as? [String])
        let count = Self.count
        #expect(told == ["all \(count), \(count)", "first Book 0", "found \(count) of \(count)"])
        if !isFile { try checkContents(new) }
    }

    @Test("T6: a migration that is cancelled after portions were saved leaves nothing")
    func cancellationLeavesNothing() throws {
        struct Enough: Error {}
        try fill()
        #expect(throws: Enough.self) {
            try migrate(to: newModel(), mapping()) { manager in
                manager.progressListener = { if $0 > 0.5 { manager.cancelMigrationWithError(Enough()) } }
            }
        }
        try expectNothingLeft()
    }

    @Test("T6: a destination that is there is added to, or stays as it was")
    func destinationsAreAddedTo() throws {
        try fill()
        let new = try newModel()
        try migrate(to: new, mapping())
        try migrate(to: new, mapping())
        func count() throws -> Int {
            try inContext(destination, new) { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) }
        }
        #expect(try count() == 2 * Self.count)
        struct Enough: Error {}
        #expect(throws: Enough.self) {
            try migrate(to: new, mapping()) { manager in
                manager.progressListener = { if $0 > 0.7 { manager.cancelMigrationWithError(Enough()) } }
            }
        }
        #expect(try count() == 2 * Self.count)
    }
}

/// Gives a number to the book that has another's, when all are made.
final class RenumberingPolicy: NSEntityMigrationPolicy {
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        var seen: Set<Int> = []
        for book in manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil) {
            let number = book.value(forKey: "number") as? Int ?? 0
            if !seen.insert(number).inserted { book.setValue(100_000, forKey: "number") }
        }
    }
}

/// Asks for associations when the portions that made them are long over.
final class AssociationPolicy: NSEntityMigrationPolicy {
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: nil)
        var told = ["all \(made.count), \(sources.count)"]
        let first = try #require(
            manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [made[0]]).first)
        told.append("first \(first.value(forKey: "title") as? String ?? "?")")
        let found = zip(sources, made).count { source, book in
            let again = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
            return again.count == 1 && again[0] === book
                && source.value(forKey: "title") as? String == book.value(forKey: "name") as? String
        }
        told.append("found \(found) of \(made.count)")
        manager.userInfo = ["told": told]
    }
}
