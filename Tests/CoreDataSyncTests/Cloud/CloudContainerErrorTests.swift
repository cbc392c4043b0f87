import CoreData
import CoreDataSync
import CoreDataSyncSimulation
import Foundation
import TestSupport
import Testing

extension CloudTests {
    /// What a cloud container says of what fails.
    @Suite @MainActor struct CloudContainerErrorTests {
        private let cloud: TestCloud

        init() throws { cloud = try TestCloud() }

        private func device(_ name: String) throws -> PersistenceController {
            try PersistenceController(cloud.folder(name + ".sqlite")) { description in
                description.cloudKitContainerOptions = NSPersistentCloudKitContainerOptions(
                    containerIdentifier: "iCloud.test")
            }
        }

        private var place: FaultyPlace { cloud.place("iCloud.test/anna/private") }

        @Test func aModelThatCannotSynchroniseIsAnErrorOfLoadingAndOfTheSetup() throws {
            let model = ModelMaking.model(
                ModelMaking.entity("Item", ModelMaking.attribute("name", info: ["sync.merge": "sum"])))
            let container = NSPersistentCloudKitContainer(name: "Shopping", managedObjectModel: model)
            let events = EventRecorder(container)
            container.persistentStoreDescriptions[0].url = cloud.folder("kitchen.sqlite")
            let error = #expect(throws: CocoaError.self) { try PersistenceController.load(container) }
            #expect(error?.code.rawValue == 134060)
            #expect(error?.localizedDescription.contains("sync.merge of property \"name\"") == true)
            #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
            #expect(try cloud.folder.names().isEmpty)
            #expect(events.all.count == 2)
            let event = try #require(events.ended(.setup).first)
            #expect(!event.succeeded && (event.error as? CocoaError)?.code.rawValue == 134060)
        }

        @Test func aPlaceThatCannotBeReachedFailsTheSetupAndIsTriedAgain() async throws {
            place.hook = { _ in throw SyncPlaceError(.unavailable, "The network drive is not mounted.") }
            let kitchen = try device("kitchen")
            try kitchen.add("Milk")
            try await kitchen.events.wait(for: .setup, succeeded: false, count: 2)
            let event = try #require(kitchen.events.ended(.setup).first)
            #expect((event.error as? SyncPlaceError)?.reason == .unavailable)
            #expect(event.endDate != nil && !event.succeeded)
            #expect(throws: SyncPlaceError.self) { try kitchen.container.initializeCloudKitSchema() }
            try kitchen.container.initializeCloudKitSchema(options: [.dryRun, .printSchema])
            place.hook = nil
            let phone = try device("phone")
            try await phone.wait(for: ["Milk"])
            try kitchen.container.initializeCloudKitSchema()
        }

        @Test func aFullPlaceFailsExportsOnly() async throws {
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            try phone.add("Bread")
            try await kitchen.wait(for: ["Bread"])
            place.isFull = true
            try kitchen.add("Milk")
            try await kitchen.events.wait(for: .export, succeeded: false)
            let error = try #require(kitchen.events.ended(.export, succeeded: false).first?.error as? SyncPlaceError)
            #expect(error.reason == .full)
            #expect(kitchen.events.ended(.import, succeeded: false).isEmpty)
            place.isFull = false
            try await phone.wait(for: ["Bread", "Milk"])
        }

        @Test func objectsOfAPlaceThatCannotBeWrittenToCannotBeModified() async throws {
            let kitchen = try device("kitchen")
            let container = kitchen.container
            let milk = try kitchen.add("Milk")
            try await kitchen.events.wait(for: .export)
            let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
            func answers() -> [Bool] {
                [
                    container.canModifyManagedObjects(in: store),
                    container.canUpdateRecord(forManagedObjectWith: milk.objectID),
                    container.canDeleteRecord(forManagedObjectWith: milk.objectID),
                ]
            }
            #expect(answers() == [true, true, true])
            place.isReadOnly = true
            milk.setValue("2 litres", forKey: "note")
            try container.viewContext.save()
            try await Polling.suspend(until: "a refused export") { answers() == [false, false, false] }
            let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: container.viewContext)
            #expect(container.canUpdateRecord(forManagedObjectWith: new.objectID))
            place.isReadOnly = false
            try await Polling.suspend(until: "an export") { answers() == [true, true, true] }
        }

