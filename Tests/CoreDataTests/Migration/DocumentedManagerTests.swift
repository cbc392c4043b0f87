import CoreData
import Foundation
import Testing

/// What Apple's documentation of mapping models and migration managers shows: T6, T7, T9.
@Suite struct DocumentedManagerTests {
    private let library: DocumentedLibrary

    init() throws { library = try DocumentedLibrary() }

    // MARK: NSMigrationManager

    private func property(_ name: String, _ expression: String) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = NSExpression(format: expression)
        return mapping
    }

    /// As Xcode's editor makes one.
    private func mapping(policy: String? = nil) -> NSMappingModel {
        let author = NSEntityMapping()
        author.name = "AuthorToAuthor"
        author.mappingType = .transformEntityMappingType
        author.sourceEntityName = "Author"
        author.destinationEntityName = "Author"
        author.attributeMappings = [property("name", "$source.name")]
        author.relationshipMappings = []
        let book = NSEntityMapping()
        book.name = "BookToBook"
        book.mappingType = policy == nil ? .transformEntityMappingType : .customEntityMappingType
        book.sourceEntityName = "Book"
        book.destinationEntityName = "Book"
        book.attributeMappings = [
            property("name", "$source.title"), property("pages", "$source.pages"), property("stars", "5"),
        ]
        book.relationshipMappings = [
            property(
                "author",
                "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'AuthorToAuthor', $source.author)"
            )
        ]
        book.entityMigrationPolicyClassName = policy
        let model = NSMappingModel()
        model.entityMappings = [author, book]
        return model
    }

    private func migrate(
        _ mapping: NSMappingModel, to type: String = NSSQLiteStoreType,
        _ change: (NSMigrationManager) -> Void = { _ in }
    ) throws {
        let manager = NSMigrationManager(sourceModel: library.first, destinationModel: library.second)
        change(manager)
        try manager.migrateStore(
            from: library.url, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
            toDestinationURL: library.other,
            destinationType: type, destinationOptions: nil)
        #expect(manager.migrationProgress == 1)
    }

    @Test("T6: a mapping with the expressions that Xcode writes")
    func mappingModels() throws {
        try library.fill()
        try migrate(mapping())
        #expect(
            try library.names(library.second, at: library.other) == ["Book 1 by Ann", "Book 2 by Ann", "Book 3 by Ann"])
        // The source is as it was.
        #expect(try library.names(library.first, key: "title").count == 3)
    }

    @Test("the destination may be of another type", arguments: [NSPersistentStore.StoreType.xml, .binary])
    func otherTypes(type: NSPersistentStore.StoreType) throws {
        try library.fill()
        try migrate(mapping(), to: type.rawValue)
        let count = try library.open(library.second, at: library.other, type: type) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
        }
        #expect(count == 3)
    }

    @Test("T6: a policy is called in the documented order, with the objects' contexts and userInfo")
    func policies() throws {
        try library.fill()
        let log = NSMutableArray()
        try migrate(mapping(policy: NSStringFromClass(DocumentedPolicy.self))) { $0.userInfo = ["log": log] }
        let calls = log.compactMap { $0 as? String }
        #expect(
            calls == [
                "begin", "create", "create", "create", "end creation", "relate", "relate", "relate",
                "end relating", "validate", "end",
            ])
        #expect(
            try library.names(library.second, at: library.other) == ["BOOK 1 by Ann", "BOOK 2 by Ann", "BOOK 3 by Ann"])
    }

    @Test("134170: what a policy throws is the cause of what the migration throws, and no destination is left")
    func throwingPolicies() throws {
        try library.fill()
        let error = try #require(throws: CocoaError.self) {
            try migrate(mapping(policy: NSStringFromClass(DocumentedPolicy.self))) { $0.userInfo = ["stop": true] }
        }
        #expect(error.errorCode == NSEntityMigrationPolicyError)
        #expect(error.userInfo[NSUnderlyingErrorKey] is DocumentedPolicy.Stop)
        for word in ["DocumentedPolicy", "'Book'", "performCustomValidation"] {
            #expect(error.localizedDescription.contains(word), "\(error.localizedDescription)")
        }
        #expect(!FileManager.default.fileExists(atPath: library.other.path))
        #expect(try library.names(library.first, key: "title").count == 3)
    }

    @Test("a source expression chooses the objects of a mapping")
    func sourceExpressions() throws {
        try library.fill()
        let mapping = mapping()
        mapping.entityMappings[1].sourceExpression = NSExpression(
            format:
                "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Book', 'pages > 150'), $manager.sourceContext, NO)"
        )
        try migrate(mapping)
        #expect(try library.names(library.second, at: library.other) == ["Book 2 by Ann", "Book 3 by Ann"])
    }

    @Test("entities that a mapping removes, or none is of, stay behind")
    func removedEntities() throws {
        try library.fill()
        let mapping = mapping()
        mapping.entityMappings[1].mappingType = .removeEntityMappingType
        try migrate(mapping)
        #expect(try library.names(library.second, at: library.other) == [])
        let count = try library.open(library.second, at: library.other) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Author"))
        }
        #expect(count == 1)
    }

    @Test("T6: several passes into one destination: what is there stays")
    func severalPasses() throws {
        try library.fill()
        for index in [0, 1] {
            let part = NSMappingModel()
            part.entityMappings = [mapping().entityMappings[index]]
            if index == 1 { part.entityMappings[0].relationshipMappings = [] }
            try migrate(part)
        }
        #expect(try library.names(library.second, at: library.other).count == 3)
        let count = try library.open(library.second, at: library.other) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Author"))
        }
        #expect(count == 1)
    }

    @Test("the manager tells of its models, entities and progress")
    func managers() throws {
        let manager = NSMigrationManager(sourceModel: library.first, destinationModel: library.second)
        #expect(manager.sourceModel === library.first && manager.destinationModel === library.second)
        #expect(manager.usesStoreSpecificMigrationManager)
        #expect(manager.migrationProgress == 0)
        let mapping = mapping()
        #expect(manager.sourceEntity(for: mapping.entityMappings[1]) === library.first.entitiesByName["Book"])
        #expect(manager.destinationEntity(for: mapping.entityMappings[1]) === library.second.entitiesByName["Book"])
        manager.reset()
    }

    @Test("progress is told up to 1, once, however the store is made", arguments: ["policy", "rows", "database"])
    func progressIsTold(how: String) throws {
        try library.fill()
        let mapping =
            how == "database"
            ? try NSMappingModel.inferredMappingModel(forSourceModel: library.first, destinationModel: library.second)
            : mapping(policy: how == "policy" ? NSStringFromClass(DocumentedPolicy.self) : nil)
        var told: [Float] = []
        let manager = NSMigrationManager(sourceModel: library.first, destinationModel: library.second)
        manager.progressListener = { told.append($0) }
        try manager.migrateStore(
            from: library.url, type: .sqlite, mapping: mapping, to: library.other, type: .sqlite)
        #expect(told == told.sorted() && told.last == 1 && told.filter { $0 == 1 }.count == 1, "\(told)")
        #expect(manager.migrationProgress == 1)
    }

    @Test("134150: a source that is not there")
    func missingSources() throws {
        let error = try #require(throws: CocoaError.self) { try migrate(mapping()) }
        #expect(error.errorCode == NSMigrationManagerSourceStoreError)
        #expect(
            !FileManager.default.fileExists(atPath: library.other.path)
                && !FileManager.default.fileExists(atPath: library.url.path))
    }
}

/// Notes its calls, and calls books in capitals.
final class DocumentedPolicy: NSEntityMigrationPolicy {
    struct Stop: Error {}

    private func note(_ text: String, _ manager: NSMigrationManager) {
        (manager.userInfo?["log"] as? NSMutableArray)?.add(text)
    }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        note("begin", manager)
        try super.begin(mapping, with: manager)
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("create", manager)
        let book = NSEntityDescription.insertNewObject(
            forEntityName: mapping.destinationEntityName ?? "", into: manager.destinationContext)
        let title = sInstance.value(forKey: "title") as? String
        book.setValue(title?.uppercased(), forKey: "name")
        manager.associate(sourceInstance: sInstance, withDestinationInstance: book, for: mapping)
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("end creation", manager)
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("relate", manager)
        let sources = manager.sourceInstances(
            forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        let author = sources.first?.value(forKey: "author") as? NSManagedObject
        let authors = manager.destinationInstances(
            forEntityMappingName: "AuthorToAuthor", sourceInstances: author.map { [$0] } ?? [])
        dInstance.setValue(authors.first, forKey: "author")
    }

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("end relating", manager)
    }

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("validate", manager)
        if manager.userInfo?["stop"] != nil { throw Stop() }
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { note("end", manager) }
}
