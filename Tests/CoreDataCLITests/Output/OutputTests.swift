import Foundation
import Testing

@testable import CoreDataCLI
@testable import CoreDataToolkit

@Suite struct OutputTests {
    @Test func tablesAlignByDisplayWidth() {
        var table = TextTable([.init(title: "name"), .init(title: "n", isRightAligned: true), .init(title: "unit")])
        table.rows = [["Milk", "2", "L"], ["過道", "10", ""], ["a\nb", "1", " Tin"], ["e\u{301}", "1", "🌱"]]
        #expect(
            table.lines() == [
                "name   n  unit",
                "----  --  ----",
                "Milk   2  L",
                "過道  10",
                "a\\nb   1   Tin",
                "e\u{301}      1  🌱",
            ])
    }

    @Test func wideTablesAreCutToTheTerminal() {
        var table = TextTable([.init(title: "name"), .init(title: "n", isRightAligned: true), .init(title: "unit")])
        table.rows = [["Semi-skimmed milk", "2", "litre"], ["過道過道過道過道", "100", "L"]]
        #expect(table.lines(width: 80) == table.lines())
        #expect(
            table.lines(width: 24) == [
                "name            n  unit",
                "------------  ---  -----",
                "Semi-skimme…    2  litre",
                "過道過道過…   100  L",
            ])
    }

    @Test func veryManyColumnsAreCutToo() {
        var table = TextTable((0..<40).map { .init(title: "column \($0)") })
        table.rows = [(0..<40).map { "a long value \($0)" }]
        #expect(table.lines(width: 80).allSatisfy { DisplayWidth.of($0) <= 80 })
        #expect(table.lines()[2].contains("a long value 39"))
    }

    @Test(arguments: [
        (0.0, "                        ]    0 %"), (0.5, "████████████            ]   50 %"), (1, "]  100 %"),
    ])
    func progressIsABar(fraction: Double, part: String) {
        let line = ProgressBar.line("Importing", fraction: fraction, count: 12_400, unit: "records")
        #expect(line.hasPrefix("Importing  ["))
        #expect(line.contains(part))
        #expect(line.hasSuffix("12,400 records"))
    }

    @Test(arguments: [
        ("quantiy", "; did you mean 'quantity'?"), ("Name", "; did you mean 'name'?"),
        ("colour", "; there are: name, quantity."), ("nmae", "; did you mean 'name'?"),
    ])
    func aNearNameIsSuggested(name: String, text: String) {
        #expect(Suggestion.text(for: name, among: ["name", "quantity"]) == text)
    }

    @Test(arguments: [
        (
            RecordFormat.json,
            "[\n  {\"name\": \"A,\\\"B\\\"\", \"n\": 1},\n  {\"name\": null, \"n\": 2}\n]\n"
        ),
        (.ndjson, "{\"name\": \"A,\\\"B\\\"\", \"n\": 1}\n{\"name\": null, \"n\": 2}\n"),
        (.csv, "name,n\n\"A,\"\"B\"\"\",1\n,2\n"),
        (
            .xml,
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <records>
                <Item name="A,&quot;B&quot;" n="1"/>
                <Item n="2"/>
            </records>

            """
        ),
    ])
    func recordsAreWrittenInEveryFormat(format: RecordFormat, expected: String) throws {
        #expect(
            try written(format) { writer in
                try writer.begin("Item", columns: ["name", "n"])
                try writer.write([.text("A,\"B\""), .integer(1)])
                try writer.write([.null, .integer(2)])
            } == expected)
    }

    @Test func severalEntitiesMakeOneJSONObject() throws {
        let text = try written(.json, isOneOfSeveral: true) { writer in
            try writer.begin("Item", columns: ["name"])
            try writer.write([.text("A")])
            try writer.begin("Unit", columns: ["name"])
            try writer.begin("Shop", columns: ["name"])
            try writer.write([.text("B")])
        }
        #expect(
            text == """
                {
                "Item": [
                  {"name": "A"}
                ],
                "Unit": [],
                "Shop": [
                  {"name": "B"}
                ]
                }

                """)
    }

    @Test func xmlRefusesWhatItCannotHold() throws {
        #expect(throws: ToolFailure.self) {
            try written(.xml) { writer in
                try writer.begin("Item", columns: ["name"])
                try writer.write([.text("\u{1}")])
            }
        }
    }

    @Test func aFileAppearsOnlyWhenItIsComplete() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("a.json").path
        let cancelled = try TextOutput(path: path)
        try cancelled.write("x")
        cancelled.cancel()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        for text in ["first", "second"] {
            let output = try TextOutput(path: path)
            try output.write(text)
            try output.finish()
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.json"])
    }

    private func written(
        _ format: RecordFormat, isOneOfSeveral: Bool = false, _ body: (inout any RecordWriter) throws -> Void
    ) throws -> String {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: url) }
        let output = try TextOutput(path: url.path)
        defer { output.cancel() }
        var writer = format.makeWriter(output, isOneOfSeveral: isOneOfSeveral)
        try body(&writer)
        try writer.end()
        try output.finish()
        return try String(contentsOf: url, encoding: .utf8)
    }
}
