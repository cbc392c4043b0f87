import CoreDataStoreTools
import Foundation
import Testing

@testable import CoreDataCLI

@Suite struct CellValueTests {
    @Test(
        arguments: [
            (.null, "NULL", nil, "null"),
            (.boolean(true), "true", "true", "true"),
            (.integer(-5), "-5", "-5", "-5"),
            (.real(2), "2", "2", "2"),
            (.real(0.1), "0.1", "0.1", "0.1"),
            (.real(.infinity), "inf", "inf", "\"inf\""),
            (.text("a\"\n\u{1}"), "a\"\n\u{1}", "a\"\n\u{1}", "\"a\\\"\\n\\u0001\""),
            (.data(Data([1, 2, 3])), "<3 bytes>", "AQID", "\"AQID\""),
            (
                .reference("x-coredata://A/Gr%C3%B6%C3%9Fe/p1"), "Größe/p1", "x-coredata://A/Gr%C3%B6%C3%9Fe/p1",
                #""x-coredata://A/Gr%C3%B6%C3%9Fe/p1""#
            ),
            (
                .list([.reference("x-coredata://A/Item/p1")]), "Item/p1", "x-coredata://A/Item/p1",
                #"["x-coredata://A/Item/p1"]"#
            ),
            (.count(3), "3", "3", "3"),
            (.list([.integer(1), .null]), "1, NULL", "1, ", "[1, null]"),
            (.json("[1,2]"), "[1,2]", "[1,2]", "[1,2]"),
            (
                .object([
                    .init(name: "city", value: .text("Oslo")), .init(name: "door", value: .null),
                    .init(name: "geo", value: .object([.init(name: "x", value: .real(1.5))])),
                ]), "city: Oslo, geo: {x: 1.5}", #"{"city": "Oslo", "door": null, "geo": {"x": 1.5}}"#,
                #"{"city": "Oslo", "door": null, "geo": {"x": 1.5}}"#
            ),
            (
                .date(Date(timeIntervalSinceReferenceDate: 0)), "2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z",
                "\"2001-01-01T00:00:00Z\""
            ),
            (
                .date(.distantPast), "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "\"0001-01-01T00:00:00Z\""
            ),
        ] as [(CellValue, String, String?, String)])
    func valuesAreWrittenForPeopleAndPrograms(value: CellValue, table: String, text: String?, json: String) {
        #expect(value.tableText == table)
        #expect(value.text == text)
        #expect(value.json == json)
    }
}
