import Foundation

/// Words by primary key: pages of 16 neighbouring keys, found by an open-addressing directory.
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
/// Rows that were fetched together have keys that lie together: most look-ups end in the page of the one before and
/// never see the directory. A dense table costs 11 bytes a key, a sparse one 180. At most half of the directory is
/// taken; removing a page moves those behind it back towards their homes, so there are no tombstones.
///
/// A class of words and not a generic type: a generic one is not specialised across modules, which costs five times
/// the look-up. What ends in the page of the look-up before is inlined into the caller. Whoever keeps references in it
/// retains and releases them. It guards nothing: its owner holds a lock.
@usableFromInline
package final class KeyTable: @unchecked Sendable {
    // Safe because its owner's lock guards it.

    /// How many keys have a word.
    @inlinable package var count: Int { _count }

    @usableFromInline struct Entry {
        @usableFromInline var page: Int64
        /// 16 words and the number of those that are not 0; `nil` where the place is free.
        @usableFromInline var words: UnsafeMutablePointer<UInt>?
    }

    /// A number that no page has, since the upper bits of a page are those of a key.
    private static var noPage: Entry { Entry(page: .min, words: nil) }

    @inlinable static var pageBits: Int64 { 4 }
    private static var pageSize: Int { 16 }

    // The owner's lock keeps accesses apart, and nothing here calls back: to have each one checked would double the
    // price of a look-up.
    @exclusivity(unchecked) @usableFromInline var _count = 0
    @exclusivity(unchecked) private var directory: UnsafeMutablePointer<Entry>
    @exclusivity(unchecked) private var mask: Int
    @exclusivity(unchecked) private var pageCount = 0
    /// The page that was looked for last, without words where there is none.
    @exclusivity(unchecked) @usableFromInline var last = noPage

    /// A page of zeroes for the next that is needed.
    @exclusivity(unchecked) private var spare: UnsafeMutablePointer<UInt>?

    package init() {
        directory = Self.emptyDirectory(8)
        mask = 7
    }

    deinit { deallocate() }

    /// The key's word, 0 where it has none.
    @inlinable
    package func word(_ key: Int64) -> UInt {
        guard let words = words(ofPage: key >> Self.pageBits) else { return 0 }
        return words[Int(key & 15)]
    }

    /// Gives the key a word other than 0; returns the one that it had.
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

    /// Takes the key's word out and returns it, 0 where there was none.
    @discardableResult
    package func remove(_ key: Int64) -> UInt {
        guard let words = words(ofPage: key >> Self.pageBits) else { return 0 }
        let old = words[Int(key & 15)]
        if old != 0 { clear(key, words) }
        return old
    }

    /// Takes the key's word out if it is that one, which is not 0; tells whether it was.
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

    /// Every key with its word, in no order; the table must not change meanwhile.
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
        // Objects that come and go one by one would allocate a page for each.
        if let words = directory[hole].words {
            if spare == nil { spare = words } else { free(words) }
        }
        last = Self.noPage
        pageCount -= 1
        var place = hole
        while true {
            place = (place + 1) & mask
            guard directory[place].words != nil else { break }
            // An entry may go back to the hole unless its home lies behind it.
            let distance = (place - home(of: directory[place].page)) & mask
            if distance >= (place - hole) & mask {
                directory[hole] = directory[place]
                hole = place
            }
        }
        directory[hole].words = nil
    }

    /// The allocator's own alignment does; Swift's way of asking for it costs twice as much.
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
