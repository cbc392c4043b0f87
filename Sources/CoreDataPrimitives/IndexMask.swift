/// A set of small numbers, such as columns of a row or slots of an entity. Numbers below 64 need no allocation.
@usableFromInline
package struct IndexMask: Hashable, Sequence, Sendable {
    @usableFromInline var low: UInt64 = 0
    /// The members from 64 on, as bits of 64-bit words.
    @usableFromInline var high: [UInt64]?

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { low == 0 && (high?.allSatisfy { $0 == 0 } ?? true) }

    @inlinable @inline(__always)
    package mutating func insert(_ index: Int) {
        if index < 64 { low |= 1 << UInt64(index) } else { insertHigh(index) }
    }

    @usableFromInline
    mutating func insertHigh(_ index: Int) {
        var words = high ?? []
        while words.count < index >> 6 { words.append(0) }
        words[index >> 6 - 1] |= 1 << UInt64(index & 63)
        high = words
    }

    @inlinable @inline(__always)
    package func contains(_ index: Int) -> Bool {
        index < 64 ? low & (1 << UInt64(index)) != 0 : containsHigh(index)
    }

    @usableFromInline
    func containsHigh(_ index: Int) -> Bool {
        guard let high, index >> 6 <= high.count else { return false }
        return high[index >> 6 - 1] & (1 << UInt64(index & 63)) != 0
    }

    /// Inserts the index like `insert`, but ignores -1, which means that there is no column.
    @inlinable
    package mutating func insertStored(_ index: Int) {
        if index >= 0 { insert(index) }
    }

    @inlinable
    package mutating func remove(_ index: Int) {
        if index < 64 { low &= ~(1 << UInt64(index)) } else { removeHigh(index) }
    }

    @usableFromInline
    mutating func removeHigh(_ index: Int) {
        if containsHigh(index) { high?[index >> 6 - 1] &= ~(1 << UInt64(index & 63)) }
    }

    @inlinable
    package mutating func removeAll() {
        low = 0
        if high != nil { high = nil }
    }

    @inlinable package func makeIterator() -> Iterator { Iterator(word: low, high: high) }

    /// Iterates in ascending order.
    @usableFromInline
    package struct Iterator: IteratorProtocol {
        @usableFromInline var word: UInt64
        @usableFromInline let high: [UInt64]?
        @usableFromInline var base = 0

        @inlinable
        init(word: UInt64, high: [UInt64]?) {
            self.word = word
            self.high = high
        }

        @inlinable @inline(__always)
        package mutating func next() -> Int? {
            while word == 0 {
                guard let high, base >> 6 < high.count else { return nil }
                word = high[base >> 6]
                base += 64
            }
            let index = base + word.trailingZeroBitCount
            word &= word - 1
            return index
        }
    }

    /// Returns whether both sets are equal; does no reference counting if all members are below 64.
    @inlinable
    package func isSame(as other: IndexMask) -> Bool {
        low == other.low && (high == nil && other.high == nil || high == other.high)
    }
}
