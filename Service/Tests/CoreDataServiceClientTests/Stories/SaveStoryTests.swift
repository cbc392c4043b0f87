import CoreData
import CoreDataServiceClient
import Foundation
import Testing

/// Programs fetch, edit and save objects of a service as those of any store.
@Suite struct SaveStoryTests {
    @Test func objectsAreSavedFetchedEditedAndDeleted() async throws {
        try await Shop.run { shop in
            let device = try shop.device()
            let other = try shop.device(as: "ben")
            let id = try await device.run { context throws in
                let unit = context.make("Unit", ["name": "l"])
                let milk = context.item("Milk", ["unit": unit, "price": NSDecimalNumber(string: "1.50"), "stock": 3])
                #expect(milk.objectID.isTemporaryID)
                #expect(milk.value(forKey: "id") == nil)
                try context.save()
                #expect(!milk.objectID.isTemporaryID)
                return try #require(milk.value(forKey: "id") as? UUID)
            }
            try await other.run { context throws in
                let milk = try context.one("Milk")
                #expect(milk.value(forKey: "id") as? UUID == id)
                #expect(milk.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "1.5"))
                #expect(milk.value(forKeyPath: "unit.name") as? String == "l")
                #expect(milk.value(forKey: "folded") as? String == "milk")
                milk.setValue("Whole milk", forKey: "name")
                try context.save()
                // What the service computes is known at once.
                #expect(milk.value(forKey: "folded") as? String == "whole milk")
            }
            #expect(try await device.names() == ["Whole milk"])
            try await device.run { context throws in
                context.delete(try context.one("Whole milk"))
                try context.save()
            }
            #expect(try await other.names().isEmpty)
            #expect(try await other.names("Unit") == ["l"])
        }
    }

    @Test func everyTypeOfValueComesBack() async throws {
        let day = Date(timeIntervalSinceReferenceDate: 725_846_400.123)
        let code = UUID()
        let site = try #require(URL(string: "https://example.com/a?b=c"))
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        try await Shop.run { shop in
            try await shop.device().run { context throws in
                context.make(
                    "Drink",
                    [
                        "name": "Gin \u{1F378}", "strength": 0.1, "quantity": 1e-7, "weight": Float(0.1), "day": day,
                        "price": NSDecimalNumber(string: "12345678.901"), "stock": Int32.min, "code": code,
                        "site": site, "data": Data([0, 255]), "photo": bytes, "listed": true,
                    ])
                try context.save()
            }
            try await shop.device().run { context throws in
                let gin = try context.one("Gin \u{1F378}")
                #expect(gin.entity.name == "Drink")
                #expect(gin.value(forKey: "strength") as? Double == 0.1)
                #expect(gin.value(forKey: "quantity") as? Double == 1e-7)
                #expect(gin.value(forKey: "weight") as? Float == 0.1)
                #expect(gin.value(forKey: "day") as? Date == day)
                #expect(gin.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "12345678.901"))
                #expect(gin.value(forKey: "stock") as? Int32 == Int32.min)
                #expect(gin.value(forKey: "code") as? UUID == code)
                #expect(gin.value(forKey: "site") as? URL == site)
                #expect(gin.value(forKey: "data") as? Data == Data([0, 255]))
                #expect(gin.value(forKey: "photo") as? Data == bytes)
                #expect(gin.value(forKey: "listed") as? Bool == true)
                gin.setValue(nil, forKey: "photo")
                gin.setValue(nil, forKey: "day")
                try context.save()
            }
            try await shop.device().run { context throws in
                let gin = try context.one("Gin \u{1F378}")
                #expect(gin.value(forKey: "photo") == nil)
                #expect(gin.value(forKey: "day") == nil)
                #expect(gin.value(forKey: "code") as? UUID == code)
            }
        }
    }

