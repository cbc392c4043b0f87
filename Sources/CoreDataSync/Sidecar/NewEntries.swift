import CoreDataSyncEngine
import Foundation

/// Entries of objects that the sidecar certainly does not have, as bytes.
struct NewEntries: Sendable {
    private var blocks: [EntryBlock] = []
    private(set) var count = 0

    /// Appends an entry.
    ///
    /// - Parameters:
    ///   - prefix: the content up to the digests; see ``EncodedEntry/prefix(_:_:)``.
    ///   - digests: of the values, each little-endian.
    mutating func append(_ id: GlobalID, _ place: Int64, _ prefix: [UInt8], _ digests: [UInt32]) {
        if blocks.isEmpty || !blocks[blocks.count - 1].takes(id, place, prefix, digests: digests.count) {
            blocks.append(EntryBlock(id, place, prefix, digests: digests.count))
        }
        digests.withUnsafeBytes { blocks[blocks.count - 1].append(id, place, $0) }
        count += 1
    }

    /// The entries that are kept together.
    var together: [EntryBlock] { blocks.filter { $0.count >= EntryBlock.least } }

    /// The entries that get rows of their own.
    func alone() throws(FileFault) -> [EncodedEntry] {
        var result: [EncodedEntry] = []
        for block in blocks where block.count < EntryBlock.least { result += try block.encoded() }
        return result
    }
}

extension EntryBlock {
    /// The entries as rows of their own have them.
    fileprivate func encoded() throws(FileFault) -> [EncodedEntry] {
        let (prefix, entries) = try Self.read(bytes, range, count: count) { _, _ in true }
        return entries.map { EncodedEntry(id: $0.id, place: $0.place, content: prefix + $0.digests) }
    }
}
