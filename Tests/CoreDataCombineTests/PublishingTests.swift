#if OpenCombine
    import Combine
    import CoreData
    import Foundation
    import Testing

    /// What applications write that import Combine beside Core Data.
    @Suite struct PublishingTests {
        private let context = NSManagedObjectContext(.privateQueue)
        private let item: NSManagedObject

        init() throws {
            let name = NSAttributeDescription()
            (name.name, name.attributeType) = ("name", .stringAttributeType)
            let entity = NSEntityDescription()
            (entity.name, entity.properties) = ("Item", [name])
            let model = NSManagedObjectModel()
            model.entities = [entity]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            context.persistentStoreCoordinator = coordinator
            let context = context
            item = try context.performAndWait {
                let item = NSManagedObject(entity: entity, insertInto: context)
                item.setValue("One", forKey: "name")
                try context.save()
                return item
            }
        }

        /// What was seen, in order.
        private final class Seen {
            var names: [String?] = []
        }

        @Test func anObjectAnnouncesEachChangeBeforeItIsMade() throws {
            try context.performAndWait {
                let seen = Seen()
                let changes = item.objectWillChange.sink { [item] in
                    seen.names.append(item.value(forKey: "name") as? String)
                }
                item.setValue("Two", forKey: "name")
                item.setValue("Three", forKey: "name")
                try context.save()
                #expect(seen.names == ["One", "Two"])
                item.setValue("Four", forKey: "name")
                context.rollback()
                #expect(seen.names == ["One", "Two", "Three", "Four"])
                context.refresh(item, mergeChanges: false)
                #expect(seen.names.count == 5)
                changes.cancel()
                item.setValue("Five", forKey: "name")
                #expect(seen.names.count == 5)
                #expect(item.objectWillChange === item.objectWillChange)
            }
        }

        @Test func anObjectIsAnObservableObjectToGenericCode() {
            func publisher<Object: ObservableObject>(of object: Object) -> Object.ObjectWillChangePublisher {
                object.objectWillChange
            }
            context.performAndWait {
                var count = 0
                let changes = publisher(of: item).sink { _ in count += 1 }
                item.setValue("Two", forKey: "name")
                #expect(count == 1)
                withExtendedLifetime(changes) {}
            }
        }

        @Test func notificationsOfAContextHavePublishers() throws {
            var inserted = 0
            let saves = NotificationCenter.default.publisher(for: .NSManagedObjectContextDidSave, object: context)
                .compactMap { $0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> }
                .map(\.count)
                .sink { inserted += $0 }
            try context.performAndWait {
                _ = NSManagedObject(entity: item.entity, insertInto: context)
                try context.save()
            }
            #expect(inserted == 1)
            withExtendedLifetime(saves) {}
        }

        @Test func queuesAndRunLoopsAreSchedulers() async {
            let received = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
                var subscription: AnyCancellable?
                subscription = Just(1).receive(on: DispatchQueue.main).sink { value in
                    subscription?.cancel()
                    continuation.resume(returning: value)
                }
            }
            #expect(received == 1)
        }
    }
#endif
