import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Recovers the readable content of a damaged single-file store to a new store of the same type.
///
/// Objects before the damage are complete; references to lost objects become nil.
package struct AtomicRecovery {
    private let model: CompiledModel
    private let old: MemoryGraph
    private var findings: [Int: StoreRecovery.Finding] = [:]

    private init(_ model: CompiledModel, _ old: MemoryGraph) {
        self.model = model
        self.old = old
    }

    /// Creates a store with the readable content of another.
    ///
    /// - Throws: if nothing can be read, or the new file cannot be created.
    package static func recover(
        _ format: any AtomicFormat.Type, model: CompiledModel, configuration: String?, from path: String,
        to newPath: String
    ) throws -> StoreRecovery.Outcome {
        guard let members = model.entities(inConfiguration: configuration) else {
            throw StoreFailure(.unknownConfiguration, "The model has no configuration '\(configuration ?? "")'.")
        }
        let entities = members.map(\.ordinal)
        try format.check(model, entities: entities)
        let data = try AtomicFile(path: path).read().data
        let (found, notes) = try format.salvage(data, model: model, entities: entities, path: path)
        var recovery = AtomicRecovery(model, found.graph)
        for entity in entities where !model.entities[entity].isAbstract {
            recovery.findings[entity] = .init(entity: model.entities[entity].name)
        }
        var contents = MemoryContents(model: model)
        contents.metadata = try StoreMetadata.made(for: model, entities: entities, type: format.storeType)
        contents.lastKeys = found.lastKeys
        contents.graph = recovery.cleaned()
        _ = try AtomicFile(path: newPath).create { try format.write(contents, entities: entities, to: $0) }
        return StoreRecovery.Outcome(findings: entities.compactMap { recovery.findings[$0] }, notes: notes)
    }

    private mutating func cleaned() -> MemoryGraph {
        var graph = MemoryGraph(model: model)
        for root in old.roots {
            for row in old.rows(root: root) {
                graph.put(cleaned(row))
                findings[row.entity]?.rows += 1
            }
        }
        for side in old.pairedSides {
            let property = model.entities[side.entity].properties[side.slot]
            guard let destination = property.relationship?.destination else { continue }
            let roots = (model.entities[side.entity].root, model.entities[destination].root)
            old.forEachPair(entity: side.entity, slot: side.slot) { owner, member, order, inverseOrder in
                guard old.row(owner, root: roots.0) != nil, old.row(member, root: roots.1) != nil else { return }
                graph.apply(
                    ChangeSet.Link(
                        .insert, entity: side.entity, slot: side.slot, owner: owner, destination: member, order: order,
                        inverseOrder: inverseOrder))
            }
        }
        return graph
    }

    /// Returns the row without to-ones to lost rows.
    private mutating func cleaned(_ row: RowSnapshot) -> RowSnapshot {
        let entity = model.entities[row.entity]
        let layout = entity.rowLayout
        var lost: Set<Int> = []
        for (index, column) in layout.columns.enumerated() where !row.isNull(index) {
            switch column.role {
            case .destinationKey(let slot):
                let target = entity.properties[slot].relationship?.destination ?? entity.ordinal
                guard old.row(row.integer(index), root: model.entities[target].root) == nil else { continue }
                findings[row.entity]?.lostReferences += 1
                lost.formUnion([index, layout.entityColumnOfSlot[slot], layout.orderColumnOfSlot[slot]])
            case .ownerKey(let owner, _):
                if old.row(row.integer(index), root: model.entities[owner].root) == nil { lost.insert(index) }
            default: continue
            }
        }
        guard !lost.isEmpty else { return row }
        let builder = RowBuilder(columnCount: layout.columns.count)
        for index in layout.columns.indices where !lost.contains(index) && !row.isNull(index) {
            builder.copy(index, kind: layout.kinds[index], from: row)
        }
        return builder.finish(primaryKey: row.primaryKey, version: row.version, entity: row.entity)
    }
}
