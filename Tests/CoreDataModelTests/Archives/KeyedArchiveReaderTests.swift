import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

@Suite struct KeyedArchiveReaderTests {
    private func archive(_ objects: String, root: Int = 1) throws -> KeyedArchiveReader {
        let xml = """
            <plist><dict><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key>\(uid(root))</dict>
            <key>$objects</key><array><string>$null</string>\(objects)</array></dict></plist>
            """
        return try KeyedArchiveReader(Data(xml.utf8))
    }

    private func uid(_ index: Int) -> String { "<dict><key>CF$UID</key><integer>\(index)</integer></dict>" }

    private func classObject(_ names: String...) -> String {
        let list = names.map { "<string>\($0)</string>" }.joined()
        return "<dict><key>$classname</key><string>\(names[0])</string><key>$classes</key><array>\(list)</array></dict>"
    }

    @Test func objectsMayReferToEachOtherInCircles() throws {
        let archive = try archive(
            "<dict><key>$class</key>\(uid(3))<key>other</key>\(uid(2))<key>name</key><string>a</string></dict>"
                + "<dict><key>$class</key>\(uid(3))<key>other</key>\(uid(1))<key>name</key><string>b</string></dict>"
                + classObject("Node", "NSObject"))
        let a = try #require(archive.root.object)
        let b = try #require(a["other"].object)
        #expect(a.className == "Node")
        #expect(a.isKind(of: "NSObject"))
        #expect(b["name"].text == "b")
        #expect(b["other"].object == a)
        #expect(a != b)
        #expect(a["absent"].isNone)
        #expect(a.keys == ["$class", "name", "other"])
    }

    @Test func collectionsAndStringsAreRead() throws {
        let archive = try archive(
            "<dict><key>$class</key>\(uid(4))<key>NS.keys</key><array>\(uid(2))</array>"
                + "<key>NS.objects</key><array>\(uid(3))</array></dict>"
                + "<string>k</string>"
                + "<dict><key>$class</key>\(uid(5))<key>NS.string</key><string>v</string></dict>"
                + classObject("NSMutableDictionary", "NSDictionary", "NSObject")
                + classObject("NSMutableString", "NSString", "NSObject"))
        let entries = try #require(archive.root.object?.entries)
        #expect(entries.map(\.key.text) == ["k"])
        #expect(entries.map(\.value.text) == ["v"])
    }

    // store-format §11
    @Test func knownKeysDictionariesAreRead() throws {
        let archive = try archive(
            "<dict><key>$class</key>\(uid(7))<key>searchMapping</key>\(uid(2))<key>values</key>\(uid(4))"
                + "<key>emptyToken</key><string>nothing</string></dict>"
                + "<dict><key>keys</key>\(uid(3))</dict>"
                + "<dict><key>$class</key>\(uid(6))<key>NS.objects</key><array>\(uid(8))\(uid(9))</array></dict>"
                + "<dict><key>$class</key>\(uid(6))<key>NS.objects</key><array>\(uid(5))\(uid(10))</array></dict>"
                + "<dict><key>$class</key>\(uid(11))</dict>"
                + classObject("NSArray", "NSObject")
                + classObject("NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSDictionary", "NSObject")
                + "<string>Book</string><string>Loan</string><string>nothing</string>"
                + classObject("NSEntityDescription", "NSObject"))
        #expect(archive.root.object?.objectsByName.mapValues(\.className) == ["Book": "NSEntityDescription"])
    }

    @Test func danglingReferencesAreNothing() throws {
        let archive = try archive(
            "<dict><key>a</key>\(uid(99))<key>b</key>\(uid(0))<key>c</key>\(uid(2))</dict>\(uid(1))")
        let root = try #require(archive.root.object)
        #expect(root["a"].isNone && root["b"].isNone && root["c"].isNone)
        #expect(root.className == "")
    }

    @Test func somethingElseIsNoArchive() {
        let list = "<plist><dict><key>a</key><string>b</string></dict></plist>"
        #expect(throws: ModelFailure.self) { try KeyedArchiveReader(Data(list.utf8)) }
    }

