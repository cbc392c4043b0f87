import Foundation
import TestSupport
import Testing

@testable import CoreData

/// An object of an application, with another one in it.
final class Envelope: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let content: Any?

    init(_ content: Any?) { self.content = content }

    init?(coder: NSCoder) {
        content = coder.decodeObject(of: [NSArray.self, NSString.self, Envelope.self], forKey: "content")
    }

    func encode(with coder: NSCoder) { coder.encode(content, forKey: "content") }
}

@Suite struct SecureArchiveTests {
    private static let allowed: [AnyClass] = [
        NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self,
        NSUUID.self,
        NSSet.self, NSOrderedSet.self, NSNull.self,
    ]

    private static var samples: [NSObject] {
        [
            NSString("é"), NSNumber(value: -7), NSNumber(value: true), NSNumber(value: 0.5),
            NSDate(timeIntervalSinceReferenceDate: 0.25), NSData(data: Data([1, 2, 3])), NSMutableData(data: Data([4])),
            NSArray(array: [1, "x", NSNull()]), NSMutableArray(array: ["y"]),
            NSDictionary(dictionary: ["a": [1, 2], "b": ["c": 3]]),
            NSMutableDictionary(dictionary: [1: "one"]), NSSet(array: [1, "x"]), NSMutableSet(array: []),
            NSOrderedSet(array: ["q", "p"]), NSMutableOrderedSet(array: [2, 1]), NSOrderedSet(), NSNull(),
            NSURL(string: "https://example.org/a?b") ?? NSURL(fileURLWithPath: "/"),
            NSURL(string: "b", relativeTo: URL(string: "https://example.org")) ?? NSURL(fileURLWithPath: "/"),
            NSUUID(uuidString: "6B29FC40-CA47-1067-B31D-00DD010662DA") ?? NSUUID(),
        ]
    }

    /// What Foundation makes of an archive that is whole is what we make of it.
    @Test(arguments: 0..<20)
    func wholeArchivesGiveWhatFoundationMakesOfThem(index: Int) throws {
        let sample = Self.samples[index]
        let data = try #require(SecureArchive.data(of: sample))
        let foundations = try NSKeyedUnarchiver(forReadingFrom: data).decodeObject(
            of: Self.allowed, forKey: NSKeyedArchiveRootObjectKey)
        for object in [SecureArchive.object(from: data), SecureArchive.object(ofClasses: Self.allowed, from: data)] {
            let object = try #require(object as? NSObject)
            #expect(object.isEqual(foundations) && object.isEqual(sample))
            #expect(type(of: object) == type(of: foundations as AnyObject))
        }
    }

    @Test func objectsOfTheApplicationComeBack() throws {
        let data = try #require(SecureArchive.data(of: Envelope(["a", Envelope("b")] as NSArray)))
        let outer = try #require(
            SecureArchive.object(ofClasses: [Envelope.self, NSArray.self], from: data) as? Envelope)
        let list = try #require(outer.content as? NSArray)
        #expect(list.count == 2 && (list[1] as? Envelope)?.content as? String == "b")
        #expect((SecureArchive.object(from: data) as? Envelope)?.content is NSArray)
    }

    @Test func thereAreAsManySamplesAsAreLookedAt() { #expect(Self.samples.count == 20) }

    /// Foundation's unarchiver stops the program at about one of ten. `ARCHIVE_MUTATIONS` says how many are tried.
    @Test func brokenArchivesNeverStopTheProgram() throws {
        let list = NSArray(array: [
            1, "x", NSNull(), NSDate(), NSData(data: Data([1])), NSURL(string: "a") ?? 0, NSUUID(),
        ])
        let all = NSDictionary(dictionary: [
            "list": list, "set": NSSet(array: [1, 2]), "ordered": NSOrderedSet(array: ["q"]), "again": list,
        ])
        let objects = Self.samples + [all, all, all]
        let archives = try objects.map { Array(try #require(SecureArchive.data(of: $0))) }
        let count = ProcessInfo.processInfo.environment["ARCHIVE_MUTATIONS"].flatMap(Int.init) ?? 3000
        var numbers = SeededNumbers(seed: UInt64(count))
        var read = 0
        for index in 0..<count {
            let bytes = Data(Self.broken(archives[index % archives.count], &numbers))
            if SecureArchive.object(from: bytes) != nil { read += 1 }
            _ = SecureArchive.object(ofClasses: Self.allowed, from: bytes)
        }
        #expect(read > count / 20 && read < count, "some changes leave an archive that can be read")
    }

    /// Bytes flipped, replaced, cut off, left out or doubled.
    private static func broken(_ archive: [UInt8], _ numbers: inout SeededNumbers) -> [UInt8] {
        var bytes = archive
        for _ in 0...numbers.below(3) {
            // The end has the table of offsets, where one byte matters most.
            let place =
                numbers.chance(3) ? max(0, bytes.count - 1 - numbers.below(200)) : numbers.below(bytes.count)
            let end = min(bytes.count, place + 1 + numbers.below(8))
            switch numbers.below(12) {
            case 0: bytes.removeSubrange(place..<end)
            case 1: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 2 where place > bytes.count / 2: bytes.removeLast(bytes.count - place)
            case 3...6: bytes[place] = UInt8(numbers.below(256))
            default: bytes[place] ^= 1 << UInt8(numbers.below(8))
            }
        }
        return bytes
    }

    /// A list that contains itself, lists in lists in lists, and many references to one.
    @Test func circlesDepthAndNumbersAreBounded() throws {
        /// An archive of arrays: of each the indices of what it contains; 0 is an object that is there once.
        func archive(_ arrays: [[Int]], kind: String = "NSArray") throws -> Data {
            var text = """
                <?xml version="1.0"?><plist version="1.0"><dict><key>$archiver</key><string>NSKeyedArchiver</string>
                <key>$version</key><integer>100000</integer>
                <key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>2</integer></dict></dict>
                <key>$objects</key><array><string>$null</string>
                <dict><key>$classname</key><string>\(kind)</string><key>$classes</key>
                <array><string>\(kind)</string><string>NSObject</string></array></dict>
                """
            for array in arrays {
                let parts = array.map { "<dict><key>CF$UID</key><integer>\($0)</integer></dict>" }.joined()
                text += """
                    <dict><key>$class</key><dict><key>CF$UID</key><integer>1</integer></dict>
                    <key>NS.objects</key><array>\(parts)</array></dict>
                    """
            }
            return Data((text + "</array></dict></plist>").utf8)
        }
        #expect((SecureArchive.object(from: try archive([[3], []])) as? NSArray)?.count == 1)
        #expect(SecureArchive.object(from: try archive([[2]])) == nil, "contains itself")
        #expect(SecureArchive.object(from: try archive([[3], [2]])) == nil, "in a circle")
        #expect(SecureArchive.object(from: try archive((0..<5000).map { [$0 + 3] } + [[]])) == nil, "too deep")
        // Two to the power of fifty lists, if each were made as often as it is referred to.
        let doubling = (0..<50).map { [$0 + 3, $0 + 3] } + [[]]
        #expect((SecureArchive.object(from: try archive(doubling)) as? NSArray)?.count == 2)
        _ = SecureArchive.object(from: try archive(doubling, kind: "NSSet"))
    }

    /// Apple archives decimals by their digits, `NSDecimalNumber` here cannot even be asked for its hash.
    @Test func decimalsAreReadButNotArchived() {
        #expect(SecureArchive.data(of: NSDecimalNumber(string: "1.5")) == nil)
        #expect(SecureArchive.data(of: [NSDecimalNumber(string: "1.5")]) == nil)
    }
}
