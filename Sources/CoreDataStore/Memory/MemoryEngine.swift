import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import Synchronization

/// A source whose rows are in memory, in plain Swift: the base of stores that are read and written as a whole.
///
///     let source = MemoryEngine(model: model)
///     _ = try source.save(keys: [item.root: 1]) { keys in … }
///
/// Readers see the rows of the last save and do not wait for a running save. A save copies the tables that it changes
/// if readers still use them.
///
/// Derived attributes are set by each save. Predicates have the same meaning as in SQL, since tests compare the
/// evaluator with the SQL engine.
package final class MemoryEngine: RowSource {
    let model: CompiledModel
    package let identifier: String
    package let isReadOnly: Bool
    package let clock: StoreClock
    /// Empty: the graph itself contains every row.
    package let rowCache: RowCache
    private let entities: Set<Int>
    private let derivations: MemoryDerivations
    /// Whether keys are unique over all entities, and not only within each hierarchy.
    package let sharesKeys: Bool
    /// The backing that makes the rows persistent, if any.
    package let backing: (any MemoryBacking)?

    private typealias State = MemoryContents

    private let state: Mutex<State>
    /// Held during a save.
    private let writing = NSRecursiveLock()

    /// Makes an empty source.
    ///
    /// - Parameter entities: ordinals of its entities; `nil` for all.
    /// - Throws: ``StoreFailure`` for a model with a derived attribute that cannot be computed.
    package convenience init(
        model: CompiledModel, entities: [Int]? = nil, identifier: String = UUID().uuidString,
        metadata: StoreMetadata = StoreMetadata(propertyList: Data()), isReadOnly: Bool = false,
        clock: StoreClock = .system
    ) throws {
        var contents = MemoryContents(model: model, identifier: identifier)
        contents.metadata = metadata
        try self.init(contents, entities: entities, isReadOnly: isReadOnly, clock: clock)
    }

    /// Makes a source with these rows, which `backing` stores from then on.
    package init(
        _ contents: MemoryContents, entities: [Int]? = nil, isReadOnly: Bool = false, sharesKeys: Bool = false,
        backing: (any MemoryBacking)? = nil, clock: StoreClock = .system
    ) throws {
        model = contents.graph.model
        let entities = Set(entities ?? Array(model.entities.indices))
        self.entities = entities
        derivations = try MemoryDerivations(model: model, entities: entities)
        identifier = contents.identifier
        self.isReadOnly = isReadOnly
        self.clock = clock
        self.sharesKeys = sharesKeys
        self.backing = backing
        rowCache = RowCache(model: model)
        state = Mutex(contents)
    }

    package var traits: SourceTraits { SourceTraits(holdsAllRows: true, writesWhole: true) }

    package func includes(entity: Int) -> Bool { entities.contains(entity) }
    package func root(ofEntity entity: Int) -> Int { model.entities[entity].root }
    package func number(ofEntity entity: Int) -> Int64 { includes(entity: entity) ? Int64(entity) + 1 : 0 }
    package func entity(numbered number: Int64) -> Int? {
        guard number > 0, number <= model.entities.count else { return nil }
        let entity = Int(number) - 1
        return includes(entity: entity) ? entity : nil
    }

    /// The current rows.
    var graph: MemoryGraph { state.withLock { $0.graph } }

    // MARK: Rows by key

    package func heldRow(_ primaryKey: Int64, root: Int, staleness: Double) throws -> HeldRow? {
        cachedRow(primaryKey, root: root, staleness: staleness)
    }

    package func heldRows(_ primaryKeys: [Int64], root: Int, staleness: Double) throws -> RowList {
        let graph = graph
        let found = RowList()
        for key in primaryKeys { found.append(graph.heldRow(key, root: root)) }
        return found
    }

    package func cachedRow(_ primaryKey: Int64, root: Int, staleness: Double) -> HeldRow? {
        graph.heldRow(primaryKey, root: root)
    }

    package func destinationRows(
        entity: Int, slot: Int, owners: [Int64]
    ) throws -> [(owner: Int64, rows: [RowSnapshot])] {
        let compiled = model.entities[entity]
        guard compiled.properties.indices.contains(slot), compiled.properties[slot].relationship?.isToMany == true
        else {
            let name = compiled.properties.indices.contains(slot) ? compiled.properties[slot].name : "\(slot)"
            throw PredicateFailure(
                .unsupported, Diagnostic(.error, "'\(name)' of entity '\(compiled.name)' is no to-many relationship"))
        }
        let graph = graph
        var seen: Set<Int64> = []
        return owners.filter { seen.insert($0).inserted }
            .map { ($0, graph.members(of: $0, entity: entity, slot: slot)) }
    }

    package func pairOrders(
        entity: Int, slot: Int, pairs: [MemberPair], owners: [Int64]
    ) throws -> [MemberPair: Int64]? {
        let graph = graph
        var found: [MemberPair: Int64] = [:]
        for pair in pairs { found[pair] = graph.order(of: pair, entity: entity, slot: slot) }
        for owner in owners {
            for key in graph.pairedKeys(of: owner, entity: entity, slot: slot) ?? [] {
                let pair = MemberPair(owner: owner, destination: key)
                found[pair] = graph.order(of: pair, entity: entity, slot: slot)
            }
        }
        return found
    }

    // MARK: Values

    /// Returns the bytes: rows contain all their values.
    package func bytes(ofStored stored: UnsafeRawBufferPointer) throws -> Data { Data(stored) }

    package func key(ofRowStoring stored: Data, slot: Int, entity: Int) -> RowKey? { nil }

    // MARK: Saving

    package func allocateKeys(root: Int, count: Int) throws -> ClosedRange<Int64> {
        try checkWritable()
        return try state.withLock { try takeKeys(root, count, &$0) }
    }

    private func takeKeys(_ root: Int, _ count: Int, _ state: inout State) throws -> ClosedRange<Int64> {
        let last =
            sharesKeys
            ? max(state.lastKeys.values.max() ?? 0, state.graph.highestKey)
            : max(state.lastKeys[root] ?? 0, state.graph.highestKey(root: root))
        let (end, isTooMuch) = last.addingReportingOverflow(Int64(count))
        guard !isTooMuch else {
            throw StoreFailure(
                .incompleteSchema, "The primary keys of entity '\(model.entities[root].name)' are used up.",
                entity: model.entities[root].name)
        }
        state.lastKeys[root] = end
        return (last + 1)...end
    }

    package func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet, beforeCommit: (() throws -> Void)?
    ) throws -> SaveOutcome {
        try checkWritable()
        writing.lock()
        defer { writing.unlock() }
        let before = state.withLock { $0.lastKeys }
        do {
            let ranges = try state.withLock { state in
                var ranges: [Int: ClosedRange<Int64>] = [:]
                for (root, count) in keys where count > 0 { ranges[root] = try takeKeys(root, count, &state) }
                return ranges
            }
            let changes = try build(ranges)
            var graph = graph
            let save = MemorySave(graph: graph)
            if let failure = save.failure(of: changes) { throw failure }
            try save.checkKeys(changes)
            try beforeCommit?()
            let derivedRows = graph.apply(changes, derivations, now: clock.now)
            if let backing, changes.writesAnything, !state.withLock({ $0.isWrittenLater }) {
                var contents = state.withLock { $0 }
                contents.graph = graph
                if let metadata = changes.metadata { contents.metadata = metadata }
                try backing.write(contents, after: changes)
            }
            state.withLock { state in
                state.graph = graph
                if let metadata = changes.metadata { state.metadata = metadata }
            }
            for key in changes.updates.map(\.old.key) + changes.deletions.map(\.key) + derivedRows {
                save.graph.row(key.primaryKey, root: model.entities[key.entity].root)?.supersede()
            }
            return SaveOutcome(keys: ranges, derivedRows: derivedRows)
        } catch {
            state.withLock { $0.lastKeys = before }
            throw error
        }
    }

    package func metadata() throws -> MetadataRow {
        MetadataRow(identifier: identifier, metadata: state.withLock { $0.metadata })
    }

    private func checkWritable() throws {
        if isReadOnly { throw StoreFailure(.readOnly, "The store is open for reading only.") }
    }

    package func close() {
        state.withLock { $0.graph = MemoryGraph(model: model) }
        backing?.close()
    }

    /// Runs saves that are written together at the end; if one fails, none is written.
    package func writingOnce(_ body: () throws -> Void) throws {
        try checkWritable()
        writing.lock()
        defer { writing.unlock() }
        let before = contents
        state.withLock { $0.isWrittenLater = true }
        do {
            try body()
            state.withLock { $0.isWrittenLater = false }
            try backing?.write(contents, after: ChangeSet())
        } catch {
            state.withLock { $0 = before }
            throw error
        }
    }

    /// Sets the content that was read, before other code uses the source.
    package func begin(with contents: MemoryContents) { state.withLock { $0 = contents } }

    /// The current content.
    package var contents: MemoryContents { state.withLock { $0 } }
}

