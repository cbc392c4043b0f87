import CoreData
import Foundation
import TestSupport
import Testing

/// Stores that Apple's framework wrote: opened, read, changed, saved and opened again.
@Suite(
    .enabled(if: Fixtures.isAvailable, "no fixtures: set COREDATA_FIXTURES to a folder of files made by Apple's tools"))
struct FixtureStoreTests {
    struct Store: CustomTestStringConvertible, Sendable {
        var path: String
        /// `nil`: the model that the store caches.
        var model: String?
        /// Objects by entity, subentities included.
        var counts: [String: Int]
        var isReadOnly = false
        var testDescription: String { path }
    }

    static let stores = [
        Store(
            path: "grocery-dude/DefaultData-5-entities.sqlite", model: "grocery-dude/Model.xcdatamodeld",
            counts: ["Item": 399, "Location": 35, "Unit": 8]),
        Store(path: "grocery-dude/DefaultData-5-entities.sqlite", model: nil, counts: ["Item": 399]),
        Store(path: "recipes/Recipes.sqlite", model: "recipes/Recipes.xcdatamodeld", counts: [:]),
        Store(
            path: "core-data-books/CoreDataBooks.CDBStore", model: "core-data-books/CoreDataBooks.xcdatamodeld",
            counts: [:]),
        Store(
            path: "twitter-seed/RKSeedDatabase.sqlite", model: "twitter-seed/RKTwitterCoreData.xcdatamodel", counts: [:]
        ),
        Store(
            path: "surf-journal/SurfJournalModel.sqlite", model: "surf-journal/SurfJournalModel.xcdatamodeld",
            counts: [:]),
        Store(
            path: "sample-model/SampleModel_V1.sqlite", model: "sample-model/SampleModel.xcdatamodeld",
            counts: ["Car": 125, "Person": 20]),
        Store(path: "sample-model/SampleModel_V1.sqlite", model: "sample-model/SampleModel.momd", counts: ["Car": 125]),
        Store(path: "sample-model/SampleModel_V1.sqlite", model: nil, counts: ["Car": 125]),
        Store(path: "sample-model/SampleModel_V2.sqlite", model: "sample-model/SampleModel.momd", counts: [:]),
        Store(path: "sample-model-2/SampleModel2_V2.sqlite", model: nil, counts: [:], isReadOnly: true),
        Store(path: "bookmarks/Bookmarks_V1.sqlite", model: "bookmarks/BookmarksModel.xcdatamodeld", counts: [:]),
        Store(path: "bookmarks/Bookmarks_V2.sqlite", model: "bookmarks/BookmarksModel.xcdatamodeld", counts: [:]),
        Store(path: "bookmarks/Bookmarks_V4.sqlite", model: "bookmarks/BookmarksModel.xcdatamodeld", counts: [:]),
        Store(path: "bookmarks/Bookmarks_V4.sqlite", model: nil, counts: [:]),
    ]

    /// The version of the model that the store was made with.
    private func model(for store: Store, at url: URL) throws -> NSManagedObjectModel {
        guard let path = store.model else {
            return try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        }
        let modelURL = Fixtures.url(path)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        for version in try NSManagedObjectModel.versionNames(at: modelURL) {
            let model = try NSManagedObjectModel.load(contentsOf: modelURL, version: version)
            if model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { return model }
        }
        throw CocoaError(.persistentStoreIncompatibleVersionHash)
    }

    private func context(_ url: URL, _ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("Every property of every object reads", arguments: stores)
    func reading(_ store: Store) throws {
        let url = try Fixtures.temporaryCopy(store.path)
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let model = try model(for: store, at: url)
        let context = try context(url, model)
        try context.performAndWait {
            for (entity, count) in store.counts {
                #expect(
                    try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) == count, "\(entity)")
            }
            for entity in model.entities where entity.superentity == nil {
                let name = try #require(entity.name)
                for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)) {
                    for property in object.entity.properties {
                        if let relationship = property as? NSRelationshipDescription {
                            let targets = object.objectIDs(forRelationshipNamed: property.name)
                            for id in targets {
                                let target = try context.existingObject(with: id)
                                let destination = try #require(relationship.destinationEntity)
                                #expect(target.entity.isKindOf(entity: destination))
                                // Both sides agree.
                                if let inverse = relationship.inverseRelationship {
                                    #expect(
                                        target.objectIDs(forRelationshipNamed: inverse.name).contains(object.objectID),
                                        "\(object.objectID).\(property.name)")
                                }
                            }
                        } else if property is NSAttributeDescription {
                            _ = object.value(forKey: property.name)
                        }
                    }
                }
            }
            #expect(!context.hasChanges)
        }
    }

    @Test("What is changed, inserted and deleted is there when the store is opened again", arguments: stores)
    func writing(_ store: Store) throws {
        let url = try Fixtures.temporaryCopy(store.path)
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let model = try model(for: store, at: url)
        var changed: [URL: String] = [:]
        var expected: [String: Int] = [:]
        do {
            let context = try context(url, model)
            try context.performAndWait {
                for entity in model.entities where entity.superentity == nil {
                    let name = try #require(entity.name)
                    let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
                    expected[name] = objects.count
                    guard let object = objects.first,
                        let key = object.entity.attributesByName.first(where: {
                            $0.value.type == .string && !$0.value.isTransient && $0.value.validationPredicates.isEmpty
                                && !($0.value is NSDerivedAttributeDescription)
                        })?.key
                    else { continue }
                    object.setValue("changed here", forKey: key)
                    // A store may hold what its model forbids: a missing value of a required attribute.
                    if (try? object.validateForUpdate()) == nil {
                        context.refresh(object, mergeChanges: false)
                        continue
                    }
                    changed[object.objectID.uriRepresentation()] = key
                }
                guard context.hasChanges else { return }
                if store.isReadOnly {
                    #expect(throws: CocoaError.self) { try context.save() }
                    changed = [:]
                } else {
                    try context.save()
                }
            }
        }
        let context = try context(url, model)
        try context.performAndWait {
            for (name, count) in expected {
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: name)) == count)
            }
            for (uri, key) in changed {
                let id = try #require(
                    context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
                #expect(try context.existingObject(with: id).value(forKey: key) as? String == "changed here")
            }
        }
    }

    @Test("A store of another model fails with 134100 and tells what differs")
    func incompatibleModel() throws {
        let url = try Fixtures.temporaryCopy("sample-model/SampleModel_V1.sqlite")
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let modelURL = Fixtures.url("sample-model/SampleModel.xcdatamodeld")
        let last = try #require(try NSManagedObjectModel.versionNames(at: modelURL).last)
        let model = try NSManagedObjectModel.load(contentsOf: modelURL, version: last)
        let error = #expect(throws: CocoaError.self) { try context(url, model) }
        #expect(error?.code == .persistentStoreIncompatibleVersionHash)
        #expect(error?.localizedDescription.contains("Person") == true, "\(error?.localizedDescription ?? "")")
    }
}
