import CoreDataSyncEngine

/// Where the sidecar's blocks of entries lie: mostly one beside the other, but two saves may have IDs between one
/// another's.
struct BlockDirectory: Sendable {
    struct Block: Hashable, Sendable {
        var range: EntryBlock.Range
        var count: Int
    }

    /// In the order of their first IDs.
    private(set) var blocks: [Block] = []
    /// The greatest last ID of each block and those before it.
    private var greatestIDs: [GlobalID] = []
    /// The numbers of the blocks in the order of their first places, and the greatest last place so far of each.
    private var byPlace: [(number: Int, greatest: Int64)] = []

    init(_ blocks: [Block]) {
        self.blocks = blocks
        order()
    }

    /// The number of entries.
    var count: Int { blocks.reduce(0) { $0 + $1.count } }

    private mutating func order() {
        blocks.sort { $0.range.first < $1.range.first }
        greatestIDs.removeAll(keepingCapacity: true)
        for block in blocks { greatestIDs.append(max(greatestIDs.last ?? block.range.last, block.range.last)) }
        var greatest = Int64.min
        byPlace = blocks.indices.sorted { blocks[$0].range.firstPlace < blocks[$1].range.firstPlace }.map { number in
            greatest = max(greatest, blocks[number].range.lastPlace)
            return (number, greatest)
        }
    }

    /// Changes some blocks, which are named by their first IDs; `nil` removes one.
    mutating func change(_ changes: [GlobalID: Block?], adding new: [Block] = []) {
        if changes.isEmpty && new.isEmpty { return }
        blocks = blocks.compactMap { block in
            if let change = changes[block.range.first] { change } else { block }
        }
        blocks += new
        order()
    }

    // MARK: Searching

    /// The numbers of the blocks that may have one of these IDs, which ascend.
    func numbers(of ids: some Sequence<GlobalID>) -> [Int] {
        Self.search(
            ids, blocks.count, first: { blocks[$0].range.first }, last: { blocks[$0].range.last },
            greatest: { greatestIDs[$0] })
    }

    /// The numbers of the blocks that may have one of these places, which ascend.
    func numbers(ofPlaces places: some Sequence<Int64>) -> [Int] {
        Self.search(
            places, byPlace.count, first: { blocks[byPlace[$0].number].range.firstPlace },
            last: { blocks[byPlace[$0].number].range.lastPlace }, greatest: { byPlace[$0].greatest }
        ).map { byPlace[$0].number }.sorted()
    }

    /// The numbers of the blocks with places in a range.
    func numbers(from start: Int64, to end: Int64) -> [Int] {
        blocks.indices.filter { blocks[$0].range.lastPlace >= start && blocks[$0].range.firstPlace < end }
    }

    private static func search<Value: Comparable>(
        _ values: some Sequence<Value>, _ count: Int, first: (Int) -> Value, last: (Int) -> Value,
        greatest: (Int) -> Value
    ) -> [Int] {
        guard count > 0 else { return [] }
        var found: Set<Int> = []
        // The values up to which the last block found is the only one.
        var known: (from: Value, to: Value)?
        for value in values {
            if let known, value >= known.from, value <= known.to { continue }
            var (low, high) = (0, count)
            while low < high {
                let middle = (low + high) / 2
                if first(middle) <= value { low = middle + 1 } else { high = middle }
            }
            // The blocks before `low` begin before the value; those that end before it, too, are passed over.
            var index = low - 1
            known = nil
            while index >= 0, greatest(index) >= value {
                if last(index) >= value { found.insert(index) }
                index -= 1
            }
            let isAlone = low > 0 && last(low - 1) >= value && (low == 1 || greatest(low - 2) < value)
            if isAlone, low == count || first(low) > last(low - 1) { known = (value, last(low - 1)) }
        }
        return found.sorted()
    }
}
