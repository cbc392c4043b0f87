import Testing

@testable import CoreDataToolkit

@Suite struct JSONRecordReaderTests {
    @Test(arguments: [
        ("[]", []),
        (" [ { } ] ", ["1#1 "]),
        ("[{\"a\": 1, \"b\": \"x\"},\n {\"a\": null}]", ["1#1 a=1 b='x'", "2#2 a=null"]),
        ("[{\"a\": [1, \"x\", {\"b\": true}], \"c\": {\"d\": false}}]", ["1#1 a=[1 'x' {b=true}] c={d=false}"]),
        ("[{\"a\": \"\\u00e9\\n\\\"\\/\\\\ \\ud83d\\ude00\"}]", ["1#1 a='é\n\"/\\ 😀'"]),
        (
            "[{\"a\": -12.50e+3, \"b\": 12345678901234567890.123456789}]",
            ["1#1 a=-12.50e+3 b=12345678901234567890.123456789"]
        ),
        ("{\"Unit\": [{\"a\": 1}], \"item\": [{\"a\": 2}]}", ["1#1 a=2"]),
    ])
    func objectsOfAnArrayAreRecords(text: String, expected: [String]) {
        #expect(records(text, .json) == expected)
    }

    @Test(arguments: [
        ("", "file:1: the file ends where an array of objects should be"),
        ("1", "file:1: an array of objects should be here instead of '1'"),
        ("[1]", "file:1: record 1: the elements of the array must be objects"),
        ("[{\"a\": 1}", "file:1: the file ends where ',' or ']' should be"),
        ("[{\"a\" 1}]", "file:1: record 1: ':' after \"a\" should be here instead of '1}]'"),
        ("[{\"a\": 01}]", "file:1: record 1: a number should be here instead of '01}]'"),
        ("[{\"a\": 1.}]", "file:1: record 1: a digit after the point should be here instead of '}]'"),
        ("[{\"a\": tru}]", "file:1: record 1: a value should be here instead of 'tru}]'"),
        ("[{a: 1}]", "file:1: record 1: a text in quotes should be here instead of 'a:'"),
        ("[\n{\"a\": \"x", "file:2: record 1: a text that starts here has no end"),
        ("[{\"a\": \"\\x\"}]", "file:1: record 1: no such escape in JSON: \\x"),
        ("[{\"a\": \"\\ud800\"}]", "file:1: record 1: half a character: \\u55296"),
        (
            "{\"Unit\": []}",
            "file is one JSON object without 'Item'; give an array of objects, or an object with an array for each entity; there are: Unit."
        ),
    ])
    func whatIsNoJSONIsToldWithItsPlace(text: String, message: String) {
        #expect(records(text, .json).last == message)
    }

    @Test func deepNestingIsRefused() {
        let text = "[{\"a\": " + String(repeating: "[", count: 100_000)
        #expect(records(text, .json) == ["file:1: record 1: the JSON is nested more than 256 deep"])
    }

    @Test func everyLineOfNDJSONIsARecord() {
        let text = "{\"a\": 1}\r\n\n{\"a\": 2}  \n{\"a\":\n{\"a\": 4} x\n[]\n{\"a\": 6}"
        #expect(
            records(text, .ndjson) == [
                "1#1 a=1", "3#2 a=2",
                "skippable file:4: record 3: the file ends where a value should be",
                "skippable file:5: record 4: something follows the object on its line",
                "skippable file:6: record 5: the line is no JSON object",
                "7#6 a=6",
            ])
    }
}