        @Test func withoutAPlaceTheSchemaCannotBeInitialised() throws {
            let kitchen = try device("kitchen")
            CloudPlaces.unregister()
            let error = #expect(throws: CocoaError.self) { try kitchen.container.initializeCloudKitSchema() }
            #expect(error?.code.rawValue == 134400)
        }

        // MARK: Requests

        private typealias Request = NSPersistentCloudKitContainerEventRequest
        private typealias Event = NSPersistentCloudKitContainer.Event

        private func result(
            of request: Request, _ context: NSManagedObjectContext
        ) throws -> NSPersistentCloudKitContainerEventResult {
            try #require(try context.execute(request) as? NSPersistentCloudKitContainerEventResult)
        }

        private func events(_ request: Request, _ context: NSManagedObjectContext) throws -> [Event] {
            let result = try result(of: request, context)
            #expect(result.resultType == .events)
            return try #require(result.result as? [Event])
        }

        @Test func requestsFindEvents() async throws {
            let start = Date()
            let kitchen = try device("kitchen")
            try kitchen.add("Milk")
            try await kitchen.events.wait(for: .export)
            place.isFull = true
            try kitchen.add("Bread")
            try await kitchen.events.wait(for: .export, succeeded: false)
            place.isFull = false
            let context = kitchen.container.viewContext
            func events(_ request: Request) throws -> [Event] { try self.events(request, context) }
            let all = try events(Request.fetchEvents(after: start))
            #expect(all.first?.type == .setup && all.count >= 4)
            #expect(Set(all.map(\.identifier)).count == all.count)
            #expect(try events(Request.fetchEvents(after: Date().addingTimeInterval(100))).isEmpty)
            let none: Event? = nil
            #expect(try events(Request.fetchEvents(after: none)).first?.identifier == all[0].identifier)
            #expect(try events(Request.fetchEvents(after: all[0])).first?.identifier == all[1].identifier)

            let fetch = Request.fetchForEvents()
            fetch.predicate = NSPredicate(
                format: "succeeded == NO AND endDate != nil AND type == %d AND startDate > %@",
                NSPersistentCloudKitContainer.EventType.export.rawValue, start as NSDate)
            fetch.sortDescriptors = [NSSortDescriptor(key: "startDate", ascending: false)]
            fetch.fetchLimit = 1
            let failed = try events(Request.fetchEvents(matchingFetch: fetch))
            #expect(failed.count == 1)
            #expect((failed.first?.error as? SyncPlaceError)?.reason == .full)
            let setups = Request.fetchForEvents()
            setups.predicate = NSPredicate(format: "type == 0")
            let count = Request.fetchEvents(matchingFetch: setups)
            count.resultType = .countEvents
            let counted = try result(of: count, context)
            #expect(counted.result as? Int == 1 && counted.resultType == .countEvents)

            let store = try #require(kitchen.container.persistentStoreCoordinator.persistentStores.first)
            let ofStore = Request.fetchEvents(after: none)
            ofStore.affectedStores = [store]
            #expect(try events(ofStore).count >= all.count)
        }

        @Test func requestsThatMakeNoSenseAreErrors() async throws {
            let kitchen = try device("kitchen")
            try await kitchen.events.wait(for: .setup)
            let context = kitchen.container.viewContext
            func code(_ fetch: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext) -> Int? {
                let request = Request.fetchEvents(matchingFetch: fetch)
                return (#expect(throws: CocoaError.self) { try context.execute(request) })?.code.rawValue
            }
            #expect(code(NSFetchRequest(entityName: "Item"), context) == 134060)
            let unknown = Request.fetchForEvents()
            unknown.predicate = NSPredicate(format: "colour == 'red'")
            #expect(code(unknown, context) == 134060)
            let plain = NSPersistentContainer(name: "A", managedObjectModel: PersistenceController.model())
            #expect(code(Request.fetchForEvents(), plain.viewContext) == 134091)
        }
    }
}
