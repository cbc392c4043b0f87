import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Reads a store as an accessor may: without hidden rows, and with NULL for hidden values.
///
/// ```
///  context ──▶ RestrictedSource ──plan with security──▶ the store, or its generation
/// ```
/// Every read becomes a statement with the rules, because whether a cached row may be read can depend on other rows.
/// Only entities whose rows and values may all be read use the cache of rows. Rows with hidden values are not cached.
final class RestrictedSource: ReadableSource {
    private let base: any ReadableSource
    private let access: CompiledAccess
    /// The reason why nothing can be read, for a store that does not apply security.
    private let refusal: AccessError?

    private var model: CompiledModel { access.model }

    init(_ base: any ReadableSource, _ access: CompiledAccess, refusal: AccessError?) {
        self.base = base
        self.access = access
        self.refusal = refusal
    }

    var identifier: String { base.identifier }
    var rowCache: RowCache { base.rowCache }

    func includes(entity: Int) -> Bool { base.includes(entity: entity) }
    func root(ofEntity entity: Int) -> Int { base.root(ofEntity: entity) }
    func number(ofEntity entity: Int) -> Int64 { base.number(ofEntity: entity) }
    func entity(numbered number: Int64) -> Int? { base.entity(numbered: number) }

    private func check() throws { if let refusal { throw refusal } }

    // MARK: Fetching

    private func secured(_ plan: FetchPlan) throws -> FetchPlan {
        try check()
        var plan = plan
        plan.security = access.security
        return plan
    }

    func fetchRows(_ plan: FetchPlan, _ take: (RowList) throws -> Void) throws {
        try base.fetchRows(secured(plan), take)
    }

    func keys(_ plan: FetchPlan) throws -> [RowKey] { try base.keys(secured(plan)) }
    func count(_ plan: FetchPlan) throws -> Int { try base.count(secured(plan)) }

    func forEachTuple(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?, _ body: (FetchTuple) throws -> Void
    ) throws {
        try base.forEachTuple(
            secured(plan), columns: columns, distinct: distinct, groupBy: groupBy, having: having, body)
    }

    func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R {
        try base.stopping(when: isStopped, body)
    }

    // MARK: Words

    func wordColumns(ofEntity entity: Int) -> WordColumns? { base.wordColumns(ofEntity: entity) }

    /// The index has the texts of all rows: texts with a rule of their own are not searched in it.
    func wordMatches(_ plan: FetchPlan, _ search: WordSearch) throws -> WordMatches? {
        let subtree = model.entities[plan.entity].subtree
        let hidden = search.slots.map { slot in
            subtree.contains { access.security.properties[$0][slot] != nil }
        }
        guard hidden.contains(true) else { return try base.wordMatches(secured(plan), search) }
        let plan = try secured(plan)
        var own = search
        own.slots = zip(search.slots, hidden).filter { !$0.1 }.map(\.0)
        own.weights = zip(search.weights, hidden).filter { !$0.1 }.map(\.0)
        guard !own.slots.isEmpty else { return WordMatches() }
        guard var matches = try base.wordMatches(plan, own) else { return nil }
        func widened(_ texts: [String?]) -> [String?] {
            var rest = texts[...]
            return hidden.map { $0 ? nil : rest.popFirst() ?? nil }
        }
        for index in matches.matches.indices {
            matches.matches[index].excerpts = widened(matches.matches[index].excerpts)
        }
        for index in matches.unindexed.indices {
            matches.unindexed[index].texts = widened(matches.unindexed[index].texts)
        }
        return matches
    }

    // MARK: Rows by key

    func heldRow(_ primaryKey: Int64, root: Int, staleness: Double) throws -> HeldRow? {
        try check()
        if access.isOpen(root) { return try base.heldRow(primaryKey, root: root, staleness: staleness) }
        return try heldRows([primaryKey], root: root, staleness: staleness).take(0)
    }

    func heldRows(_ primaryKeys: [Int64], root: Int, staleness: Double) throws -> RowList {
        try check()
        if access.isOpen(root) { return try base.heldRows(primaryKeys, root: root, staleness: staleness) }
        let found = RowList()
        var places: [Int64: [Int]] = [:]
        for (index, key) in primaryKeys.enumerated() {
            found.append(nil)
            if key > 0 { places[key, default: []].append(index) }
        }
        try forEachRow(Array(places.keys), root: root) { row in
            for place in places[row.primaryKey] ?? [] { found.put(HeldRow(row), at: place) }
        }
        return found
    }