/// The content of a ``MemoryEngine`` after a save, as a value.
package struct MemoryContents: Sendable {
    package var identifier: String
    package var metadata = StoreMetadata(propertyList: Data())
    /// The last assigned key, by root entity.
    var lastKeys: [Int: Int64] = [:]
    var graph: MemoryGraph
    /// Whether saves are not written one by one.
    fileprivate var isWrittenLater = false

    package init(model: CompiledModel, identifier: String = UUID().uuidString) {
        self.identifier = identifier
        graph = MemoryGraph(model: model)
    }

    /// The keys of all rows.
    package var keys: [RowKey] {
        graph.model.entities.indices.flatMap { graph.rows(of: $0, includesSubentities: false).map(\.key) }
    }
}

/// Stores the rows of a ``MemoryEngine`` persistently.
package protocol MemoryBacking: AnyObject, Sendable {
    /// Writes the engine's next content completely or not at all; the engine adopts it when this returns.
    func write(_ contents: MemoryContents, after changes: ChangeSet) throws
    func close()
}

/// Stores the rows in a file, which can be moved.
package protocol FileBacking: MemoryBacking {
    /// See ``MovableSource/move(to:)``.
    func move(to path: String) throws
}

extension MemoryGraph {
    /// Applies the changes; returns the rows whose derived attributes were set.
    fileprivate mutating func apply(
        _ changes: ChangeSet, _ derivations: MemoryDerivations, now: Double
    ) -> [RowKey] {
        var done: [MemoryDerivations.Change] = []
        done.reserveCapacity(changes.deletions.count + changes.updates.count + changes.insertions.count)
        for link in changes.links where link.kind == .remove { apply(link) }
        for deletion in changes.deletions {
            let old = row(deletion.key.primaryKey, root: model.entities[deletion.key.entity].root)
            remove(deletion.key)
            done.append(.init(old: old, new: nil))
        }
        for update in changes.updates {
            let old = row(update.new.primaryKey, root: model.entities[update.new.entity].root)
            let new = derivations.keepingDerived(update.new, of: self)
            put(new)
            done.append(.init(old: old, new: new))
        }
        for insertion in changes.insertions {
            let new = derivations.keepingDerived(insertion.row, of: self)
            put(new)
            done.append(.init(old: nil, new: new))
        }
        for link in changes.links where link.kind == .insert { apply(link) }
        return derivations.update(&self, after: done, links: changes.links, now: now)
    }
}
