import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

@Suite struct PropertyListValueTests {
    /// What Foundation writes, we read alike from both of its formats.
    @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func foundationsPropertyListsAreRead(format: PropertyListSerialization.PropertyListFormat) throws {
        let list: [String: Any] = [
            "bool": true, "small": 7, "negative": -1, "large": Int64.max, "real": 0.5,
            "date": Date(timeIntervalSinceReferenceDate: 86400), "data": Data([1, 2, 3]), "ascii": "title",
            "unicode": "Größe 🦊", "empty": "", "array": [1, ["x": "y"]] as [Any],
            "long": String(repeating: "a", count: 300), "many": Array(0..<300),
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
        let value = try PropertyListValue(propertyList: data)
        #expect(value["bool"] == .bool(true))
        #expect(value["small"] == .integer(7))
        #expect(value["negative"] == .integer(-1))
        #expect(value["large"] == .integer(.max))
        #expect(value["real"] == .real(0.5))
        #expect(value["date"] == .date(86400))
        #expect(value["data"] == .data(Data([1, 2, 3])))
        #expect(value["ascii"] == .string("title"))
        #expect(value["unicode"] == .string("Größe 🦊"))
        #expect(value["empty"] == .string(""))
        #expect(value["array"] == .array([.integer(1), .dictionary(["x": .string("y")])]))
        #expect(value["long"]?.string?.count == 300)
        #expect(value["many"]?.array?.last == .integer(299))
        #expect(value["absent"] == nil)
    }

    @Test func referencesAreReadFromXML() throws {
        let xml = "<plist><dict><key>root</key><dict><key>CF$UID</key><integer>3</integer></dict></dict></plist>"
        #expect(try PropertyListValue(propertyList: Data(xml.utf8)) == .dictionary(["root": .uid(3)]))
    }

    /// Hand-made lists: header, objects, offset table, trailer.
    private func binary(_ objects: [[UInt8]], top: UInt8 = 0) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        let table = UInt8(bytes.count)
        bytes += offsets
        bytes += [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [UInt8(objects.count), top, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
        return Data(bytes)
    }

    @Test func referencesAreReadFromBinary() throws {
        #expect(try PropertyListValue(propertyList: binary([[0x80, 5]])) == .uid(5))
        #expect(try PropertyListValue(propertyList: binary([[0x81, 1, 0]])) == .uid(256))
        #expect(try PropertyListValue(propertyList: binary([[0x22, 0x3F, 0, 0, 0]])) == .real(0.5))
    }

    @Test(
        arguments: [
            ([[0xA1, 0]], "object 0 contains itself"),
            ([[0xA1, 1], [0xA1, 0]], "object 0 contains itself"),
            ([[0xA1, 9]], "object 9 does not exist"),
            ([[0x5F, 0x10, 0xFF]], "content reaches beyond the end"),
            ([[0xAF, 0x10, 0xFF]], "a collection reaches beyond the end"),
            ([[0x5F, 0x40]], "a length is missing"),
            ([[0x15]], "an integer of 32 bytes"),
            ([[0x21]], "a real number of 2 bytes"),
            ([[0x70]], "an object of unknown kind 112"),
        ] as [([[UInt8]], String)])
    func damageIsReported(objects: [[UInt8]], expected: String) {
        #expect(throws: ModelFailure.self) { try PropertyListValue(propertyList: binary(objects)) }
        do {
            _ = try PropertyListValue(propertyList: binary(objects))
        } catch {
            #expect(error.description == "error: the binary property list is damaged: " + expected)
        }
    }

    /// Forty lists, each with the next one twice: as many values as no memory holds.
    @Test func listsThatStandForTooManyValuesAreRefused() {
        let lists = (1...40).map { [0xA2, UInt8($0), UInt8($0)] }
        #expect(throws: ModelFailure.self) { try PropertyListValue(propertyList: binary(lists + [[0x10, 1]])) }
        #expect(throws: Never.self) {
            try PropertyListValue(propertyList: binary([[0xA2, 1, 1], [0xA2, 2, 2], [0x10, 1]]))
        }
    }

    @Test func deepListsAreRefused() {
        let deep = String(repeating: "<array>", count: 100_000)
        #expect(throws: ModelFailure.self) { try PropertyListValue(propertyList: Data("<plist>\(deep)".utf8)) }
        let lists = (1...100).map { [0xA1, UInt8($0)] }
        #expect(throws: Never.self) { try PropertyListValue(propertyList: binary(lists + [[0x10, 1]])) }
    }

    /// Left out, a value would make another list of it.
    @Test(arguments: [
        ("<plist>\n<dict><key>a</key></dict></plist>", "2:1: the key 'a' has no value"),
        ("<plist><dict><string>a</string></dict></plist>", "1:14: <string> has no key"),
        ("<plist><integer>x</integer></plist>", "1:8: 'x' is no integer"),
        ("<plist><real>1,5</real></plist>", "1:8: '1,5' is no real"),
        ("<plist><date>2013-04-05</date></plist>", "1:8: '2013-04-05' is no date"),
        ("<plist><data>A</data></plist>", "1:8: 'A' is no data"),
        ("<plist><array><x/></array></plist>", "1:15: <x> is not known in property lists"),
        ("<plist><true/><false/></plist>", "1:15: <plist> has more than one value"),
        ("<plist/>", "1:1: the property list is empty"),
        ("<model/>", "1:1: the root element is <model>, not <plist>"),
    ])
    func mistakesInXMLAreToldWithTheirPlace(text: String, expected: String) {
        #expect { try PropertyListValue(propertyList: Data(text.utf8)) } throws: { error in
            guard let problem = (error as? ModelFailure)?.diagnostics.first, let place = problem.location else {
                return false
            }
            return "\(place.line):\(place.column): \(problem.message)" == expected
        }
    }

    @Test(arguments: [
        ("<integer>0xFF</integer>", PropertyListValue.integer(255)), ("<integer>-0x10</integer>", .integer(-16)),
        ("<integer>+5</integer>", .integer(5)), ("<integer>18446744073709551615</integer>", .integer(-1)),
        ("<real>1e3</real>", .real(1000)), ("<real>-infinity</real>", .real(-.infinity)),
        ("<date>2001-01-01T00:00:01Z</date>", .date(1)), ("<data>\n AQ\n ID</data>", .data(Data([1, 2, 3]))),
        ("<string> x &amp; <![CDATA[<y>]]></string>", .string(" x & <y>")),
    ])
    func valuesOfXMLAreRead(text: String, value: PropertyListValue) throws {
        #expect(try PropertyListValue(propertyList: Data("<plist>\(text)</plist>".utf8)) == value)
    }

    @Test func rubbishIsReported() {
        for text in ["", "bplist00", "bplist00" + String(repeating: "\0", count: 32), "{ a = b; }", "<plist/>"] {
            #expect(throws: ModelFailure.self) { try PropertyListValue(propertyList: Data(text.utf8)) }
        }
    }
}
