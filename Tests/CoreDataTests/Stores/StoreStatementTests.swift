import CoreData
import Foundation
import TestSupport
import Testing

/// Statements S5, S7 and U4 as programs meet them.
@Suite struct StoreStatementTests {
    private let url: URL

    init() throws { url = try Fixtures.temporaryFolder().appendingPathComponent("Store.sqlite") }

    private static func model(titleIsOptional: Bool = true) -> NSManagedObjectModel {
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        title.isOptional = titleIsOptional
        let cover = NSAttributeDescription()
        cover.name = "cover"
        cover.attributeType = .binaryDataAttributeType
        cover.isOptional = true
        cover.allowsExternalBinaryDataStorage = true
        let book = NSEntityDescription()
        book.name = "Book"
        book.managedObjectClassName = "NSManagedObject"
        book.properties = [title, cover]
        let model = NSManagedObjectModel()
        model.entities = [book]
        return model
    }

    private func context(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("S5: one coordinator takes a file once; stores in memory need no URL and are not one another")
    func storesAreAddedOnce() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: .sqlite, at: url) }
        let other = url.deletingLastPathComponent().appendingPathComponent("./Store.sqlite")
        #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: .sqlite, at: other) }
        #expect(coordinator.persistentStores.count == 1)
        for _ in 0..<2 {
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        #expect(Set(coordinator.persistentStores.compactMap(\.identifier)).count == 3)
    }

    @Test("S7: whether an attribute may be nil is the model's business, not the table's")
    func tablesTakeNil() throws {
        do {
            let context = try context(Self.model())
            try context.performAndWait {
                _ = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                try context.save()
            }
        }
        let required = try context(
            Self.model(titleIsOptional: false), [NSIgnorePersistentStoreVersioningOption: true])
        try required.performAndWait {
            let book = try #require(required.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first)
            #expect(book.value(forKey: "title") == nil)
            book.setValue(Data([1]), forKey: "cover")
            let error = try #require(throws: CocoaError.self) { try required.save() }
            #expect(error.code == .validationMissingMandatoryProperty)
        }
    }

    @Test("U4: values in files and in rows are the same to a program, and can be asked for being there")
    func externalValues() throws {
        let sizes = [0, 1, 100 << 10, 300 << 10]
        let context = try context(Self.model())
        try context.performAndWait {
            for size in sizes {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue("\(size)", forKey: "title")
                book.setValue(Data(repeating: 2, count: size), forKey: "cover")
            }
            let none = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            none.setValue("none", forKey: "title")
            try context.save()
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "cover == nil")
            let without = try context.fetch(request).map { $0.value(forKey: "title") as? String }
            #expect(without == ["none"])
            request.predicate = NSPredicate(format: "cover != nil")
            let found = try context.fetch(request).compactMap { ($0.value(forKey: "cover") as? Data)?.count }
            #expect(found.sorted() == sizes)
        }
        let folder = url.deletingLastPathComponent().appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }
}
