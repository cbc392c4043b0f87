import CoreData
import LivePages

/// The three kinds of names that items are sorted by: units, and locations at home and in the shop.
enum PlaceKind: String, CaseIterable, Sendable {
    case unit = "units"
    case home = "home-locations"
    case shop = "shop-locations"

    /// The entity whose objects have the names.
    var entityName: String {
        switch self {
        case .unit: "Unit"
        case .home: "LocationAtHome"
        case .shop: "LocationAtShop"
        }
    }

    /// The attribute that is the name.
    var key: String {
        switch self {
        case .unit: "name"
        case .home: "storedIn"
        case .shop: "aisle"
        }
    }

    /// The relationship of an item that refers to one.
    var itemKey: String {
        switch self {
        case .unit: "unit"
        case .home: "locationAtHome"
        case .shop: "locationAtShop"
        }
    }

    /// By name, as people sort: "Aisle 2" before "Aisle 10", whatever the case.
    func order(from path: String = "") -> [NSSortDescriptor] { .byName(path + key) }

    var title: String {
        switch self {
        case .unit: "Units"
        case .home: "Home locations"
        case .shop: "Shop locations"
        }
    }

    /// One of them, in a sentence.
    var noun: String {
        switch self {
        case .unit: "unit"
        case .home: "home location"
        case .shop: "shop location"
        }
    }

    /// The field of the editor that picks one.
    var field: ItemField {
        switch self {
        case .unit: .unit
        case .home: .home
        case .shop: .shop
        }
    }
}
