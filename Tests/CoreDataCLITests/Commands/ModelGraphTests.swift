import Foundation
import TestSupport
import Testing

/// What `coredata model graph` draws.
@Suite struct ModelGraphTests {
    /// Measured in DejaVu Sans, the widest of the fonts that a browser may take.
    @Test func aLongNameDoesNotRunIntoItsType() throws {
        let scratch = try Scratch()
        let widths: [Character: Double] = ["m": 0.974, "W": 0.989, "l": 0.278, "t": 0.392, "…": 1]
        let types = ["Integer 16": ("Integer 16?", 5.718), "Transformable": ("Transformable?", 7.811)]
        var attributes = ""
        for (type, _) in types {
            for letter in ["m", "W", "l", "t"] {
                for count in [1, 8, 15, 22, 29, 36, 80] {
                    let name = String(repeating: letter, count: count) + (type.hasPrefix("I") ? "" : letter)
                    attributes += "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\"/>"
                }
            }
        }
        let model = try scratch.makeStore(entities: "<entity name=\"Book\">\(attributes)</entity>")
        let svg = try CommandRun.coredata("model", "graph", model).output
        let row = #/class="row" x="(\d+)" y="(\d+)">([^<]*)<\/text>\s*<text class="type" x="(\d+)" y="\d+">([^<]*)</#
        var rows = 0
        for match in svg.matches(of: row) {
            let (_, start, _, name, end, type) = match.output
            let width = name.reduce(0.0) { $0 + (widths[$1] ?? 1) } * 12
            let detail = try #require(types.values.first { $0.0 == type }).1 * 11
            #expect((Double(start) ?? 0) + width + 4 <= (Double(end) ?? 0) - detail, "\(name) \(type)")
            rows += 1
        }
        #expect(rows == 56)
    }
}
