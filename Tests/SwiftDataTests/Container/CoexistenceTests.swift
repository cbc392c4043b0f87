import CoreData
import Foundation
import SwiftData
import TestSupport
import Testing

enum Shared {
    @Model final class Journey {
        @Attribute(.unique) var code: String
        var days = 1
        var start: Date?
        @Relationship(deleteRule: .cascade, inverse: \Leg.journey) var legs: [Leg] = []
        init(code: String) { self.code = code }
    }

    @Model final class Leg {
        var place: String
        var journey: Journey?
        init(place: String) { self.place = place }
    }

    static func container(_ url: URL) throws -> ModelContainer {
        try ModelContainer(for: Journey.self, configurations: ModelConfiguration(url: url))
    }

    /// The model that an app without SwiftData has for the same store.
    static func model(isOlder: Bool = false) -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType, isOptional: Bool = false) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = isOptional
            return attribute
        }
        let (journey, leg) = (NSEntityDescription(), NSEntityDescription())
        (journey.name, leg.name) = ("Journey", "Leg")
        let (legs, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
        (legs.name, legs.destinationEntity, legs.minCount, legs.maxCount) = ("legs", leg, 0, 0)
        (owner.name, owner.destinationEntity, owner.minCount, owner.maxCount) = ("journey", journey, 0, 1)
        legs.deleteRule = .cascadeDeleteRule
        (legs.inverseRelationship, owner.inverseRelationship) = (owner, legs)
        legs.isOptional = isOlder
        owner.isOptional = true
        journey.properties = [attribute("code", .stringAttributeType), legs]
        if !isOlder {
            journey.properties += [
                attribute("days", .integer64AttributeType), attribute("start", .dateAttributeType, isOptional: true),
            ]
            journey.uniquenessConstraints = [["code"]]
        }
        leg.properties = [attribute("place", .stringAttributeType), owner]
        let model = NSManagedObjectModel()
        model.entities = [journey, leg]
        return model
    }

    static func stack(
        _ url: URL, _ model: NSManagedObjectModel, keepsHistory: Bool = true
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Shared", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.shouldMigrateStoreAutomatically = false
        if keepsHistory { description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey) }
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }
}

/// Core Data and SwiftData on one store (L).
@Suite struct CoexistenceTests {
    private func file() throws -> URL { try Fixtures.temporaryFolder().appendingPathComponent("shared.store") }

    private func journeys(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            context.refreshAllObjects()
            return try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Journey")).map {
                "\($0.value(forKey: "code") ?? "") \($0.value(forKey: "days") ?? "") \(($0.value(forKey: "legs") as? Set<NSManagedObject>)?.count ?? 0)"
            }.sorted()
        }
    }

    private func journeys(_ container: ModelContainer) throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Shared.Journey>()).map {
            "\($0.code) \($0.days) \($0.legs.count)"
        }.sorted()
    }

    /// L1, L3: both have the store open; each sees what the other saves, with relationships, changes and deletions.
    @Test func bothSidesSeeWhatTheOtherSaves() throws {
        let url = try file()
        let models = try Shared.container(url)
        let stack = try Shared.stack(url, Shared.model())
        let context = ModelContext(models)
        let journey = Shared.Journey(code: "A")
        journey.legs = [Shared.Leg(place: "Oslo")]
        context.insert(journey)
        try context.save()
        let objects = stack.newBackgroundContext()
        #expect(try journeys(objects) == ["A 1 1"])
        try objects.performAndWait {
            let found = try #require(try objects.fetch(NSFetchRequest<NSManagedObject>(entityName: "Journey")).first)
            found.setValue(5, forKey: "days")
            let added = NSEntityDescription.insertNewObject(forEntityName: "Journey", into: objects)
            added.setValue("B", forKey: "code")
            added.setValue(2, forKey: "days")
            try objects.save()
        }
        #expect(try journeys(models) == ["A 5 1", "B 2 0"])
        let last = ModelContext(models)
        try last.delete(model: Shared.Journey.self, where: #Predicate { $0.code == "A" })
        try last.save()
        #expect(try journeys(objects) == ["B 2 0"])
        #expect(try ModelContext(models).fetchCount(FetchDescriptor<Shared.Leg>()) == 0)
    }

    /// L2: the model of a container names no class, so objects there are plain ones in a stack of its own.
    @Test func theModelInAStoreNamesNoClass() throws {
        let url = try file()
        _ = try Shared.container(url)
        let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        #expect(model.entitiesByName["Journey"]?.managedObjectClassName == "NSManagedObject")
        let stack = try Shared.stack(url, model)
        let object = NSEntityDescription.insertNewObject(forEntityName: "Journey", into: stack.viewContext)
        #expect(type(of: object) == NSManagedObject.self)
    }

    /// L1: without history tracking the store opens read-only.
    @Test func aStackWithoutHistoryOnlyReads() throws {
        let url = try file()
        let container = try Shared.container(url)
        let stack = try Shared.stack(url, Shared.model(), keepsHistory: false)
        #expect(stack.persistentStoreCoordinator.persistentStores.first?.isReadOnly == true)
        withExtendedLifetime(container) {}
    }

    /// Complaint 40: a store of Core Data is opened in place: of the same entities as it is, of older ones by a lightweight migration.
    @Test(arguments: [false, true]) func aStoreOfCoreDataIsOpenedInPlace(isOlder: Bool) throws {
        let url = try file()
        do {
            let stack = try Shared.stack(url, Shared.model(isOlder: isOlder), keepsHistory: !isOlder)
            let context = stack.newBackgroundContext()
            try context.performAndWait {
                let journey = NSEntityDescription.insertNewObject(forEntityName: "Journey", into: context)
                journey.setValue("A", forKey: "code")
                if !isOlder { journey.setValue(3, forKey: "days") }
                let leg = NSEntityDescription.insertNewObject(forEntityName: "Leg", into: context)
                leg.setValue("Oslo", forKey: "place")
                leg.setValue(journey, forKey: "journey")
                try context.save()
            }
            let coordinator = stack.persistentStoreCoordinator
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        let container = try Shared.container(url)
        #expect(try journeys(container) == [isOlder ? "A 1 1" : "A 3 1"])
        let context = ModelContext(container)
        context.insert(Shared.Journey(code: "B"))
        try context.save()
        #expect(try journeys(container).count == 2)
    }
}
