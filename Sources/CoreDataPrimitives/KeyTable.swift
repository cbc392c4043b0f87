import Foundation

/// A hash table from primary keys to words: pages of 16 adjacent keys, found through an open-addressing directory.
///
/// ```
///  key  = … page … | 4 bits               word 0: the key has none
///
///  directory                              page 5: keys 80…95
///  ┌──────────┬──────┬──────────┬────     ┌────┬────┬───┬────┬─ … ─┬────┬───────┐
///  │ page 5 ● │ free │ page 9 ● │ …       │ 80 │ 81 │ 0 │ 83 │     │ 95 │ count │
///  └────────│─┴──────┴──────────┴────     └────┴────┴───┴────┴─ … ─┴────┴───────┘
///           └──────────────────────────────▲
/// ```
/// Rows that were fetched together usually have adjacent keys. So most look-ups find their page in the cache of the
/// last page, and do not read the directory. A dense table costs 11 bytes per key, a sparse one 180. The directory is
/// at most half full. Removing a page moves later pages back towards their home positions, so there are no tombstones.
///
/// The values are words, because a generic table is not specialised across modules, and a look-up would cost five times
/// as much. The look-up in the last page is inlined into the caller. A caller that stores references must retain and
/// release them. The table has no lock of its own: its owner must hold one.
@usableFromInline
package final class KeyTable: @unchecked Sendable {
    // Safe because its owner's lock guards it.

    /// The number of keys that have a word.
    @inlinable package var count: Int { _count }

    @usableFromInline struct Entry {
        @usableFromInline var page: Int64
        /// 16 words and the number of those that are not 0; `nil` if the position is free.
        @usableFromInline var words: UnsafeMutablePointer<UInt>?
    }

    /// A page number that no key has, because the upper bits of a page number are those of a key.
    private static var noPage: Entry { Entry(page: .min, words: nil) }

    @inlinable static var pageBits: Int64 { 4 }
    private static var pageSize: Int { 16 }

    // The owner's lock serialises accesses, and nothing here calls back. Exclusivity checks would double the cost of a
    // look-up.
    @exclusivity(unchecked) @usableFromInline var _count = 0
    @exclusivity(unchecked) private var directory: UnsafeMutablePointer<Entry>
    @exclusivity(unchecked) private var mask: Int
    @exclusivity(unchecked) private var pageCount = 0
    /// The page of the last look-up; its words are `nil` if there is none.
    @exclusivity(unchecked) @usableFromInline var last = noPage

    /// A spare page of zeros for the next insertion.
    @exclusivity(unchecked) private var spare: UnsafeMutablePointer<UInt>?

    package init() {
        directory = Self.emptyDirectory(8)
        mask = 7
    }

    deinit { deallocate() }

    /// Returns the key's word, or 0 if it has none.
    @inlinable
    package func word(_ key: Int64) -> UInt {
        guard let words = words(ofPage: key >> Self.pageBits) else { return 0 }
        return words[Int(key & 15)]
    }

    /// Sets the key's word, which must not be 0; returns the previous word.
    @discardableResult
    package func set(_ key: Int64, _ word: UInt) -> UInt {
        assert(word != 0, "0 stands for no word")
        let page = key >> Self.pageBits
        let words = words(ofPage: page) ?? addPage(page)
        let old = words[Int(key & 15)]
        words[Int(key & 15)] = word
        if old == 0 {
            words[Self.pageSize] += 1
            _count += 1
        }
        return old
    }

    /// Removes the key's word and returns it; 0 if it had none.
    @discardableResult
    package func remove(_ key: Int64) -> UInt {
        guard let words = words(ofPage: key >> Self.pageBits) else { return 0 }
        let old = words[Int(key & 15)]
        if old != 0 { clear(key, words) }
        return old
    }

    /// Removes the key's word if it equals `word`, which must not be 0; returns whether it did.
    @inlinable
    @discardableResult
    package func remove(_ key: Int64, ifWord word: UInt) -> Bool {
        assert(word != 0, "0 stands for no word")
        guard let words = words(ofPage: key >> Self.pageBits), words[Int(key & 15)] == word else { return false }
        clear(key, words)
        return true
    }

    @usableFromInline
    func clear(_ key: Int64, _ words: UnsafeMutablePointer<UInt>) {
        words[Int(key & 15)] = 0
        _count -= 1
        words[Self.pageSize] -= 1
        if words[Self.pageSize] == 0 { removePage(key >> Self.pageBits) }
    }

    package func removeAll() {
        deallocate()
        directory = Self.emptyDirectory(8)
        mask = 7
        pageCount = 0
        _count = 0
        last = Self.noPage
    }

    /// Calls `body` with every key and its word, in no order. `body` must not change the table.
    package func forEach(_ body: (Int64, UInt) -> Void) {
        for place in 0...mask {
            guard let words = directory[place].words else { continue }
            for index in 0..<Self.pageSize where words[index] != 0 {
                body(directory[place].page << Self.pageBits | Int64(index), words[index])
            }
        }
    }

    // MARK: Pages

    @inlinable @inline(__always)
    func words(ofPage page: Int64) -> UnsafeMutablePointer<UInt>? {
        last.page == page ? last.words : findPage(page)
    }

    @usableFromInline
    func findPage(_ page: Int64) -> UnsafeMutablePointer<UInt>? {
        var place = home(of: page)
        while let words = directory[place].words {
            if directory[place].page == page {
                last = Entry(page: page, words: words)
                return words
            }
            place = (place + 1) & mask
        }
        last = Entry(page: page, words: nil)
        return nil
    }

    private func addPage(_ page: Int64) -> UnsafeMutablePointer<UInt> {
        if (pageCount + 1) * 2 > mask + 1 { grow() }
        let words = spare ?? Self.newPage()
        spare = nil
        last = Entry(page: page, words: words)
        insert(last)
        pageCount += 1
        return words
    }

    private func removePage(_ page: Int64) {
        var hole = home(of: page)
        while directory[hole].page != page || directory[hole].words == nil { hole = (hole + 1) & mask }
        // Keep one free page: otherwise inserting and deleting single objects would allocate a page each time.
        if let words = directory[hole].words {
            if spare == nil { spare = words } else { free(words) }
        }
        last = Self.noPage
        pageCount -= 1
        var place = hole
        while true {
            place = (place + 1) & mask
            guard directory[place].words != nil else { break }
            // An entry may move back into the hole unless its home position is after the hole.
            let distance = (place - home(of: directory[place].page)) & mask
            if distance >= (place - hole) & mask {
                directory[hole] = directory[place]
                hole = place
            }
        }
        directory[hole].words = nil
    }

    /// The allocator's default alignment suffices; Swift's aligned allocation costs twice as much.
    private static func newPage() -> UnsafeMutablePointer<UInt> {
        guard let memory = calloc(pageSize + 1, MemoryLayout<UInt>.stride) else { fatalError("out of memory") }
        return memory.bindMemory(to: UInt.self, capacity: pageSize + 1)
    }

    private func insert(_ entry: Entry) {
        var place = home(of: entry.page)
        while directory[place].words != nil { place = (place + 1) & mask }
        directory[place] = entry
    }

    /// Fibonacci hashing; the multiplier is 2⁶⁴ divided by the golden ratio.
    @inline(__always)
    private func home(of page: Int64) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: page) &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    }

    private func grow() {
        let (old, count) = (directory, mask + 1)
        directory = Self.emptyDirectory(count * 2)
        mask = count * 2 - 1
        for place in 0..<count where old[place].words != nil { insert(old[place]) }
        old.deallocate()
    }

    private static func emptyDirectory(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        let directory = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
        directory.initialize(repeating: Entry(page: 0, words: nil), count: capacity)
        return directory
    }

    private func deallocate() {
        for place in 0...mask { free(directory[place].words) }
        free(spare)
        spare = nil
        directory.deallocate()
    }
}
