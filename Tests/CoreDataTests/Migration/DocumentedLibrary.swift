import CoreData
import Foundation
import TestSupport
import Testing

/// Two versions of a model that is made in code, as documentation shows it, and stores of them.
struct DocumentedLibrary {
    private let folder: URL

    init() throws { folder = try Fixtures.temporaryFolder() }

    var url: URL { folder.appendingPathComponent("Store.sqlite") }
    var other: URL { folder.appendingPathComponent("Other.sqlite") }

    // MARK: Models in code

    static func attribute(
        _ name: String, _ type: NSAttributeType = .stringAttributeType, was: String? = nil, optional: Bool = true,
        default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.defaultValue = value
        if let was { attribute.renamingIdentifier = was }
        return attribute
    }

    static func entity(
        _ name: String, was: String? = nil, _ properties: [NSPropertyDescription]
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "NSManagedObject"
        entity.properties = properties
        if let was { entity.renamingIdentifier = was }
        return entity
    }

    static func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    /// Books and the authors that wrote them.
    static func library(
        _ book: [NSPropertyDescription], author: String = "Author", was: String? = nil
    ) -> NSManagedObjectModel {
        let writer = entity(author, was: was, [attribute("name")])
        let toOne = NSRelationshipDescription()
        toOne.name = "author"
        toOne.destinationEntity = writer
        toOne.maxCount = 1
        toOne.isOptional = true
        let toMany = NSRelationshipDescription()
        toMany.name = "books"
        toMany.isOptional = true
        toMany.deleteRule = .nullifyDeleteRule
        let book = entity("Book", book + [toOne])
        toMany.destinationEntity = book
        toMany.inverseRelationship = toOne
        toOne.inverseRelationship = toMany
        writer.properties += [toMany]
        return model([book, writer])
    }

    let first = Self.library([Self.attribute("title"), Self.attribute("pages", .integer32AttributeType)])
    let second = Self.library([
        Self.attribute("name", was: "title"), Self.attribute("pages", .integer32AttributeType),
        Self.attribute("stars", .integer16AttributeType, optional: false, default: 3),
    ])

    // MARK: Stores

    static var automatic: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    @discardableResult
    func open<R>(
        _ model: NSManagedObjectModel, at place: URL? = nil, type: NSPersistentStore.StoreType = .sqlite,
        _ options: [AnyHashable: Any]? = nil, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: type, at: place ?? url, options: options)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    func fill() throws {
        try open(first) { context in
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("Ann", forKey: "name")
            for number in 1...3 {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue("Book \(number)", forKey: "title")
                book.setValue(100 * number, forKey: "pages")
                book.setValue(author, forKey: "author")
            }
            try context.save()
        }
    }

    func names(_ model: NSManagedObjectModel, at place: URL? = nil, key: String = "name") throws -> [String] {
        try open(model, at: place) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            return try context.fetch(request).map { book in
                let author = book.value(forKeyPath: "author.name") as? String
                return "\(book.value(forKey: key) ?? "nil") by \(author ?? "nobody")"
            }
        }
    }

    func metadata(_ place: URL? = nil) throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: place ?? url)
    }
}
