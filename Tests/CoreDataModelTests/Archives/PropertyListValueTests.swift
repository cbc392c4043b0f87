import Foundation
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

    @Test func rubbishIsReported() {
        for text in ["", "bplist00", "bplist00" + String(repeating: "\0", count: 32), "{ a = b; }", "<plist/>"] {
            #expect(throws: ModelFailure.self) { try PropertyListValue(propertyList: Data(text.utf8)) }
        }
    }
}