    @Test func relationshipsAreWrittenFromOneSide() async throws {
        try await Shop.run { shop in
            let device = try shop.device()
            try await device.run { context throws in
                let list = context.make("List", ["name": "Home"])
                let tags = ["a", "b", "c"].map { context.make("Tag", ["name": $0]) }
                for name in ["Milk", "Salt"] {
                    let item = context.item(name, ["list": list])
                    item.setValue(NSOrderedSet(array: tags.reversed()), forKey: "tags")
                }
                try context.save()
            }
            try await shop.device().run { context throws in
                let list = try context.one("Home", "List")
                let items = try #require(list.value(forKey: "items") as? Set<NSManagedObject>)
                #expect(Set(items.compactMap { $0.value(forKey: "name") as? String }) == ["Milk", "Salt"])
                let milk = try context.one("Milk")
                let tags = try #require(milk.value(forKey: "tags") as? NSOrderedSet)
                #expect(
                    tags.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } == ["c", "b", "a"])
                // The unordered side.
                let tag = try context.one("a", "Tag")
                tag.mutableSetValue(forKey: "items").remove(milk)
                milk.setValue(nil, forKey: "list")
                try context.save()
            }
            try await shop.device().run { context throws in
                let tags = try context.one("Milk").value(forKey: "tags") as? NSOrderedSet
                #expect(tags?.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } == ["c", "b"])
                let list = try context.one("Home", "List")
                #expect((list.value(forKey: "items") as? Set<NSManagedObject>)?.count == 1)
                // The items of a list are deleted with it.
                context.delete(list)
                try context.save()
            }
            #expect(try await device.names() == ["Milk"])
        }
    }

    @Test func whatTheServiceRefusesNamesObjectAndProperty() async throws {
        try await Shop.run { shop in
            let device = try shop.device()
            let rival = try shop.device()
            try await rival.run { context throws in
                let unit = context.make("Unit", ["name": "kg"])
                context.item("Flour", ["unit": unit])
                try context.save()
            }
            // A unique value.
            try await device.run { context throws in
                let unit = context.make("Unit", ["name": "kg"])
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect(error.errorCode == NSManagedObjectConstraintMergeError, "\(error)")
                #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "name")
                #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === unit)
                context.rollback()
            }
            // A rule of the account's.
            let stranger = shop.accounts["ben"] ?? UUID()
            try await device.run { context throws in
                context.make("Note", ["text": "Hello", "owner": stranger])
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect((error.userInfo[NSUnderlyingErrorKey] as? ServiceError)?.status == 403, "\(error)")
                #expect(error.userInfo["entity"] as? String == "Note")
                context.rollback()
            }
            // A transformable or an entity without an ID would be lost; a text that is too long is refused by both.
            try await device.run { context throws in
                context.item(String(repeating: "x", count: 41))
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect(error.errorCode == NSValidationStringTooLongError)
                context.rollback()
            }
            #expect(try await device.names("Unit") == ["kg"])
        }
    }

    @Test func mistakesOfTheServiceAreValidationErrors() async throws {
        try await Shop.run { shop in
            let device = try shop.device()
            // The service refuses what this model allows: two characters that only JSON tells of.
            try await device.run { context throws in
                let fine = context.item("Fine")
                let wrong = context.item("Wrong\u{0}")
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect(error.errorCode == NSManagedObjectValidationError, "\(error)")
                #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === wrong)
                #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "name")
                let second = context.item("Also\u{0}")
                let both = try #require(throws: CocoaError.self) { try context.save() }
                #expect(both.errorCode == NSValidationMultipleErrorsError)
                #expect((both.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 2)
                context.delete(wrong)
                context.delete(second)
                try context.save()
                #expect(!fine.objectID.isTemporaryID)
            }
            #expect(try await device.names() == ["Fine"])
        }
    }
    @Test func aContainerLoadsTheStoreByItsDescription() async throws {
        try await Shop.run { shop in
            try await shop.device().add("Milk")
            let container = NSPersistentContainer(name: "Shop", managedObjectModel: try StoreModel.make())
            container.persistentStoreDescriptions = [ServiceStore.description(session: try shop.session())]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            #expect(failure == nil)
            let context = container.newBackgroundContext()
            let uri = try await context.perform { try context.one("Milk").objectID.uriRepresentation() }
            // The URI means the same object after the next start.
            let other = try shop.device()
            let id = try #require(other.coordinator.managedObjectID(forURIRepresentation: uri))
            let name = try await other.run { context in
                try context.existingObject(with: id).value(forKey: "name") as? String
            }
            #expect(name == "Milk")

            let bare = NSPersistentStoreDescription(url: shop.proxy.url)
            bare.type = ServiceStore.storeType
            container.persistentStoreDescriptions = [bare]
            container.loadPersistentStores { failure = $1 }
            #expect(failure?.localizedDescription.contains("ServiceStore.add(to:session:)") == true)
        }
    }
    @Test func largeValuesMayBeLeftToTheProgram() async throws {
        try await Shop.run { shop in
            let photo = Data(repeating: 3, count: 50_000)
            try await shop.device().run { context in
                context.item("Milk", ["photo": photo])
                context.item("Salt")
                try context.save()
            }
            let device = try shop.device { $0.loadsLargeValues = false }
            let ids = try await device.run { context in
                let milk = try context.one("Milk")
                #expect(milk.value(forKey: "photo") == nil)
                milk.setValue(4, forKey: "stock")
                try context.save()
                return [milk.objectID, try context.one("Salt").objectID]
            }
            #expect(try await device.store.loadLargeValue("photo", of: ids[0]) == photo)
            #expect(try await device.store.loadLargeValue("photo", of: ids[1]) == nil)
            await #expect(throws: CocoaError.self) { try await device.store.loadLargeValue("name", of: ids[0]) }
        }
    }
}
