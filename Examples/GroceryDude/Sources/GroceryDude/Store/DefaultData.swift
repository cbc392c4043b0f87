import CoreData
import Foundation
import FoundationXML

/// The groceries that a new store may begin with.
enum DefaultData {
    /// The store's metadata under this key say that the question has been answered.
    static let key = "DefaultDataImported"

    struct Row: Sendable {
        let name: String
        let unit: String
        let home: String
        let shop: String
    }

    /// What the file has.
    static func rows() throws -> [Row] {
        guard let url = Assets.url("DefaultData.xml") else { throw CocoaError(.fileNoSuchFile) }
        let reader = Reader()
        let parser = XMLParser(data: try Data(contentsOf: url))
        parser.delegate = reader
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
        return reader.rows
    }

    private final class Reader: NSObject, XMLParserDelegate {
        var rows: [Row] = []

        func parser(
            _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            guard elementName == "item", let name = attributes["name"], !name.isEmpty else { return }
            rows.append(
                Row(
                    name: name, unit: attributes["unit"] ?? "", home: attributes["locationathome"] ?? "",
                    shop: attributes["locationatshop"] ?? ""))
        }
    }

    /// Makes the items of the rows that the store does not have, with their units and locations; returns how many.
    static func add(_ rows: [Row], to context: NSManagedObjectContext) throws -> Int {
        var items = Set(
            try context.fetch(NSFetchRequest<Item>(entityName: "Item")).compactMap { $0.name?.lowercased() })
        var units = try known("Unit", "name", in: context)
        var homes = try known("LocationAtHome", "storedIn", in: context)
        var shops = try known("LocationAtShop", "aisle", in: context)
        func find(_ name: String, _ kind: PlaceKind, _ known: inout [String: NSManagedObject]) -> NSManagedObject? {
            let name = name.trimmed
            if name.isEmpty { return nil }
            if let place = known[name] { return place }
            let place = NSEntityDescription.insertNewObject(forEntityName: kind.entityName, into: context)
            place.setValue(name, forKey: kind.key)
            known[name] = place
            return place
        }
        var count = 0
        for row in rows where items.insert(row.name.lowercased()).inserted {
            let item = Item(context: context)
            item.name = row.name
            item.unit = find(row.unit, .unit, &units) as? Unit
            item.locationAtHome = find(row.home, .home, &homes) as? LocationAtHome
            item.locationAtShop = find(row.shop, .shop, &shops) as? LocationAtShop
            count += 1
        }
        try context.save()
        return count
    }

    private static func known(
        _ entity: String, _ key: String, in context: NSManagedObjectContext
    ) throws -> [String: NSManagedObject] {
        var known: [String: NSManagedObject] = [:]
        for place in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
            if let name = place.value(forKey: key) as? String { known[name] = place }
        }
        return known
    }
}

extension Groceries {
    /// Whether somebody has said whether the store shall begin with common groceries.
    var isDefaultDataAnswered: Bool {
        get { store.map { container.persistentStoreCoordinator.metadata(for: $0)[DefaultData.key] != nil } ?? true }
        set {
            guard let store, newValue else { return }
            var metadata = container.persistentStoreCoordinator.metadata(for: store)
            metadata[DefaultData.key] = true
            container.persistentStoreCoordinator.setMetadata(metadata, for: store)
        }
    }

    /// Adds the default data that is not there yet, in the background; returns how many items are new.
    func importDefaultData() async throws -> Int {
        isDefaultDataAnswered = true
        let rows = try DefaultData.rows()
        let context = backgroundContext("default data")
        let count = try await context.perform { try DefaultData.add(rows, to: context) }
        // The view context has merged the save when this turn comes.
        await Task.yield()
        return count
    }
}
