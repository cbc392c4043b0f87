import CoreDataModel
import CoreDataPrimitives

/// The rows of one root entity, and which of them refer to whom.
struct MemoryTable {
    private(set) var rows: [Int64: RowSnapshot] = [:]
    /// The highest key that a row has ever had.
    private(set) var highestKey: Int64 = 0
    /// For each column that has keys of other rows: who has which key there.
    private var referrers: [RowLayout.Role: [Int64: Set<Int64>]] = [:]

    /// Puts a row in, in the place of the one with its key.
    mutating func put(_ row: RowSnapshot, _ layout: RowLayout) {
        remove(row.primaryKey, layout)
        rows[row.primaryKey] = row
        highestKey = max(highestKey, row.primaryKey)
        Self.forEachReference(of: row, layout) { role, key in
            referrers[role, default: [:]][key, default: []].insert(row.primaryKey)
        }
    }

    mutating func remove(_ key: Int64, _ layout: RowLayout) {
        guard let row = rows.removeValue(forKey: key) else { return }
        Self.forEachReference(of: row, layout) { role, destination in
            referrers[role]?[destination]?.remove(key)
        }
    }

    /// The rows whose column of that role has the key, in no order.
    func rows(referringTo key: Int64, by role: RowLayout.Role) -> [RowSnapshot] {
        referrers[role]?[key]?.compactMap { rows[$0] } ?? []
    }

    private static func forEachReference(
        of row: RowSnapshot, _ layout: RowLayout, _ body: (RowLayout.Role, Int64) -> Void
    ) {
        for (index, column) in layout.columns.enumerated() {
            switch column.role {
            case .destinationKey, .ownerKey:
                if !row.isNull(index) { body(column.role, row.integer(index)) }
            case .attribute, .destinationEntity, .order, .ownerOrder: break
            }
        }
    }
}

/// The pairs of a many-to-many relationship, found from either side.
struct MemoryPairs {
    /// By owner and by destination: who is at the other end, and the position there.
    private var destinations: [Int64: [Int64: Int64?]] = [:]
    private var owners: [Int64: [Int64: Int64?]] = [:]

    /// Puts a pair in; where it is there already, its positions become those that are given.
    mutating func insert(owner: Int64, destination: Int64, order: Int64?, inverseOrder: Int64?) {
        let known = destinations[owner]?[destination] ?? nil
        destinations[owner, default: [:]][destination] = .some(order ?? known)
        let knownInverse = owners[destination]?[owner] ?? nil
        owners[destination, default: [:]][owner] = .some(inverseOrder ?? knownInverse)
    }

    mutating func remove(owner: Int64, destination: Int64) {
        destinations[owner]?[destination] = nil
        owners[destination]?[owner] = nil
    }

    /// Every pair once, by owner and destination.
    func forEach(_ body: (Int64, Int64, Int64?, Int64?) throws -> Void) rethrows {
        for (owner, members) in destinations.sorted(by: { $0.key < $1.key }) {
            for (destination, order) in members.sorted(by: { $0.key < $1.key }) {
                try body(owner, destination, order, owners[destination]?[owner] ?? nil)
            }
        }
    }

    /// The position of a key among the other ends of an owner's pairs, or of a destination's.
    func order(of key: Int64, beside end: Int64, fromDestination: Bool) -> Int64? {
        (fromDestination ? owners : destinations)[end]?[key] ?? nil
    }

    /// The other ends of an owner's pairs, or of a destination's, by position and key.
    func others(of key: Int64, fromDestination: Bool) -> [Int64] {
        let found = (fromDestination ? owners : destinations)[key] ?? [:]
        return found.sorted { ($0.value ?? .min, $0.key) < ($1.value ?? .min, $1.key) }.map(\.key)
    }
}
