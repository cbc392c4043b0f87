import CoreData
import CoreDataStudio
import Foundation
import TestSupport
import Testing

@Suite struct RowsPageTests {
    /// 120 items, of which every tenth has no price; prices repeat.
    private static func shop() throws -> URL {
        try StudioStore.make(StudioStore.shop) { context in
            let units = ["kg", "litre"].map { StudioStore.insert("Unit", ["name": $0], in: context) }
            for index in 0..<120 {
                var values: [String: Any] = [
                    "name": String(format: "item %03d", index), "count": index, "unit": units[index % 2],
                ]
                if index % 10 != 0 { values["price"] = NSDecimalNumber(value: index % 7) }
                StudioStore.insert("Item", values, in: context)
            }
        }
    }

    /// The names of the rows in a page's grid.
    private static func names(_ page: StudioClient.Answer) -> [String] {
        page.text.matches(of: #/<td>(item \d+)/#).map { String($0.1) }
    }

    private static func link(_ rel: String, _ page: StudioClient.Answer) -> String? {
        page.text.matches(of: #/rel=(\w+) href="([^"]+)"/#).first { $0.1 == rel }
            .map { String($0.2).replacing("&amp;", with: "&") }
    }

    @Test func entitiesAreListedWithTheirCounts() async throws {
        let client = try await StudioStore.client(try Self.shop())
        let page = try await client.get("/store")
        #expect(page.status == 200)
        #expect(page.text.contains("href=\"/store/rows/Item\">Item</a>"))
        #expect(page.text.contains(">120<") && page.text.contains("read only"))
    }

    /// Every order of pages shows each row once, forwards and backwards.
    @Test(arguments: ["", "sort=name", "sort=-name", "sort=price", "sort=-price", "sort=count", "sort=-count"])
    func pagesShowEachRowOnce(sort: String) async throws {
        let client = try await StudioStore.client(try Self.shop())
        var address: String? = "/store/rows/Item?size=13&\(sort)"
        var forwards: [String] = []
        var last: StudioClient.Answer?
        while let next = address {
            let page = try await client.get(next)
            #expect(page.status == 200)
            forwards += Self.names(page)
            address = Self.link("next", page)
            last = page
            try #require(forwards.count <= 120)
        }
        #expect(Set(forwards).count == 120 && forwards.count == 120)
        var backwards = Self.names(try #require(last))
        address = Self.link("prev", try #require(last))
        while let next = address {
            let page = try await client.get(next)
            backwards = Self.names(page) + backwards
            address = Self.link("prev", page)
            try #require(backwards.count <= 120)
        }
        #expect(backwards == forwards)
        let end = try await client.get("/store/rows/Item?size=13&\(sort)&last=1")
        #expect(Self.names(end) == Array(forwards.suffix(13)))
    }

    @Test func aPlaceOutlivesItsObject() async throws {
        let store = try Self.shop()
        let client = try await StudioStore.client(store)
        let page = try await client.get("/store/rows/Item?size=10&sort=name")
        let next = try #require(Self.link("next", page))
        try StudioStore.change(store, StudioStore.shop) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "name == 'item 009'")
            for object in try context.fetch(request) { context.delete(object) }
        }
        #expect(Self.names(try await client.get(next)).first == "item 010")
    }

    @Test(arguments: [
        ("name == 'item 007'", 1), ("price == nil", 12), ("unit == 'Unit/p1'", 60), ("count BETWEEN {3, 5}", 3),
        ("unit.name == 'kg' AND count < 10", 5), ("bought > '2024-05-01'", 0), ("NAME CONTAINS 'item 00'", 10),
    ])
    func predicatesSelectRows(predicate: String, count: Int) async throws {
        let client = try await StudioStore.client(try Self.shop())
        let page = try await client.get(
            Address("store", "rows", "Item").with("where", predicate).with("size", "100").text)
        #expect(page.status == 200)
        #expect(Self.names(page).count == count)
    }

    @Test(arguments: [
        ("nme == 'a'", "nme"), ("name ==", "name"), ("bought > 'soon'", "a date"), ("unit == 'kg'", "Unit"),
        ("name == 'a", ""), ("FUNCTION(name, 'x')", ""), ("%@ == 1", ""), ("name == $x", "$x"),
        ("<script>alert(1)</script>", ""),
    ])
    func errorsOfPredicatesStandBesideTheField(predicate: String, word: String) async throws {
        let client = try await StudioStore.client(try Self.shop())
        let page = try await client.get(Address("store", "rows", "Item").with("where", predicate).text)
        #expect(page.status == 422)
        let problem = try #require(page.text.firstMatch(of: #/(?s)<p class=problem id=where-problem>(.+?)<\/p>/#))
        #expect(word.isEmpty || problem.1.contains(word), "\(problem.1)")
        #expect(page.text.contains("aria-invalid=true") && !page.text.contains("<script>alert"))
    }

    @Test(arguments: [
        ("/store/rows/Nothing", 404), ("/store/rows/Item?sort=unit", 400), ("/store/rows/Item?sort=x%27%3B", 400),
        ("/store/rows/Item?after=x", 200), ("/store/rows/Item?after=9223372036854775807&sort=name", 200),
        ("/store/rows/Item?size=99999999999999999999", 200), ("/store/rows/Item?size=-1", 200),
        ("/store/object/Item/p999", 404), ("/store/object/Item/1", 404), ("/store/object/Item/p-1", 404),
        ("/store/value/Item/p1/nothing", 404), ("/store/value/Item/p1/picture", 404),
        ("/store/facets/Item?column=picture", 400), ("/store/export/Item?format=exe", 400),
    ])
    func badAddressesAreAnswered(address: String, status: Int) async throws {
        let client = try await StudioStore.client(try Self.shop())
        #expect(try await client.get(address).status == status)
    }

    @Test func columnsHaveFacets() async throws {
        let client = try await StudioStore.client(try Self.shop())
        let prices = try await client.get("/store/facets/Item?column=price&where=count%20%3C%2070")
        #expect(prices.status == 200)
        let counts = prices.text.matches(of: #/class=number>(\d+)\s*</#).compactMap { Int($0.1) }
        #expect(counts.reduce(0, +) == 70, "\(prices.text)")
        let units = try await client.get("/store/facets/Item?column=unit")
        #expect(units.text.contains(">kg</a>") && units.text.contains("Unit%2Fp1"))
    }

    @Test func theStatementAndItsPlanAreShown() async throws {
        let client = try await StudioStore.client(try Self.shop())
        let page = try await client.get("/store/plan/Item?where=name%20%3D%3D%20%27a%27&sort=name")
        #expect(page.text.contains("FROM ZITEM") && page.text.contains("ZNAME = ?") && page.text.contains("SCAN"))
        let fragment = try await client.get("/store/plan/Item", headers: [("X-Studio", "fragment")])
        #expect(!fragment.text.contains("<html"))
    }

    @Test func statisticsTellShares() async throws {
        let client = try await StudioStore.client(try Self.shop())
        let page = try await client.get("/store/statistics/Item")
        #expect(page.status == 200)
        #expect(page.text.contains(">12</a> <small>10.0 %"))
        #expect(page.text.contains("item 000") && page.text.contains("item 119"))
    }

    @Test func reportsAreShown() async throws {
        let store = try Self.shop()
        let client = try await StudioStore.client(store)
        #expect(try await client.get("/store/verify").text.contains("The store is sound"))
        #expect(try await client.get("/store/history").text.contains("no history"))
        let other = try Self.shop()
        try StudioStore.change(other, StudioStore.shop) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "name == 'item 003'")
            try context.fetch(request).first?.setValue(99, forKey: "count")
        }
        let same = try await client.get(Address("store", "compare").with("with", store.path).text)
        #expect(same.text.contains("The stores have the same objects."))
        let page = try await client.get(Address("store", "compare").with("with", other.path).text)
        #expect(page.text.contains("Different: ") && page.text.contains(": count"))
        let missing = try await client.get(Address("store", "compare").with("with", "/no/where").text)
        #expect(missing.status == 422 && missing.text.contains("There is no store at /no/where"))
    }

    @Test func exportsAreWholeAndExact() async throws {
        let client = try await StudioStore.client(try Self.shop())
        let json = try await client.get("/store/export/Item?format=json&sort=-count&where=count%20%3E%20100")
        let rows = try #require(try JSONSerialization.jsonObject(with: json.data) as? [[String: Any]])
        #expect(rows.count == 19 && rows[0]["name"] as? String == "item 119")
        #expect(json.header("Content-Disposition")?.hasPrefix("attachment; filename=\"Item.json\"") == true)
        let csv = try await client.get("/store/export/Item?format=csv")
        #expect(csv.text.split(separator: "\r\n").count == 121)
        let swift = try await client.get("/store/export/Item?format=swift&where=count%20%3D%3D%203")
        #expect(swift.text.contains("object1.setValue(\"item 003\", forKey: \"name\")"))
    }
}
