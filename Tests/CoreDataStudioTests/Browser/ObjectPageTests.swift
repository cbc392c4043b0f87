import CoreData
import CoreDataStudio
import Foundation
import TestSupport
import Testing

@Suite struct ObjectPageTests {
    private static let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0])
    private static let hostile = "</title><script>alert('x')</script> \" ' & %@ \u{202E} \0"

    private static func store(_ name: String = "Test.sqlite") throws -> URL {
        try StudioStore.make(StudioStore.shop, named: name) { context in
            let unit = StudioStore.insert("Unit", ["name": hostile], in: context)
            let archive = try NSKeyedArchiver.archivedData(
                withRootObject: ["red": 0.5, "name": hostile] as NSDictionary, requiringSecureCoding: false)
            let item = StudioStore.insert(
                "Item",
                [
                    "name": hostile, "price": NSDecimalNumber(string: "12.5"), "unit": unit, "picture": png,
                    "bought": Date(timeIntervalSinceReferenceDate: 0), "isListed": true, "colour": archive,
                    "code": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID(),
                ], in: context)
            for index in 0..<60 { StudioStore.insert("Item", ["name": "other \(index)", "unit": unit], in: context) }
            StudioStore.insert("Note", ["text": "about it", "about": item], in: context)
            StudioStore.insert("Item", ["picture": Data("{\"a\": [1.10, true]}".utf8)], in: context)
            StudioStore.insert("Item", ["picture": Data("<svg onload=alert(1)>".utf8)], in: context)
        }
    }

    /// The address of the only object of an entity that the condition selects.
    private static func address(
        _ client: StudioClient, _ condition: String, of entity: String = "Item"
    ) async throws
        -> String
    {
        let page = try await client.get(Address("store", "rows", entity).with("where", condition).text)
        let match = try #require(page.text.firstMatch(of: #/<th scope=row><a href="([^"]+)"/#))
        return String(match.1)
    }

    @Test func valuesAreShownByTheirTypes() async throws {
        let client = try await StudioStore.client(try Self.store())
        let page = try await client.get(try await Self.address(client, "price == 12.5"))
        #expect(page.status == 200)
        #expect(page.text.contains("<time datetime=\"2001-01-01T00:00:00Z\">2001-01-01</time>"))
        #expect(page.text.contains("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(page.text.contains("&quot;red&quot;: 0.5"))
        #expect(page.text.contains("inline=1\" alt=\"picture\""))
        #expect(page.text.contains("Note.about") && page.text.contains(">Note/p1</a>"))
    }

    @Test func nothingOfAValueBecomesMarkup() async throws {
        let client = try await StudioStore.client(try Self.store())
        let object = try await Self.address(client, "price == 12.5")
        let pages = [
            object, "/store", "/store/rows/Item", "/store/rows/Unit", "/store/facets/Item?column=name",
            "/store/facets/Item?column=unit", "/store/statistics/Item", "/store/rows/Item?sort=name&size=1",
        ]
        for address in pages {
            let page = try await client.get(address)
            #expect(page.status == 200, "\(address)")
            #expect(!page.text.contains("<script>alert") && !page.text.contains("\u{202E}"), "\(address)")
        }
    }

    @Test func conditionsOfHostileValuesSelectThem() async throws {
        let client = try await StudioStore.client(try Self.store())
        let facets = try await client.get("/store/facets/Unit?column=name")
        let link = try #require(facets.text.firstMatch(of: #/href="(\/store\/rows\/Unit\?where=[^"]+)"/#))
        let rows = try await client.get(String(link.1))
        #expect(rows.status == 200 && rows.text.contains("data-row=\"Unit/p1\""))
    }

    @Test func bytesAreDownloadedOrShownIfTheyAreAPicture() async throws {
        let client = try await StudioStore.client(try Self.store())
        let picture = try await Self.address(client, "price == 12.5").replacing("object", with: "value") + "/picture"
        let inline = try await client.get(picture + "?inline=1")
        #expect(inline.header("Content-Type") == "image/png" && inline.data == Self.png)
        let file = try await client.get(picture)
        #expect(file.header("Content-Type") == "application/octet-stream")
        #expect(file.header("Content-Disposition")?.contains("picture.png") == true)
        let page = try await client.get("/store/rows/Item?last=1&size=2")
        let svg = try #require(page.text.matches(of: #/data-row="Item\/(p\d+)"/#).last)
        let answer = try await client.get("/store/value/Item/\(svg.1)/picture?inline=1")
        #expect(answer.header("Content-Type") == "application/octet-stream")
    }

    @Test func manyMembersAreListedInPart() async throws {
        let client = try await StudioStore.client(try Self.store())
        let page = try await client.get("/store/object/Unit/p1")
        #expect(page.text.matches(of: #/class=chip href/#).count == 50)
        #expect(page.text.contains("List 61 objects"))
        let list = try #require(page.text.firstMatch(of: #/href="([^"]+)">List 61/#))
        let members = try await client.get(String(list.1).replacing("&amp;", with: "&"))
        #expect(members.status == 200 && members.text.contains("61 objects"))
    }

    @Test(arguments: ["Test.xml", "Test.binary"])
    func storesOfOneFileAreShown(name: String) async throws {
        let store = try Self.store(name)
        // Such a store keeps no copy of its model.
        #expect(throws: (any Error).self) { try Studio(store: store) }
        let model = store.deletingLastPathComponent().appendingPathComponent("Shop.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        try StudioModels.shop.write(
            to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        let client = try await StudioStore.client(store, model: model)
        let page = try await client.get("/store/rows/Item?sort=price&size=10")
        #expect(page.status == 200 && page.text.contains("rel=next"), "\(page.text)")
        #expect(try await client.get("/store/plan/Item").text.contains("no SQL"))
        #expect(try await client.get(try await Self.address(client, "price == 12.5")).status == 200)
    }

    /// No page changes the file, and nothing is left beside it.
    @Test func readingChangesNoByte() async throws {
        let store = try Self.store()
        let folder = store.deletingLastPathComponent().path
        let before = try Data(contentsOf: store)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let client = try await StudioStore.client(store)
        for address in [
            "/store", "/store/rows/Item", "/store/object/Unit/p1", "/store/statistics/Item", "/store/verify",
            "/store/export/Item?format=json", "/store/facets/Item?column=name", "/store/plan/Item", "/store/changes",
            "/store/count/Item",
        ] {
            #expect(try await client.get(address).status == 200, "\(address)")
        }
        for action in ["edit", "delete"] { #expect(try await client.get("/store/\(action)/Item/p1").status == 404) }
        await client.studio.close()
        #expect(try Data(contentsOf: store) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == names)
    }

    @Test func changesOfAnotherProcessAreSeen() async throws {
        let store = try Self.store()
        let client = try await StudioStore.client(store)
        let before = try await client.get("/store/changes").text
        #expect(try await client.get("/store/changes").text == before)
        try StudioStore.change(store, StudioStore.shop) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Unit")
            try context.fetch(request).first?.setValue("changed", forKey: "name")
        }
        #expect(try await client.get("/store/changes").text != before)
        #expect(try await client.get("/store/object/Unit/p1").text.contains("<h1>changed</h1>"))
    }
}
