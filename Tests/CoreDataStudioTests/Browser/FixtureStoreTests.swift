import CoreDataStudio
import Foundation
import TestSupport
import Testing

/// Stores that Apple's framework wrote.
@Suite(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)")) struct FixtureStoreTests {
    struct Store: Sendable, CustomTestStringConvertible {
        var path: String
        var model: String?
        var entity: String
        /// The rows of the first page.
        var rows: Int

        var testDescription: String { path }
    }

    static let stores = [
        Store(path: "grocery-dude/DefaultData-5-entities.sqlite", entity: "Item", rows: 50),
        Store(path: "grocery-dude/DefaultData.sqlite", entity: "Item", rows: 50),
        Store(path: "sample-model/SampleModel_V1.sqlite", entity: "Person", rows: 20),
        Store(path: "sample-model-2/SampleModel2_V2.sqlite", entity: "Page", rows: 50),
        Store(path: "recipes/Recipes.sqlite", model: "recipes/Recipes.xcdatamodeld", entity: "Ingredient", rows: 31),
        Store(
            path: "surf-journal/SurfJournalModel.sqlite", model: "surf-journal/SurfJournalModel.xcdatamodeld",
            entity: "JournalEntry", rows: 50),
        Store(path: "swiftdata/CartKitSwiftData_v1.sqlite", entity: "CartModel", rows: 1),
    ]

    @Test(arguments: stores)
    func storeIsShown(store: Store) async throws {
        let copy = try Fixtures.temporaryCopy(store.path)
        let client = try await StudioStore.client(copy, model: store.model.map(Fixtures.url))
        let overview = try await client.get("/store")
        #expect(overview.status == 200)
        let entities = Set(overview.text.matches(of: #/href="\/store\/rows\/([^"]+)"/#).map { String($0.1) })
        #expect(entities.contains(store.entity), "\(entities)")
        for entity in entities {
            let page = try await client.get("/store/rows/\(entity)")
            #expect(page.status == 200, "\(entity): \(page.text)")
            for address in [
                "/store/statistics/\(entity)", "/store/plan/\(entity)", "/store/export/\(entity)?format=json",
            ] {
                #expect(try await client.get(address).status == 200, "\(address)")
            }
            if let object = page.text.firstMatch(of: #/<th scope=row><a href="([^"]+)"/#) {
                #expect(try await client.get(String(object.1)).status == 200, "\(object.1)")
            }
            for column in page.text.matches(of: #/href="(\/store\/facets\/[^"]+)"/#) {
                let address = String(column.1).replacing("&amp;", with: "&")
                let facets = try await client.get(address)
                #expect(facets.status == 200, "\(address): \(facets.text)")
            }
        }
        let page = try await client.get("/store/rows/\(store.entity)")
        #expect(page.text.matches(of: #/<tr data-row=/#).count == store.rows)
        #expect(try await client.get("/store/verify").status == 200)
        await client.studio.close()
    }
}
