/// The orders in which Apple's dictionaries enumerate strings.
///
/// These orders decide which side of a many-to-many relationship names its table, how columns with equal names are
/// numbered, and the order of join tables. So an Apple-compatible store needs them.
package enum DictionaryOrder {
    /// `CFStringHash`: a hash of the UTF-16 code units that is the same in every process.
    package static func hash(_ string: String) -> UInt64 {
        let units = Array(string.utf16)
        let count = units.count
        var result = UInt64(count)
        func eat(_ part: ArraySlice<UInt16>) {
            var rest = part[...]
            while rest.count >= 4 {
                let i = rest.startIndex
                result = result &* 67_503_105 &+ UInt64(rest[i]) &* 16_974_593
                result = result &+ UInt64(rest[i + 1]) &* 66_049 &+ UInt64(rest[i + 2]) &* 257 &+ UInt64(rest[i + 3])
                rest = rest.dropFirst(4)
            }
            for unit in rest { result = result &* 257 &+ UInt64(unit) }
        }
        if count <= 96 {
            eat(units[...])
        } else {
            let middle = count / 2 - 16
            eat(units[0..<32])
            eat(units[middle..<(middle + 32)])
            eat(units[(count - 32)...])
        }
        return result &+ (result << UInt64(count & 31))
    }

    /// Returns the order of an immutable dictionary with exactly these keys, such as an entity's properties in an
    /// archive.
    package static func archived(_ names: [String]) -> [String] {
        let sorted = names.sorted(by: NameOrder.byCodeUnits)
        return slots(sorted, bucketCount: bucketCount(for: sorted.count, in: current), hash: hash)
    }

    /// Returns the order in which Core Data lays out an entity's relationships. It is the order of Mac OS X 10.5's
    /// dictionaries, which Core Data keeps for compatibility with old stores.
    ///
    /// The dictionary has the capacity for `Z_PK`, `Z_ENT` and `Z_OPT` in addition.
    package static func leopard(_ names: [String]) -> [String] {
        slots(
            names.sorted(by: NameOrder.byCodeUnits),
            bucketCount: bucketCount(for: names.count + fixedKeys.count, in: leopard),
            hash: { hash($0) & 0xFFFF_FFFF })
    }

    /// Returns the order in which Core Data makes an entity's join tables. It is the order of a mutable dictionary
    /// after inserting `Z_PK`, `Z_ENT`, `Z_OPT` and then the stored properties in ``leopard(_:)`` order. The foreign
    /// keys of to-ones follow under other names; only their effect on the dictionary's size is known.
    ///
    /// - Parameters:
    ///   - names: all properties, including inherited ones.
    ///   - left: the properties that are not stored.
    ///   - foreignKeyCount: the number of stored to-ones.
    package static func grown(
        _ names: [String], without left: Set<String> = [], foreignKeyCount: Int = 0
    ) -> [String] {
        var level = 0
        var buckets: [(name: String, hash: UInt64, isFixed: Bool)?] = []
        func put(_ entry: (name: String, hash: UInt64, isFixed: Bool)) {
            var bucket = Int(entry.hash % UInt64(buckets.count))
            while buckets[bucket] != nil { bucket = (bucket + 1) % buckets.count }
            buckets[bucket] = entry
        }
        /// A full dictionary grows: its entries move to more buckets, in their current order.
        func grow() {
            level += 1
            let entries = buckets.compactMap { $0 }
            buckets = Array(repeating: nil, count: capacity(level, in: current).buckets)
            entries.forEach(put)
        }
        let keys = fixedKeys + leopard(names).filter { !left.contains($0) }
        for (count, name) in keys.enumerated() {
            if count == capacity(level, in: current).names { grow() }
            put((name, hash(name), count < fixedKeys.count))
        }
        while keys.count + foreignKeyCount > capacity(level, in: current).names { grow() }
        return buckets.compactMap { $0 }.filter { !$0.isFixed }.map(\.name)
    }

    /// The keys of every table besides the properties.
    private static let fixedKeys = ["Z_PK", "Z_ENT", "Z_OPT"]

    private typealias Capacity = (names: Int, buckets: Int)

    private static let current: [Capacity] = [
        (0, 0), (3, 3), (6, 7), (11, 13), (19, 23), (32, 41), (52, 71), (85, 127), (118, 191), (155, 251),
        (237, 383), (390, 631), (672, 1087), (1065, 1723), (1732, 2803), (2795, 4523), (4543, 7351), (7391, 11959),
    ]

    private static let leopard: [Capacity] = [
        (4, 5), (8, 11), (17, 23), (29, 41), (47, 67), (76, 113), (123, 199), (199, 317), (322, 521), (521, 839),
        (843, 1361), (1364, 2207),
    ]

    private static func capacity(_ level: Int, in capacities: [Capacity]) -> Capacity {
        // Beyond the tables, which cover more than a thousand properties per entity, any number gives a stable order.
        if level < capacities.count { return capacities[level] }
        let last = capacities[capacities.count - 1]
        let factor = 1 << (level - capacities.count + 1)
        return (last.names * factor, last.buckets * factor + 1)
    }

    private static func bucketCount(for count: Int, in capacities: [Capacity]) -> Int {
        var level = 0
        while capacity(level, in: capacities).names < count { level += 1 }
        return capacity(level, in: capacities).buckets
    }

    /// Places the keys by linear probing.
    private static func slots(
        _ names: [String], bucketCount: Int, hash: (String) -> UInt64
    ) -> [String] {
        guard bucketCount > 0 else { return names }
        var buckets = [String?](repeating: nil, count: bucketCount)
        for name in names {
            var bucket = Int(hash(name) % UInt64(bucketCount))
            while buckets[bucket] != nil { bucket = (bucket + 1) % bucketCount }
            buckets[bucket] = name
        }
        return buckets.compactMap { $0 }
    }
}
