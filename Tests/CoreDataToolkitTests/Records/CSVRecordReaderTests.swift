import Testing

@testable import CoreDataToolkit

@Suite struct CSVRecordReaderTests {
    @Test(arguments: [
        ("a,b", []),
        ("a,b\n1,2\n", ["2#1 a='1' b='2'"]),
        ("a,b\r\n1,2\r\n3,4", ["2#1 a='1' b='2'", "3#2 a='3' b='4'"]),
        ("a,b\n\"x, \"\"y\"\"\n z\",\n\n5, 6 ", ["2#1 a='x, \"y\"\n z' b=''", "5#2 a='5' b=' 6 '"]),
        ("\" a\"\n1", ["2#1 a='1'"]),
    ])
    func rowsAreRecords(text: String, expected: [String]) {
        #expect(records(text, .csv) == expected)
    }

    @Test func anotherDelimiterCanBeChosen() {
        #expect(records("a;b\n1,5;2", .csv, delimiter: ";") == ["2#1 a='1,5' b='2'"])
    }

    @Test func quotesTellEmptyFromNothingWhereThatIsAskedFor() {
        #expect(records("a,b\n,\"\"", .csv, keepsEmpty: true) == ["2#1 a=null b=''"])
        #expect(records("a,b\n,\"\"", .csv) == ["2#1 a='' b=''"])
    }

    @Test(arguments: [
        ("", "file is empty; its first row must name the fields."),
        ("a,a\n", "file:1: the field 'a' is in the first row more than once"),
        ("a,b\n1\n", "skippable file:2: record 1: the row has 1 fields, the first row of the file has 2"),
        ("a\n\"x", "file:2: record 1: a quoted field that starts here has no end"),
        (
            "a\n\"x\"y",
            "file:2: record 1: a quoted field must be followed by the next field or the end of the row"
        ),
    ])
    func whatIsNoCSVIsToldWithItsPlace(text: String, message: String) {
        #expect(records(text, .csv) == [message])
    }
}
