import CoreDataModel
import CoreDataPrimitives

/// A set of rows: one bit per row, in words for 64 adjacent keys.
///
/// A million rows with consecutive keys take less than a megabyte. Keys are unique within an inheritance tree, so a row
/// is found under any entity of its tree.
struct KeySet {
    private var words: [Int: [Int64: UInt64]] = [:]
    private let model: CompiledModel

    init(model: CompiledModel) { self.model = model }

    var isEmpty: Bool { words.isEmpty }

    var count: Int { words.values.reduce(0) { $1.values.reduce($0) { $0 + $1.nonzeroBitCount } } }

    /// Inserts the row; returns false if it was already in the set.
    @discardableResult mutating func insert(_ key: RowKey) -> Bool {
        guard !contains(key) else { return false }
        words[key.entity, default: [:]][key.primaryKey >> 6, default: 0] |= Self.bit(of: key.primaryKey)
        return true
    }

    func contains(_ key: RowKey) -> Bool {
        let (place, bit) = (key.primaryKey >> 6, Self.bit(of: key.primaryKey))
        let root = model.entities[key.entity].root
        for (entity, words) in words where model.entities[entity].root == root {
            if let word = words[place], word & bit != 0 { return true }
        }
        return false
    }

    private static func bit(of key: Int64) -> UInt64 { 1 << UInt64(key & 63) }

    /// Calls `body` with portions of the rows of one entity, by ascending keys.
    func forEachPortion(of size: Int, _ body: (_ entity: Int, _ keys: [Int64]) throws -> Void) rethrows {
        for (entity, words) in words.sorted(by: { $0.key < $1.key }) {
            var portion: [Int64] = []
            portion.reserveCapacity(size)
            for place in words.keys.sorted() {
                var word = words[place] ?? 0
                while word != 0 {
                    portion.append(place << 6 | Int64(word.trailingZeroBitCount))
                    word &= word - 1
                    guard portion.count == size else { continue }
                    try body(entity, portion)
                    portion.removeAll(keepingCapacity: true)
                }
            }
            if !portion.isEmpty { try body(entity, portion) }
        }
    }
}
