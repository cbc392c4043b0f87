import CoreData
import Foundation
import Testing

@testable import CoreDataService

/// Every kind of property goes from a device to the served store, and to a device of another account.
@Suite struct HubValueTests {
    private static func model() -> NSManagedObjectModel { ShopModel.make() }

    private static func values(_ number: Int) -> [String: any Sendable] {
        var values: [String: any Sendable] = [
            "name": "Tea \(number)", "price": NSDecimalNumber(string: "1234.5\(number)"),
            "quantity": Double(number) / 3,
            "weight": Float(number) / 7, "listed": NSNumber(value: number % 2 == 0), "stock": Int16(number - 5),
            "day": Date(timeIntervalSinceReferenceDate: Double(number) * 1_000.25), "big": Int64.max - Int64(number),
            "code": UUID(),
            "data": Data(repeating: UInt8(number), count: 10 + 2_000 * number),
            "photo": Data(repeating: UInt8(number), count: 30_000),
            "place": ["street": "Main Street", "number": NSNumber(value: Int32(number))] as [String: any Sendable],
            "strength": 0.5 * Double(number),
        ]
        values["site"] = URL(string: "https://example.com/\(number)")
        return values
    }

    private static func texts(_ device: HubDevice, _ names: [String]) throws -> [String] {
        let context = device.container.newBackgroundContext()
        return try context.performAndWait {
            let drinks = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Drink"))
            return drinks.flatMap { drink in names.sorted().map { "\($0): \(text(drink.value(forKey: $0)))" } }
        }
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case let values as [String: Any]:
            values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
        case let data as Data: "\(data.count) \(data.first ?? 0)"
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let value?: "\(value)"
        case nil: "nil"
        }
    }

    private static func tags(_ device: HubDevice) throws -> [String] {
        let context = device.container.newBackgroundContext()
        return try context.performAndWait {
            let drink = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Drink")).first
            return ObjectReader.members(drink?.value(forKey: "tags")).compactMap { $0.value(forKey: "name") as? String }
        }
    }

    @Test func everyKindOfPropertyArrives() async throws {
        try await HubHousehold.run(model: Self.model) { home in
            let kitchen = try home.device("Kitchen", of: "ann", model: ShopModel.make())
            let phone = try home.device("Phone", of: "ben", model: ShopModel.make())
            for name in ["hot", "black", "sweet"] { try kitchen.add("Tag", ["name": name]) }
            try kitchen.add("Unit", ["name": "cup"])
            let id = try kitchen.add("Drink", Self.values(1))
            func tag(_ device: HubDevice, _ names: [String]) throws {
                try device.change { context in
                    let drink = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Drink")).first
                    let tags = try names.compactMap { try HubDevice.find("Tag", $0, context) }
                    drink?.setValue(NSOrderedSet(array: tags), forKey: "tags")
                    drink?.setValue(try HubDevice.find("Unit", "cup", context), forKey: "unit")
                }
            }
            try tag(kitchen, ["sweet", "hot", "black"])
            let names = Array(Self.values(1).keys)
            for device in [kitchen, phone] { try await device.exchange() }
            #expect(try Self.texts(phone, names) == Self.texts(kitchen, names))
            #expect(try Self.tags(phone) == ["sweet", "hot", "black"])
            #expect(try phone.value("unit.name", of: "Drink", "Tea 1") == "cup")
            let served = try await home.rest("ann").get("/api/Drink/\(id)").json
            #expect(served["_entity"]?.string == "Drink")
            #expect(served["price"] == .number("1234.51"))

            // Everything changes on the other device, and back.
            var others = Self.values(2)
            others["name"] = "Tea 1"
            try phone.set("Drink", "Tea 1", others)
            try tag(phone, ["black", "sweet"])
            for device in [phone, kitchen] { try await device.exchange() }
            #expect(try Self.texts(phone, names) == Self.texts(kitchen, names))
            #expect(try Self.texts(kitchen, ["stock"]) == ["stock: -3"])
            #expect(try Self.tags(kitchen) == ["black", "sweet"])

            // And becomes nothing, where the model allows it.
            let empty: [String: Any?] = Dictionary(
                uniqueKeysWithValues: names.filter { !["name", "listed"].contains($0) }.map { ($0, nil) })
            try kitchen.set("Drink", "Tea 1", empty)
            for device in [kitchen, phone] { try await device.exchange() }
            #expect(try Self.texts(phone, ["price", "photo", "place"]).allSatisfy { $0.hasSuffix("nil") })
            for device in [kitchen, phone] { #expect(try await device.sync.conflicts().isEmpty) }
        }
    }

    /// A unit cannot be deleted while items have it: the deletion is refused, and the unit comes back.
    @Test func aDeletionThatTheStoreDeniesIsRefused() async throws {
        try await HubHousehold.run(model: Self.model) { home in
            let kitchen = try home.device("Kitchen", of: "ann", model: ShopModel.make())
            let phone = try home.device("Phone", of: "ben", model: ShopModel.make())
            try kitchen.add("Unit", ["name": "cup"])
            for device in [kitchen, phone] { try await device.exchange() }
            try phone.delete("Unit", "cup")
            try kitchen.add("Item", ["name": "Tea"])
            try kitchen.change { context in
                let unit = try HubDevice.find("Unit", "cup", context)
                try HubDevice.find("Item", "Tea", context)?.setValue(unit, forKey: "unit")
            }
            try await kitchen.exchange()
            for _ in 0..<2 { try await phone.exchange() }
            #expect(try phone.names("Unit") == ["cup"])
            #expect(try phone.value("unit.name", of: "Item", "Tea") == "cup")
            let conflicts = try await phone.sync.conflicts()
            #expect(conflicts.map(\.entity) == ["Unit"])
            #expect(conflicts.map(\.reason) == [.refused])
            // Bringing the deletion back deletes again, once the store allows it.
            try kitchen.delete("Item", "Tea")
            for device in [kitchen, phone] { try await device.exchange() }
            if let conflict = conflicts.first { try await phone.sync.restore(conflict) }
            for device in [phone, kitchen] { try await device.exchange() }
            #expect(try kitchen.names("Unit").isEmpty)
        }
    }
}
