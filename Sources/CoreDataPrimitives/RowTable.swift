/// Values by primary key: an open-addressing table that keeps neighbouring keys in neighbouring places.
///
/// ```
///  key  = … page … | 4 bits
///  home = (hash(page) << 4 | 4 bits) & mask            the 16 keys of a page stand side by side
///
///  place   0     1     2     3     4     5     6     7
///        ┌─────┬─────┬─────┬─────┬─────┬─────┬─────┬─────┐
///  keys  │ 64  │ 65  │  0  │ 67  │ 163 │  0  │  0  │ 71  │     0 is no primary key: the place is free
///        └─────┴─────┴─────┴─────┴─────┴─────┴─────┴─────┘
///                             │     └ at home in 3, which is taken: the next free place has it
/// values    a     b     –     c     d     –     –     e
/// ```
/// Rows that were fetched together have keys that lie together, so a fetch walks through memory in order; pages
/// are scattered, so that runs of full places end and a search for an absent key is short. At most 3 of 5 places
/// are taken. Removing moves the entries behind back towards their homes: there are no tombstones.
///
/// Looking up, inserting and removing are O(1).
package struct RowTable<Value> {
    @usableFromInline package internal(set) var count = 0
    @usableFromInline var keys: [Int64]
    @usableFromInline var values: [Value?]
    @usableFromInline var mask: Int

    @inlinable package init() {
        keys = []
        values = []
        mask = -1
    }

    @inlinable package subscript(key: Int64) -> Value? {
        guard let place = place(of: key) else { return nil }
        return values[place]
    }

    /// Calls `body` with the entry, which it may change; `nil` where there is none.
    @inlinable @discardableResult
    package mutating func update<R>(_ key: Int64, _ body: (inout Value) -> R) -> R? {
        guard let place = place(of: key), var value = values[place] else { return nil }
        // Taken out, so that the value is not referenced twice while it changes.
        values[place] = nil
        let result = body(&value)
        values[place] = value
        return result
    }

    /// Sets the value of a key.
    @inlinable package mutating func set(_ key: Int64, _ value: Value) {
        precondition(key != 0, "0 is no primary key")
        if (count + 1) * 5 > keys.count * 3 { grow() }
        var place = home(of: key)
        while keys[place] != 0 {
            if keys[place] == key {
                values[place] = value
                return
            }
            place = (place + 1) & mask
        }
        keys[place] = key
        values[place] = value
        count += 1
    }

    @inlinable @discardableResult
    package mutating func remove(_ key: Int64) -> Value? {
        guard var hole = place(of: key) else { return nil }
        let removed = values[hole]
        var place = hole
        while true {
            place = (place + 1) & mask
            guard keys[place] != 0 else { break }
            // An entry may go back to the hole unless its home lies behind it.
            let distance = (place - home(of: keys[place])) & mask
            if distance >= (place - hole) & mask {
                keys[hole] = keys[place]
                values[hole] = values[place]
                hole = place
            }
        }
        keys[hole] = 0
        values[hole] = nil
        count -= 1
        return removed
    }

    @inlinable package mutating func removeAll() { self = RowTable() }

    /// Every entry, in no order.
    @inlinable package func forEach(_ body: (Int64, Value) -> Void) {
        for (place, key) in keys.enumerated() where key != 0 {
            if let value = values[place] { body(key, value) }
        }
    }

    // MARK: Places

    @inlinable func place(of key: Int64) -> Int? {
        guard count > 0, key != 0 else { return nil }
        var place = home(of: key)
        while keys[place] != 0 {
            if keys[place] == key { return place }
            place = (place + 1) & mask
        }
        return nil
    }

    @inlinable func home(of key: Int64) -> Int {
        let bits = UInt64(bitPattern: key)
        // Fibonacci hashing of the page; the multiplier is 2⁶⁴ divided by the golden ratio.
        let page = (bits >> 4) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: (page >> 28) << 4 | bits & 15) & mask
    }

    @inlinable mutating func grow() {
        let old = (keys, values)
        let capacity = max(16, keys.count * 2)
        keys = Array(repeating: 0, count: capacity)
        values = Array(repeating: nil, count: capacity)
        mask = capacity - 1
        count = 0
        for (place, key) in old.0.enumerated() where key != 0 {
            if let value = old.1[place] { set(key, value) }
        }
    }
}
