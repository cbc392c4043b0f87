import CoreDataSyncEngine
import Foundation

/// Entries of new objects that are kept in one row: their IDs and places ascend together, and their states are equal.
///
/// New objects of one save have IDs that follow one another, as their primary keys do. A row for each of them would
/// cost more than reading them. An entry leaves its block as soon as it is written again.
///
/// ```
/// bytes: number of digests, prefix, then of each entry: distance of its ID, distance of its place, digests
/// ```
struct EntryBlock: Sendable {
    /// A block has this number of entries at most: all of them are written again when one leaves.
    static let limit = 256
    /// Fewer entries get rows of their own.
    static let least = 16

    private(set) var range: Range
    private(set) var count = 0
    private let prefix: [UInt8]
    private let digests: Int
    private var body = ByteWriter()

    /// Where the entries of a block lie.
    struct Range: Hashable, Sendable {
        var first: GlobalID
        var last: GlobalID
        var firstPlace: Int64
        var lastPlace: Int64
    }

    /// - Parameters:
    ///   - prefix: what the contents of all entries begin with; see ``EncodedEntry/prefix(_:_:)``.
    ///   - digests: the number of digests of each entry.
    init(_ id: GlobalID, _ place: Int64, _ prefix: [UInt8], digests: Int) {
        range = Range(first: id, last: id, firstPlace: place, lastPlace: place)
        (self.prefix, self.digests) = (prefix, digests)
    }

    /// Whether an entry can follow the last one.
    func takes(_ id: GlobalID, _ place: Int64, _ prefix: [UInt8], digests: Int) -> Bool {
        count < Self.limit && place > range.lastPlace && id > range.last && digests == self.digests
            && prefix == self.prefix
    }

    /// Appends an entry, which ``takes(_:_:_:digests:)`` allows. The digests are in the order of bytes of files.
    mutating func append(_ id: GlobalID, _ place: Int64, _ digests: UnsafeRawBufferPointer) {
        let high = id.high &- range.last.high
        body.varint(high)
        body.varint(high == 0 ? id.low &- range.last.low : id.low)
        body.varint(UInt64(bitPattern: place &- range.lastPlace))
        body.raw(digests)
        (range.last, range.lastPlace) = (id, place)
        count += 1
    }

    // MARK: Bytes

    var bytes: Data {
        var writer = ByteWriter(reserving: body.bytes.count + prefix.count + 8)
        writer.varint(digests)
        writer.data(prefix)
        writer.raw(body.bytes)
        return writer.asData
    }

    /// One entry of a block that is read.
    struct Entry {
        let id: GlobalID
        let place: Int64
        /// The bytes of its digests.
        let digests: Data
    }

    /// Reads the entries that a closure wants.
    ///
    /// - Returns: what the contents of all begin with, and the entries in the order of their IDs.
    static func read(
        _ bytes: Data, _ range: Range, count: Int, _ isWanted: (GlobalID, Int64) -> Bool
    ) throws(FileFault) -> (prefix: Data, entries: [Entry]) {
        var reader = ByteReader(bytes)
        let digests = try reader.number(below: bytes.count / 4 + 1, "the number of digests")
        let prefix = try reader.data()
        var (id, place) = (range.first, range.firstPlace)
        var entries: [Entry] = []
        for _ in 0..<count {
            let (high, low, distance) = (try reader.varint(), try reader.varint(), try reader.varint())
            id = GlobalID(high: id.high &+ high, low: high == 0 ? id.low &+ low : low)
            place = place &+ Int64(bitPattern: distance)
            if isWanted(id, place) {
                entries.append(Entry(id: id, place: place, digests: try reader.raw(4 * digests)))
            } else {
                try reader.skip(4 * digests)
            }
        }
        try reader.finish()
        return (prefix, entries)
    }

    /// The block of entries of another one; `nil` for none.
    init?(_ entries: [Entry], prefix: Data) {
        guard let first = entries.first else { return nil }
        self.init(first.id, first.place, [UInt8](prefix), digests: first.digests.count / 4)
        for entry in entries { entry.digests.withUnsafeBytes { append(entry.id, entry.place, $0) } }
    }
}
