import Foundation
import TestSupport
import Testing

@Suite struct QueryTests {
    private let scratch: Scratch
    private let store: String

    init() throws {
        scratch = try Scratch()
        store = try scratch.makeStore()
        let file = try scratch.write(
            """
            [{"name": "Milk", "quantity": 2, "listed": true, "unit": "L", "locationAtShop.aisle": "Dairy"},
             {"name": "Bread", "thumbnail": "AQID", "locationAtShop.aisle": "Bakery"},
             {"name": "Crème fraîche", "quantity": 0.5, "locationAtShop.aisle": "Dairy"},
             {"name": "漢字", "unit": "L"}]
            """, to: "items.json")
        let run = try CommandRun.coredata(
            "import", store, "--entity", "Item", file, "--unique", "Unit.name,LocationAtShop.aisle")
        try #require(run.status == 0, "\(run.error)")
    }

    private func query(_ arguments: String...) throws -> CommandRun {
        try CommandRun.run(CommandRun.executable(), ["query", store] + arguments)
    }

    @Test func tablesShowNothingAsNULLAndBytesAsTheirNumber() throws {
        #expect(
            try query("Item", "--select", "name,quantity,unit.name,thumbnail", "--sort", "name").output == """
                name           quantity  unit.name  thumbnail
                -------------  --------  ---------  ---------
                Bread                 1  NULL       <3 bytes>
                Crème fraîche       0.5  NULL       NULL
                Milk                  2  L          NULL
                漢字                  1  L          NULL

                4 objects

                """)
    }

    @Test func toManyIsANumberInTablesAndAListInJSON() throws {
        #expect(try query("Unit").lines.dropFirst(2).first == "L         2")
        #expect(
            try query("Unit", "--select", "name,items.name", "--format", "ndjson").output
                == "{\"name\": \"L\", \"items.name\": [\"Milk\", \"漢字\"]}\n")
        #expect(try query("Unit", "--select", "items", "--format", "csv").output == "items\n2\n")
    }

    @Test func groupsHaveHeadings() throws {
        #expect(
            try query("Item", "--select", "name", "--group", "locationAtShop.aisle", "--sort", "-name").output == """
                name
                -------------

                NULL (1)
                漢字

                Bakery (1)
                Bread

                Dairy (2)
                Milk
                Crème fraîche

                4 objects

                """)
    }

    @Test func limitOffsetAndCountGoTogether() throws {
        let names = try query(
            "Item", "--select", "name", "--sort", "name", "--limit", "2", "--offset", "1", "--format", "csv")
        #expect(names.output == "name\nCrème fraîche\nMilk\n")
        #expect(try query("Item", "--count").output == "4\n")
        #expect(try query("Item", "--where", "name BEGINSWITH[cd] 'creme'", "--count").output == "1\n")
        #expect(try query("Item", "--where", "quantity > 10").output == "0 objects\n")
    }

    @Test func explainingShowsTheStatementAndItsPlan() throws {
        let run = try query("Item", "--where", "name == 'Milk' AND quantity > 1", "--explain")
        try #require(run.lines.count == 3, "\(run.output)\(run.error)")
        #expect(run.lines[0].hasPrefix("SELECT t0.Z_PK"))
        #expect(run.lines[0].contains("FROM ZITEM t0 WHERE t0.ZNAME = ?"))
        #expect(run.lines[1] == "  with 'Milk', 1.0")
        #expect(run.lines[2].contains("USING INDEX"))
    }

    @Test func jsonIsAnArrayOfObjects() throws {
        let run = try query(
            "Item", "--select", "name,listed,quantity", "--sort", "name", "--limit", "1", "--format", "json")
        #expect(run.output == "[\n  {\"name\": \"Bread\", \"listed\": false, \"quantity\": 1}\n]\n")
        #expect(try query("Item", "--where", "FALSEPREDICATE", "--format", "json").output == "[]\n")
    }

    @Test func aFileThatIsForReadingOnlyCanBeQueried() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: store)
        #expect(try query("Item", "--count").output == "4\n")
    }
}
