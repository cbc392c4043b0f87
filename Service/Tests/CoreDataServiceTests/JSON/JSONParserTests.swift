import CoreDataJSON
import Testing

@testable import CoreDataService

@Suite struct JSONParserTests {
    @Test(
        arguments: [
            ("null", JSONValue.null), (" true ", true), ("-0.10e+2", .number("-0.10e+2")), ("\"a\\u00e9\\n\"", "aé\n"),
            ("\"\\ud83d\\ude00\"", "😀"), ("[1, 2]", [1, 2]), ("{\"b\": {}, \"a\": []}", ["b": .object([]), "a": []]),
            ("123456789012345678901234567890.5", .number("123456789012345678901234567890.5")),
        ] as [(String, JSONValue)])
    func parses(_ text: String, _ expected: JSONValue) throws {
        #expect(try JSONParser.parse(Array(text.utf8)) == expected)
        #expect(try JSONParser.parse(JSONWriter.bytes(expected)) == expected)
    }

    @Test(arguments: [
        ("", "the text ends"), ("nul", "expected a value"), ("01", "does not begin with 0"), ("1.", "expected a digit"),
        ("+1", "expected a value"), ("\"a", "does not end"), ("\"\\x\"", "unknown escape"), ("\"\\ud800\"", "unpaired"),
        ("\"\\udc00\\ud800\"", "unpaired"), ("[1,]", "expected a value"), ("{\"a\":1,\"a\":2}", "appears twice"),
        ("{a:1}", "name of a member"), ("1 2", "after the value"), ("\"\t\"", "control character"),
        ("NaN", "expected a value"),
        (String(repeating: "[", count: 100_000), "more than 32 levels"),
        (String(repeating: "9", count: 1000), "more than 100 characters"),
    ])
    func refuses(_ text: String, _ words: String) {
        do {
            _ = try JSONParser.parse(Array(text.utf8))
            Issue.record("accepted")
        } catch { #expect(error.message.contains(words), "\(error)") }
    }

    @Test func refusesBytesThatAreNoText() {
        #expect(throws: JSONParser.Failure.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
        #expect(throws: JSONParser.Failure.self) { try JSONParser.parse([0x22, 0xED, 0xA0, 0x80, 0x22]) }
    }
}
