import Foundation

@testable import CoreDataZip

/// An archive byte by byte, so that it can lie.
struct RawZip {
    struct Entry {
        var name: String
        var bytes: [UInt8] = Array("hello".utf8)
        var method: UInt16 = 0
        var crc: UInt32?
        var size: Int?
        /// What the header before the bytes says.
        var localName: String?
        var kind: UInt32 = 0o100600
        var flags: UInt16 = 1 << 11
    }

    var entries: [Entry]
    /// Where the list says the entries are, in place of where they are.
    var offsets: [Int: Int] = [:]
    var countAtEnd: Int?
    var tail: [UInt8] = []

    init(_ entries: Entry...) { self.entries = entries }

    var data: Data {
        var all = ZipBytes()
        var list = ZipBytes()
        for (index, entry) in entries.enumerated() {
            var crc = CRC32()
            crc.add(entry.bytes[...])
            let offset = offsets[index] ?? all.bytes.count
            let numbers = (
                entry.crc ?? crc.value, UInt32(entry.bytes.count), UInt32(entry.size ?? entry.bytes.count)
            )
            all.add(ZipFormat.localSignature)
            all.add(UInt16(20))
            for word in [entry.flags, entry.method, 0, 0] { all.add(word) }
            for number in [numbers.0, numbers.1, numbers.2] { all.add(number) }
            let local = entry.localName ?? entry.name
            all.add(UInt16(local.utf8.count))
            all.add(UInt16(0))
            all.add(local)
            all.add(entry.bytes)
            list.add(ZipFormat.centralSignature)
            for word in [3 << 8 | 20, 20, entry.flags, entry.method, 0, 0] as [UInt16] { list.add(word) }
            for number in [numbers.0, numbers.1, numbers.2] { list.add(number) }
            for word in [UInt16(entry.name.utf8.count), 0, 0, 0, 0] { list.add(word) }
            list.add(entry.kind << 16)
            list.add(UInt32(offset))
            list.add(entry.name)
        }
        var end = ZipBytes()
        end.add(ZipFormat.endSignature)
        let count = UInt16(countAtEnd ?? entries.count)
        for word in [0, 0, count, count] { end.add(word) }
        end.add(UInt32(list.bytes.count))
        end.add(UInt32(all.bytes.count))
        end.add(UInt16(0))
        return Data(all.bytes + list.bytes + end.bytes + tail)
    }
}
