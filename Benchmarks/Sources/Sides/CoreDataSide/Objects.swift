import CoreData

// Hand-written classes, with the accessors that generated ones have.

final class Item: NSManagedObject {
    var name: String? {
        get { self[ItemKeys.name] }
        set { self[ItemKeys.name] = newValue }
    }
    var quantity: Float {
        get { self[ItemKeys.quantity] }
        set { self[ItemKeys.quantity] = newValue }
    }
    var collected: Bool {
        get { self[ItemKeys.collected] }
        set { self[ItemKeys.collected] = newValue }
    }
    var listed: Bool {
        get { self[ItemKeys.listed] }
        set { self[ItemKeys.listed] = newValue }
    }
    var locationAtHome: LocationAtHome? {
        get { self[ItemKeys.locationAtHome] }
        set { self[ItemKeys.locationAtHome] = newValue }
    }
    var locationAtShop: LocationAtShop? {
        get { self[ItemKeys.locationAtShop] }
        set { self[ItemKeys.locationAtShop] = newValue }
    }
    var unit: Unit? {
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

final class LocationAtHome: NSManagedObject {
    private static let storedInKey = PropertyKey<String?>("storedIn")
    var storedIn: String? {
        get { self[Self.storedInKey] }
        set { self[Self.storedInKey] = newValue }
    }
}

final class LocationAtShop: NSManagedObject {
    private static let aisleKey = PropertyKey<String?>("aisle")
    var aisle: String? {
        get { self[Self.aisleKey] }
        set { self[Self.aisleKey] = newValue }
    }
}

final class Unit: NSManagedObject {
    private static let nameKey = PropertyKey<String?>("name")
    var name: String? {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
}
