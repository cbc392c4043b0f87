import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import Synchronization

/// A source whose rows are in memory, in plain Swift: what stores can stand on that are read and written as a whole.
///
///     let source = MemoryEngine(model: model)
///     _ = try source.save(keys: [item.root: 1]) { keys in … }
///
/// Readers see the rows as the last save left them and do not wait for one that runs. A save copies the tables that it
/// changes where somebody still reads them.
///
/// Predicates mean what they mean in SQL, since the evaluator is what the SQL engine is tested against.
package final class MemoryEngine: RowSource {
    let model: CompiledModel
    package let identifier: String
    package let isReadOnly: Bool
    /// Empty: the graph itself has every row.
    package let rowCache: RowCache
    private let entities: Set<Int>

    private struct State: Sendable {
        var graph: MemoryGraph
        /// The last key that was given out, by root entity.
        var lastKeys: [Int: Int64] = [:]
        var metadata: StoreMetadata
    }

    private let state: Mutex<State>
    /// Held while somebody saves.
    private let writing = NSRecursiveLock()

    /// An empty source.
    ///
    /// - Parameter entities: ordinals of the entities that it has; all for `nil`.
    package init(
        model: CompiledModel, entities: [Int]? = nil, identifier: String = UUID().uuidString,
        metadata: StoreMetadata = StoreMetadata(propertyList: Data()), isReadOnly: Bool = false
    ) {
        self.model = model
        self.entities = Set(entities ?? Array(model.entities.indices))
        self.identifier = identifier
        self.isReadOnly = isReadOnly
        rowCache = RowCache(roots: model.entities.map(\.root))
        state = Mutex(State(graph: MemoryGraph(model: model), metadata: metadata))
    }

    package func includes(entity: Int) -> Bool { entities.contains(entity) }
    package func root(ofEntity entity: Int) -> Int { model.entities[entity].root }
    package func number(ofEntity entity: Int) -> Int64 { includes(entity: entity) ? Int64(entity) + 1 : 0 }
    package func entity(numbered number: Int64) -> Int? {
        let entity = Int(truncatingIfNeeded: number) - 1
        return model.entities.indices.contains(entity) && includes(entity: entity) ? entity : nil
    }

    /// The rows as they are now.
    var graph: MemoryGraph { state.withLock { $0.graph } }

    // MARK: By key

    package func rowWord(_ primaryKey: Int64, root: Int, staleness: Double) throws -> UInt {
        cachedWord(primaryKey, root: root, staleness: staleness)
    }

    package func rowWords(_ primaryKeys: [Int64], root: Int, staleness: Double) throws -> [UInt] {
        let graph = graph
        return primaryKeys.map { graph.row($0, root: root)?.retainedWord() ?? 0 }
    }

    package func cachedWord(_ primaryKey: Int64, root: Int, staleness: Double) -> UInt {
        graph.row(primaryKey, root: root)?.retainedWord() ?? 0
    }

    package func destinationRows(
        entity: Int, slot: Int, owners: [Int64]
    ) throws -> [(owner: Int64, rows: [RowSnapshot])] {
        let graph = graph
        return owners.map { ($0, graph.members(of: $0, entity: entity, slot: slot)) }
    }

    // MARK: Values

    /// Rows have all their bytes in them.
    package func bytes(ofStored stored: UnsafeRawBufferPointer) throws -> Data { Data(stored) }

    package func key(ofRowStoring stored: Data, slot: Int, entity: Int) -> RowKey? { nil }

    // MARK: Saving

    package func allocateKeys(root: Int, count: Int) throws -> ClosedRange<Int64> {
        try checkWritable()
        return state.withLock { Self.takeKeys(root, count, &$0) }
    }

    private static func takeKeys(_ root: Int, _ count: Int, _ state: inout State) -> ClosedRange<Int64> {
        let first = (state.lastKeys[root] ?? 0) + 1
        state.lastKeys[root] = first + Int64(count) - 1
        return first...(first + Int64(count) - 1)
    }

    @discardableResult
    package func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet
    ) throws -> SaveOutcome {
        try checkWritable()
        writing.lock()
        defer { writing.unlock() }
        let before = state.withLock { $0.lastKeys }
        do {
            let ranges = state.withLock { state in
                var ranges: [Int: ClosedRange<Int64>] = [:]
                for (root, count) in keys where count > 0 { ranges[root] = Self.takeKeys(root, count, &state) }
                return ranges
            }
            let changes = try build(ranges)
            var graph = graph
            if let failure = MemorySave(graph: graph).failure(of: changes) { throw failure }
            graph.apply(changes)
            state.withLock { state in
                state.graph = graph
                if let metadata = changes.metadata { state.metadata = metadata }
            }
            return SaveOutcome(keys: ranges, derivedRows: [])
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

    package func close() { state.withLock { $0.graph = MemoryGraph(model: model) } }
}

extension MemoryGraph {
    fileprivate mutating func apply(_ changes: ChangeSet) {
        for link in changes.links where link.kind == .remove { apply(link) }
        for deletion in changes.deletions { remove(deletion.key) }
        for update in changes.updates { put(update.new) }
        for insertion in changes.insertions { put(insertion.row) }
        for link in changes.links where link.kind == .insert { apply(link) }
    }
}
