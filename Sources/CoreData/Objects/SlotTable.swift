import Foundation

/// Slots by property name: the first lookup of key-value coding.
///
/// Open addressing by a hash of a few of the name's bytes. A `Dictionary` would hash every byte with a function that
/// protects against attackers, but a model's names do not come from attackers. A lookup here costs as much as comparing
/// the names.
struct SlotTable: @unchecked Sendable {
    // Safe because the memory is not written after the initialiser; the owner frees it when no reader exists any more.

    private struct Entry {
        /// The position and length of the name in `bytes`; -1 for an entry without one.
        var start: Int32
        var count: Int32
        var slot: Int
    }

    private let entries: UnsafeMutablePointer<Entry>
    private let mask: Int
    private let bytes: UnsafeMutablePointer<UInt8>

    init(_ names: [String]) {
        var capacity = 4
        while capacity < names.count * 2 { capacity *= 2 }
        mask = capacity - 1
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: Entry(start: 0, count: -1, slot: 0), count: capacity)
        bytes = .allocate(capacity: max(1, names.reduce(0) { $0 + $1.utf8.count }))
        var start = 0
        for (slot, name) in names.enumerated() {
            var name = name
            name.withUTF8 { text in
                if let base = text.baseAddress { (bytes + start).update(from: base, count: text.count) }
                var index = Self.hash(text) & mask
                while entries[index].count >= 0 { index = (index + 1) & mask }
                entries[index] = Entry(
                    start: Int32(truncatingIfNeeded: start), count: Int32(truncatingIfNeeded: text.count), slot: slot)
                start += text.count
            }
        }
    }

    /// Frees the memory; the table must not be used any more.
    func deallocate() {
        entries.deallocate()
        bytes.deallocate()
    }

    /// Returns the slot of the property whose name has exactly these bytes.
    func slot(_ name: String) -> Int? {
        var name = name
        return name.withUTF8 { text in
            var index = Self.hash(text) & mask
            while true {
                let entry = entries[index]
                if entry.count < 0 { return nil }
                if Int(entry.count) == text.count, Self.areEqual(bytes + Int(entry.start), text) { return entry.slot }
                index = (index + 1) & mask
            }
        }
    }

    /// Whether the bytes are the text's. Names are short: to call `memcmp` takes longer than to compare them.
    @inline(__always)
    private static func areEqual(_ bytes: UnsafePointer<UInt8>, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = text.count
        guard let base = text.baseAddress else { return true }
        if count >= 8 {
            func word(_ start: UnsafePointer<UInt8>, _ offset: Int) -> UInt64 {
                UnsafeRawPointer(start).loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            }
            var offset = 0
            while offset + 8 < count {
                if word(bytes, offset) != word(base, offset) { return false }
                offset += 8
            }
            // The last eight bytes, some of which may have been compared.
            return word(bytes, count - 8) == word(base, count - 8)
        }
        var index = 0
        while index < count {
            if bytes[index] != base[index] { return false }
            index += 1
        }
        return true
    }

    /// Mixes the length with the first, the middle and the last byte: names of one entity differ in those.
    private static func hash(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        let count = text.count
        guard count > 0 else { return 0 }
        let mixed = UInt32(text[0]) | UInt32(text[count >> 1]) << 8 | UInt32(text[count - 1]) << 16
        let product = (mixed ^ UInt32(truncatingIfNeeded: count) << 24) &* 0x9E37_79B1
        return Int(product >> 16)
    }
}
