import Foundation
import SwiftData

/// A property of each type that F1 names, bare and optional.
final class Everything: UnreadModel, PersistentModel {
    var persistentBackingData: any BackingData<Everything>
    init(backingData: any BackingData<Everything>) { persistentBackingData = backingData }

    var int: Int { unread() }
    var intOrNil: Int? { unread() }
    var int64: Int64 { unread() }
    var int64OrNil: Int64? { unread() }
    var int32: Int32 { unread() }
    var int32OrNil: Int32? { unread() }
    var int16: Int16 { unread() }
    var int16OrNil: Int16? { unread() }
    var int8: Int8 { unread() }
    var int8OrNil: Int8? { unread() }
    var uint: UInt { unread() }
    var uintOrNil: UInt? { unread() }
    var uint64: UInt64 { unread() }
    var uint64OrNil: UInt64? { unread() }
    var uint32: UInt32 { unread() }
    var uint32OrNil: UInt32? { unread() }
    var uint16: UInt16 { unread() }
    var uint16OrNil: UInt16? { unread() }
    var uint8: UInt8 { unread() }
    var uint8OrNil: UInt8? { unread() }
    var bool: Bool { unread() }
    var boolOrNil: Bool? { unread() }
    var double: Double { unread() }
    var doubleOrNil: Double? { unread() }
    var float: Float { unread() }
    var floatOrNil: Float? { unread() }
    var string: String { unread() }
    var stringOrNil: String? { unread() }
    var date: Date { unread() }
    var dateOrNil: Date? { unread() }
    var data: Data { unread() }
    var dataOrNil: Data? { unread() }
    var uuid: UUID { unread() }
    var uuidOrNil: UUID? { unread() }
    var url: URL { unread() }
    var urlOrNil: URL? { unread() }
    var decimal: Decimal { unread() }
    var decimalOrNil: Decimal? { unread() }
    var glass: Glass { unread() }
    var glassOrNil: Glass? { unread() }
    var level: Level { unread() }
    var levelOrNil: Level? { unread() }
    var ice: Ice { unread() }
    var iceOrNil: Ice? { unread() }
    var garnish: Garnish { unread() }
    var garnishOrNil: Garnish? { unread() }
    var author: Author { unread() }
    var authorOrNil: Author? { unread() }
    var place: Place { unread() }
    var placeOrNil: Place? { unread() }
    var renamed: Renamed { unread() }
    var renamedOrNil: Renamed? { unread() }
    var tag: Tag { unread() }
    var tagOrNil: Tag? { unread() }
    var flags: Flags { unread() }
    var flagsOrNil: Flags? { unread() }
    var texts: [String] { unread() }
    var textsOrNil: [String]? { unread() }
    var ints: [Int] { unread() }
    var intsOrNil: [Int]? { unread() }
    var doubles: [Double] { unread() }
    var doublesOrNil: [Double]? { unread() }
    var truths: [Bool] { unread() }
    var truthsOrNil: [Bool]? { unread() }
    var dates: [Date] { unread() }
    var datesOrNil: [Date]? { unread() }
    var blobs: [Data] { unread() }
    var blobsOrNil: [Data]? { unread() }
    var uuids: [UUID] { unread() }
    var uuidsOrNil: [UUID]? { unread() }
    var urls: [URL] { unread() }
    var urlsOrNil: [URL]? { unread() }
    var decimals: [Decimal] { unread() }
    var decimalsOrNil: [Decimal]? { unread() }
    var glasses: [Glass] { unread() }
    var glassesOrNil: [Glass]? { unread() }
    var steps: [Step] { unread() }
    var stepsOrNil: [Step]? { unread() }
    var set: Set<String> { unread() }
    var setOrNil: Set<String>? { unread() }
    var counts: [String: Int] { unread() }
    var countsOrNil: [String: Int]? { unread() }
    var byNumber: [Int: String] { unread() }
    var byNumberOrNil: [Int: String]? { unread() }

    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "int", keypath: \Everything.int),
            .init(name: "intOrNil", keypath: \Everything.intOrNil),
            .init(name: "int64", keypath: \Everything.int64),
            .init(name: "int64OrNil", keypath: \Everything.int64OrNil),
            .init(name: "int32", keypath: \Everything.int32),
            .init(name: "int32OrNil", keypath: \Everything.int32OrNil),
            .init(name: "int16", keypath: \Everything.int16),
            .init(name: "int16OrNil", keypath: \Everything.int16OrNil),
            .init(name: "int8", keypath: \Everything.int8),
            .init(name: "int8OrNil", keypath: \Everything.int8OrNil),
            .init(name: "uint", keypath: \Everything.uint),
            .init(name: "uintOrNil", keypath: \Everything.uintOrNil),
            .init(name: "uint64", keypath: \Everything.uint64),
            .init(name: "uint64OrNil", keypath: \Everything.uint64OrNil),
            .init(name: "uint32", keypath: \Everything.uint32),
            .init(name: "uint32OrNil", keypath: \Everything.uint32OrNil),
            .init(name: "uint16", keypath: \Everything.uint16),
            .init(name: "uint16OrNil", keypath: \Everything.uint16OrNil),
            .init(name: "uint8", keypath: \Everything.uint8),
            .init(name: "uint8OrNil", keypath: \Everything.uint8OrNil),
            .init(name: "bool", keypath: \Everything.bool),
            .init(name: "boolOrNil", keypath: \Everything.boolOrNil),
            .init(name: "double", keypath: \Everything.double),
            .init(name: "doubleOrNil", keypath: \Everything.doubleOrNil),
            .init(name: "float", keypath: \Everything.float),
            .init(name: "floatOrNil", keypath: \Everything.floatOrNil),
            .init(name: "string", keypath: \Everything.string),
            .init(name: "stringOrNil", keypath: \Everything.stringOrNil),
            .init(name: "date", keypath: \Everything.date),
            .init(name: "dateOrNil", keypath: \Everything.dateOrNil),
            .init(name: "data", keypath: \Everything.data),
            .init(name: "dataOrNil", keypath: \Everything.dataOrNil),
            .init(name: "uuid", keypath: \Everything.uuid),
            .init(name: "uuidOrNil", keypath: \Everything.uuidOrNil),
            .init(name: "url", keypath: \Everything.url),
            .init(name: "urlOrNil", keypath: \Everything.urlOrNil),
            .init(name: "decimal", keypath: \Everything.decimal),
            .init(name: "decimalOrNil", keypath: \Everything.decimalOrNil),
            .init(name: "glass", keypath: \Everything.glass),
            .init(name: "glassOrNil", keypath: \Everything.glassOrNil),
            .init(name: "level", keypath: \Everything.level),
            .init(name: "levelOrNil", keypath: \Everything.levelOrNil),
            .init(name: "ice", keypath: \Everything.ice),
            .init(name: "iceOrNil", keypath: \Everything.iceOrNil),
            .init(name: "garnish", keypath: \Everything.garnish),
            .init(name: "garnishOrNil", keypath: \Everything.garnishOrNil),
            .init(name: "author", keypath: \Everything.author),
            .init(name: "authorOrNil", keypath: \Everything.authorOrNil),
            .init(name: "place", keypath: \Everything.place),
            .init(name: "placeOrNil", keypath: \Everything.placeOrNil),
            .init(name: "renamed", keypath: \Everything.renamed),
            .init(name: "renamedOrNil", keypath: \Everything.renamedOrNil),
            .init(name: "tag", keypath: \Everything.tag),
            .init(name: "tagOrNil", keypath: \Everything.tagOrNil),
            .init(name: "flags", keypath: \Everything.flags),
            .init(name: "flagsOrNil", keypath: \Everything.flagsOrNil),
            .init(name: "texts", keypath: \Everything.texts),
            .init(name: "textsOrNil", keypath: \Everything.textsOrNil),
            .init(name: "ints", keypath: \Everything.ints),
            .init(name: "intsOrNil", keypath: \Everything.intsOrNil),
            .init(name: "doubles", keypath: \Everything.doubles),
            .init(name: "doublesOrNil", keypath: \Everything.doublesOrNil),
            .init(name: "truths", keypath: \Everything.truths),
            .init(name: "truthsOrNil", keypath: \Everything.truthsOrNil),
            .init(name: "dates", keypath: \Everything.dates),
            .init(name: "datesOrNil", keypath: \Everything.datesOrNil),
            .init(name: "blobs", keypath: \Everything.blobs),
            .init(name: "blobsOrNil", keypath: \Everything.blobsOrNil),
            .init(name: "uuids", keypath: \Everything.uuids),
            .init(name: "uuidsOrNil", keypath: \Everything.uuidsOrNil),
            .init(name: "urls", keypath: \Everything.urls),
            .init(name: "urlsOrNil", keypath: \Everything.urlsOrNil),
            .init(name: "decimals", keypath: \Everything.decimals),
            .init(name: "decimalsOrNil", keypath: \Everything.decimalsOrNil),
            .init(name: "glasses", keypath: \Everything.glasses),
            .init(name: "glassesOrNil", keypath: \Everything.glassesOrNil),
            .init(name: "steps", keypath: \Everything.steps),
            .init(name: "stepsOrNil", keypath: \Everything.stepsOrNil),
            .init(name: "set", keypath: \Everything.set),
            .init(name: "setOrNil", keypath: \Everything.setOrNil),
            .init(name: "counts", keypath: \Everything.counts),
            .init(name: "countsOrNil", keypath: \Everything.countsOrNil),
            .init(name: "byNumber", keypath: \Everything.byNumber),
            .init(name: "byNumberOrNil", keypath: \Everything.byNumberOrNil),
        ]
    }

    /// A value of each property that cannot be nil.
    static let values: [(name: String, value: any (Codable & Equatable & Sendable))] = [
        ("int", -5 as Int),
        ("int64", Int64.min as Int64),
        ("int32", 7 as Int32),
        ("int16", -7 as Int16),
        ("int8", -8 as Int8),
        ("uint", UInt.max as UInt),
        ("uint64", UInt64.max as UInt64),
        ("uint32", UInt32.max as UInt32),
        ("uint16", UInt16.max as UInt16),
        ("uint8", 200 as UInt8),
        ("bool", true as Bool),
        ("double", 0.1 as Double),
        ("float", 0.1 as Float),
        ("string", "Ö" as String),
        ("date", Date(timeIntervalSinceReferenceDate: 0.25) as Date),
        ("data", Data([1, 2]) as Data),
        ("uuid", UUID() as UUID),
        ("url", URL(fileURLWithPath: "/a b") as URL),
        ("decimal", Decimal(1234) / 100 as Decimal),
        ("glass", .coupe as Glass),
        ("level", .high as Level),
        ("ice", .crushed as Ice),
        ("garnish", .salt(rim: true, grams: 0.5) as Garnish),
        ("author", Author(person: "Ann", year: "1999") as Author),
        ("place", Place(street: "High Street", geo: .init(x: 1.5, y: nil), floors: [1, 2], glass: .rocks) as Place),
        ("renamed", Renamed(first: "1", second: "2", isThird: true, isFourth: false) as Renamed),
        ("tag", Tag("sour") as Tag),
        ("flags", [.open, .late] as Flags),
        ("texts", ["b", "a"] as [String]),
        ("ints", [3, 1] as [Int]),
        ("doubles", [0.5] as [Double]),
        ("truths", [true, false] as [Bool]),
        ("dates", [Date(timeIntervalSinceReferenceDate: 5)] as [Date]),
        ("blobs", [Data([7])] as [Data]),
        ("uuids", [UUID()] as [UUID]),
        ("urls", [URL(fileURLWithPath: "/x")] as [URL]),
        ("decimals", [Decimal(15) / 10] as [Decimal]),
        ("glasses", [.rocks, .coupe] as [Glass]),
        ("steps", [Step(step: 1, method: "stir")] as [Step]),
        ("set", ["x", "y"] as Set<String>),
        ("counts", ["a": 1] as [String: Int]),
        ("byNumber", [1: "a"] as [Int: String]),
    ]
}
