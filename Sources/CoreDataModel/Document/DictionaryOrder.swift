/// The orders in which Apple's dictionaries hand out strings.
///
/// They decide which side of a many-to-many relationship names its table, and the order of join tables, so an
/// Apple-compatible store needs them (store-format §4.2, §4.3).
package enum DictionaryOrder {
    /// `CFStringHash`: a hash of the UTF-16 units that is the same in every process.
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

    /// The order of a mutable dictionary that the names were put into one by one, sorted.
    package static func current(_ names: [String]) -> [String] {
        let sorted = names.sorted(by: NameOrder.byCodeUnits)
        return slots(sorted, bucketCount: bucketCount(for: sorted.count + 3, in: current), hash: hash)
    }

    /// The order of the dictionaries of Mac OS X 10.5, which Core Data keeps for the sake of old stores.
    package static func leopard(_ names: [String]) -> [String] {
        slots(
            current(names), bucketCount: bucketCount(for: names.count, in: leopard),
            hash: { hash($0) & 0xFFFF_FFFF })
    }

    private typealias Capacity = (names: Int, buckets: Int)

    private static let current: [Capacity] = [
        (0, 0), (3, 3), (6, 7), (11, 13), (19, 23), (32, 41), (52, 71), (85, 127), (118, 191), (155, 251),
        (237, 383), (390, 631), (672, 1087), (1065, 1723),
    ]

    private static let leopard: [Capacity] = [
        (4, 5), (8, 11), (17, 23), (29, 41), (47, 67), (76, 113), (123, 199), (199, 317), (322, 521), (521, 839),
        (843, 1361), (1364, 2207),
    ]

    private static func bucketCount(for count: Int, in capacities: [Capacity]) -> Int {
        // Beyond the table, which ends at a thousand properties in one entity, any number gives a stable order.
        capacities.first { $0.names >= count }?.buckets ?? count * 2 + 1
    }

    /// Linear probing.
    private static func slots(
        _ names: [String], bucketCount: Int, hash: (String) -> UInt64
    ) -> [String] {
        guard bucketCount >= names.count, bucketCount > 0 else { return names }
        var buckets = [String?](repeating: nil, count: bucketCount)
        for name in names {
            var bucket = Int(hash(name) % UInt64(bucketCount))
            while buckets[bucket] != nil { bucket = (bucket + 1) % bucketCount }
            buckets[bucket] = name
        }
        return buckets.compactMap { $0 }
    }
}
