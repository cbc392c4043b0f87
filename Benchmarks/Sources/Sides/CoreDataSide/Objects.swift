import CoreData

// Hand-written classes, with the accessors that generated ones have.

package final class Item: NSManagedObject {
    package var name: String? {
        get { self[ItemKeys.name] }
        set { self[ItemKeys.name] = newValue }
    }
    package var quantity: Float {
        get { self[ItemKeys.quantity] }
        set { self[ItemKeys.quantity] = newValue }
    }
    package var collected: Bool {
        get { self[ItemKeys.collected] }
        set { self[ItemKeys.collected] = newValue }
    }
    package var listed: Bool {
        get { self[ItemKeys.listed] }
        set { self[ItemKeys.listed] = newValue }
    }
    package var locationAtHome: LocationAtHome? {
        get { self[ItemKeys.locationAtHome] }
        set { self[ItemKeys.locationAtHome] = newValue }
    }
    package var locationAtShop: LocationAtShop? {
        get { self[ItemKeys.locationAtShop] }
        set { self[ItemKeys.locationAtShop] = newValue }
    }
    package var unit: Unit? {
        get { self[ItemKeys.unit] }
        set { self[ItemKeys.unit] = newValue }
    }
}

private enum ItemKeys {
    static let name = PropertyKey<String?>("name")
    static let quantity = PropertyKey<Float>("quantity")
    static let collected = PropertyKey<Bool>("collected")
    static let listed = PropertyKey<Bool>("listed")
    static let locationAtHome = PropertyKey<LocationAtHome?>("locationAtHome")
    static let locationAtShop = PropertyKey<LocationAtShop?>("locationAtShop")
    static let unit = PropertyKey<Unit?>("unit")
}

package final class LocationAtHome: NSManagedObject {
    private static let storedInKey = PropertyKey<String?>("storedIn")
    package var storedIn: String? {
        get { self[Self.storedInKey] }
        set { self[Self.storedInKey] = newValue }
    }
}

package final class LocationAtShop: NSManagedObject {
    private static let aisleKey = PropertyKey<String?>("aisle")
    package var aisle: String? {
        get { self[Self.aisleKey] }
        set { self[Self.aisleKey] = newValue }
    }
}

package final class Unit: NSManagedObject {
    private static let nameKey = PropertyKey<String?>("name")
    package var name: String? {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
}