    /// Calls `body` with the rows that may be read.
    private func forEachRow(_ keys: [Int64], root: Int, _ body: (RowSnapshot) -> Void) throws {
        for part in keys.sorted().portions(of: 500) {
            var plan = FetchPlan(entity: root)
            plan.predicate = .rows(part.map { RowKey(entity: root, primaryKey: $0) })
            try base.fetchRows(secured(plan)) { rows in
                for index in rows.indices where rows.hasRow(index) { body(rows[index]) }
            }
        }
    }

    func cachedRow(_ primaryKey: Int64, root: Int, staleness: Double) -> HeldRow? {
        guard refusal == nil, access.isOpen(root) else { return nil }
        return base.cachedRow(primaryKey, root: root, staleness: staleness)
    }

    func destinationRows(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, rows: [RowSnapshot])] {
        try check()
        let property = model.entities[entity].properties[slot]
        guard let relationship = property.relationship else { return [] }
        let hasRule = model.entities[entity].subtree.contains { access.security.properties[$0][slot] != nil }
        let root = model.entities[relationship.destination].root
        if !hasRule, access.security.readsAllRows(of: entity), access.isOpen(root) {
            return try base.destinationRows(entity: entity, slot: slot, owners: owners)
        }
        let readable = try readableOwners(owners, entity: entity, slot: slot)
        let members = try memberKeys(entity: entity, slot: slot, owners: owners.filter(readable.contains))
        var rows: [Int64: RowSnapshot] = [:]
        try forEachRow(Array(Set(members.values.joined())), root: root) { rows[$0.primaryKey] = $0 }
        var seen: Set<Int64> = []
        return owners.filter { seen.insert($0).inserted }.map { owner in
            (owner: owner, rows: (members[owner] ?? []).compactMap { rows[$0] })
        }
    }

    /// Returns the keys of all members, hidden or not, in their order.
    private func memberKeys(entity: Int, slot: Int, owners: [Int64]) throws -> [Int64: [Int64]] {
        guard !owners.isEmpty else { return [:] }
        let members =
            if let source = base as? any MemberKeySource {
                try source.destinationKeys(entity: entity, slot: slot, owners: owners).map {
                    ($0.owner, $0.keys.map(\.primaryKey))
                }
            } else {
                try base.destinationRows(entity: entity, slot: slot, owners: owners).map {
                    ($0.owner, $0.rows.map(\.primaryKey))
                }
            }
        return Dictionary(members, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the owners that may be read, and of which the relationship may be read.
    private func readableOwners(_ owners: [Int64], entity: Int, slot: Int) throws -> Set<Int64> {
        var readable: Set<Int64> = []
        for part in owners.portions(of: 500) {
            var plan = FetchPlan(entity: entity)
            plan.predicate = .rows(part.map { RowKey(entity: entity, primaryKey: $0) })
            let keys = try base.keys(secured(plan))
            for (entity, keys) in Dictionary(grouping: keys, by: \.entity) {
                guard let rule = access.security.properties[entity][slot] else {
                    readable.formUnion(keys.map(\.primaryKey))
                    continue
                }
                readable.formUnion(try base.keys(of: keys, where: rule).map(\.primaryKey))
            }
        }
        return readable
    }

    // MARK: Values

    func bytes(ofStored stored: UnsafeRawBufferPointer) throws -> Data { try base.bytes(ofStored: stored) }
    /// It would name any row with the value.
    func key(ofRowStoring stored: Data, slot: Int, entity: Int) -> RowKey? { nil }
}

extension RuleCompiler {
    /// Returns those of the keys, all of one entity, whose rows satisfy the condition; it reads all rows.
    static func keys(
        of keys: [RowKey], where condition: PredicateNode, _ read: (FetchPlan) throws -> [RowKey]
    ) throws -> Set<RowKey> {
        if case .constant(false) = condition { return [] }
        var found: Set<RowKey> = []
        for part in keys.portions(of: 500) {
            guard let entity = part.first?.entity else { continue }
            var plan = FetchPlan(entity: entity)
            plan.includesSubentities = false
            plan.predicate = and([.rows(part), condition])
            found.formUnion(try read(plan))
        }
        return found
    }
}

extension ReadableSource {
    /// Returns those of the keys, all of one entity, whose rows satisfy the condition; it reads all rows.
    func keys(of keys: [RowKey], where condition: PredicateNode) throws -> Set<RowKey> {
        try RuleCompiler.keys(of: keys, where: condition) { try self.keys($0) }
    }
}

extension TransactionReading {
    /// Returns those of the keys, all of one entity, whose rows satisfy the condition; it reads all rows.
    func keys(of keys: [RowKey], where condition: PredicateNode) throws -> Set<RowKey> {
        try RuleCompiler.keys(of: keys, where: condition) { try self.keys($0) }
    }
}

extension Array {
    /// Returns the elements in arrays of at most that many.
    func portions(of size: Int) -> [[Element]] {
        if count <= size { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
