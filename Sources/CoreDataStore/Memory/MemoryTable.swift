import CoreDataModel
import CoreDataPrimitives

/// The rows of one root entity, and the references between them.
struct MemoryTable {
    private(set) var rows: [Int64: RowSnapshot] = [:]
    /// The highest key that a row has ever had.
    private(set) var highestKey: Int64 = 0
    /// For each column of keys, the rows that contain each key.
    private var referrers: [RowLayout.Role: [Int64: Set<Int64>]] = [:]

    /// Inserts a row, or replaces the one with its key.
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

    /// Returns the rows whose column with the role has the key, in no order.
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

/// The pairs of a many-to-many relationship, indexed from both sides.
struct MemoryPairs {
    /// By owner and by destination: the other ends, with the positions there.
    private var destinations: [Int64: [Int64: Int64?]] = [:]
    private var owners: [Int64: [Int64: Int64?]] = [:]

    /// Inserts a pair; for an existing pair, sets its positions.
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

    /// Calls `body` with every pair once, by owner and destination.
    func forEach(_ body: (Int64, Int64, Int64?, Int64?) throws -> Void) rethrows {
        for (owner, members) in destinations.sorted(by: { $0.key < $1.key }) {
            for (destination, order) in members.sorted(by: { $0.key < $1.key }) {
                try body(owner, destination, order, owners[destination]?[owner] ?? nil)
            }
        }
    }

    /// Returns the position of a key among the other ends of an owner's or a destination's pairs.
    func order(of key: Int64, beside end: Int64, fromDestination: Bool) -> Int64? {
        (fromDestination ? owners : destinations)[end]?[key] ?? nil
    }

    /// Returns the other ends of an owner's or a destination's pairs, by position and key.
    func others(of key: Int64, fromDestination: Bool) -> [Int64] {
        let found = (fromDestination ? owners : destinations)[key] ?? [:]
        return found.sorted { ($0.value ?? .min, $0.key) < ($1.value ?? .min, $1.key) }.map(\.key)
    }
}