    /// Foundation's own archiver writes what we read.
    @Test func foundationsArchivesAreRead() throws {
        let object = NSArray(array: [
            NSString(string: "x"), NSNumber(value: 2.5), NSDate(timeIntervalSinceReferenceDate: 60),
        ])
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
        let elements = try #require(try KeyedArchiveReader(data).root.object?.elements)
        #expect(elements.count == 3)
        #expect(ArchivedDefault.value(elements[0]) == .string("x"))
        #expect(ArchivedDefault.value(elements[2]) == .date(60))
    }

    /// Mantissas of up to eight 16-bit words; Foundation's archiver cannot write decimals on Linux, so by hand.
    @Test(
        arguments: [
            ([], 0, false, "0"), ([1999], -2, false, "19.99"), ([1], -3, true, "-0.001"),
            ([0xFFFF, 0xFFFF], 0, false, "4294967295"),
            ([1], 20, false, "100000000000000000000"),
        ] as [([UInt16], Int, Bool, String)])
    func decimalsAreRead(words: [UInt16], exponent: Int, isNegative: Bool, expected: String) throws {
        for order in [1, 2] {
            let padded = words + Array(repeating: 0, count: 8 - words.count)
            let bytes = padded.flatMap {
                order == 1 ? [UInt8($0 & 255), UInt8($0 >> 8)] : [UInt8($0 >> 8), UInt8($0 & 255)]
            }
            let archive = try archive(
                "<dict><key>$class</key>\(uid(2))<key>NS.mantissa</key><data>\(Data(bytes).base64EncodedString())</data>"
                    + "<key>NS.exponent</key><integer>\(exponent)</integer><key>NS.length</key><integer>\(words.count)</integer>"
                    + "<key>NS.mantissa.bo</key><integer>\(order)</integer>"
                    + "<key>NS.negative</key>\(isNegative ? "<true/>" : "<false/>")</dict>"
                    + classObject("NSDecimalNumber", "NSNumber", "NSValue", "NSObject"))
            let object = try #require(archive.root.object)
            #expect(ArchivedDecimal.decimal(object) == Decimal(string: expected))
        }
    }

    @Test func uuidsAndURLsAreReadAsFoundationArchivesThem() throws {
        let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        let object = try #require(NSUUID(uuidString: uuid.uuidString))
        let archivedUUID = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
        #expect(ArchivedDefault.value(try KeyedArchiveReader(archivedUUID).root) == .uuid(uuid))
        let url = try #require(NSURL(string: "https://example.org/a"))
        let archivedURL = try NSKeyedArchiver.archivedData(withRootObject: url, requiringSecureCoding: false)
        #expect(ArchivedDefault.value(try KeyedArchiveReader(archivedURL).root) == .uri("https://example.org/a"))
    }
}

/// Damaged archives: they give a document or an error, and never bring the process down.
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct DamagedArchiveTests {
    /// xorshift64*, so that every run damages alike.
    struct Random: RandomNumberGenerator {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        mutating func next() -> UInt64 {
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return state &* 0x2545_F491_4F6C_DD1D
        }
    }

    @Test(arguments: [
        "sample-model/SampleModel.momd/SampleModel2.mom", "twitter-seed/RestKitCoreData.momd/RestKitCoreData.mom",
        "core-data-books/CoreDataBooks.xcdatamodeld/CoreDataBooks.xcdatamodel/elements", "sample-model/V2toV3.cdm",
    ])
    func damagedFilesAreReadOrRefused(path: String) throws {
        let original = try Data(contentsOf: Fixtures.url(path))
        var random = Random()
        var refused = 0
        var read = 0
        func attempt(_ data: Data) {
            do {
                let document = try ModelArchive.document(fromArchive: data)
                _ = ModelCompiler.diagnose(document)
                read += 1
            } catch {
                refused += 1
            }
            _ = ElementsReader.document(from: data, file: nil)
        }
        for length in stride(from: 0, to: original.count, by: max(1, original.count / 60)) {
            attempt(original.prefix(length))
        }
        for _ in 0..<200 {
            var data = original
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                data[Int.random(in: 0..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            attempt(data)
        }
        #expect(refused > 60)
        #expect(refused + read >= 260)
    }
}
