import CoreData
import CoreDataAccounts
import Foundation

/// Everything that the service and the app know of an account, as far as the account sees it.
struct DataExport: Encodable {
    struct Household: Encodable {
        let id: UUID
        let name: String
        let role: Role
        let lists: [List]
        let units, homeLocations, shopLocations: [String]
    }

    struct List: Encodable {
        let id: UUID?
        let name: String
        let items: [Item]
    }

    struct Item: Encodable {
        let id: UUID?
        let name: String
        let quantity: Float
        let unit, locationAtHome, locationAtShop: String?
        let listed, collected: Bool
    }

    let account: AccountExport
    let households: [Household]

    @MainActor init(_ account: AccountExport, _ view: AccountView) throws {
        self.account = account
        households = try account.memberships.map { membership in
            let lists = try view.lists(of: membership.groupID).map { list in
                List(id: list.id, name: list.title, items: try Self.items(of: list, view))
            }
            @MainActor func names(_ kind: PlaceKind) throws -> [String] {
                try view.places(kind, of: membership.groupID).map { view.name(of: $0, kind) }
            }
            return Household(
                id: membership.groupID, name: membership.groupName, role: membership.role, lists: lists,
                units: try names(.unit), homeLocations: try names(.home), shopLocations: try names(.shop))
        }
    }

    @MainActor private static func items(of list: GroceryCloud.List, _ view: AccountView) throws -> [Item] {
        let request = NSFetchRequest<GroceryCloud.Item>(entityName: "Item")
        request.predicate = NSPredicate(format: "list == %@", argumentArray: [list])
        request.sortDescriptors = .byName("name")
        request.relationshipKeyPathsForPrefetching = ["unit", "locationAtHome", "locationAtShop"]
        return try view.context.fetch(request).map { item in
            Item(
                id: item.id, name: item.title, quantity: item.quantity, unit: item.unit?.name,
                locationAtHome: item.locationAtHome?.storedIn, locationAtShop: item.locationAtShop?.aisle,
                listed: item.listed, collected: item.collected)
        }
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}
