import CoreData
import CoreDataToolkit
import Foundation
import LivePages

// The groceries that a new store may begin with.
extension Groceries {
    /// What tells things apart.
    static let unique = [
        "Item": "name", "Unit": "name", "LocationAtHome": "storedIn", "LocationAtShop": "aisle",
    ]

    /// Imports the default data once; the store remembers it.
    func offerDefaultData() async throws -> Int {
        let before = count("Item")
        try await DefaultData.offer(in: stack, ask: { true }, importing: { _ in try await self.readDefaultData() })
        return count("Item") - before
    }

    /// Adds the default data that is not there yet, again too; returns how many items are new.
    func importDefaultData() async throws -> Int {
        let before = count("Item")
        try await readDefaultData()
        try await DefaultData.setChoice(.imported, in: stack)
        return count("Item") - before
    }

    private func readDefaultData() async throws {
        guard let url = OwnFiles.url("DefaultData.xml") else { throw CocoaError(.fileNoSuchFile) }
        var importer = try Importer(stack, unique: Self.unique)
        importer.keepsExisting = true
        try await importer.importRecords(
            from: .file(url), as: "Item",
            map: [
                "locationathome": "locationAtHome.storedIn", "locationatshop": "locationAtShop.aisle",
                "unit": "unit.name",
            ])
    }
}
