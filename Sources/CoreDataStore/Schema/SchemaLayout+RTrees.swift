import CoreDataModel
import CoreDataSQL

extension SchemaLayout {
    /// Returns the R-trees of a store in Apple's form: one for each fetch index whose elements are all of the R-tree
    /// type, in the order of the indexes.
    ///
    ///     index byPlace of Shop on x, y      // Z_RT_Shop_byPlace, with three triggers on ZSHOP
    ///
    /// An ordinary index is used where an R-tree is impossible: for values that are not numbers, more than five
    /// elements, duplicate elements, and partial indexes. The same holds in stores with the model's names.
    package func rTrees() throws -> [CreateRTree] {
        let entities = entities.filter { model.entities[$0].fetchIndexes.contains(where: \.isRTree) }
        guard naming == .apples, !entities.isEmpty else { return [] }
        var used = Set((tables.map(\.name) + joinTables.map(\.name)).map { $0.lowercased() })
        var trees: [CreateRTree] = []
        for table in tables {
            let columns = Dictionary(
                table.columns.map { ($0.key, $0.name) }, uniquingKeysWith: { first, _ in first })
            for ordinal in entities where model.entities[ordinal].root == table.root {
                let entity = model.entities[ordinal]
                for index in entity.fetchIndexes where index.isRTree {
                    guard index.predicate == nil, canBeTree(index, of: entity),
                        let ordinary = try fetchIndex(index, of: entity, table: table, columns: columns)
                    else { continue }
                    let tree = CreateRTree(
                        CreateRTree.prefix + "\(entity.name)_\(index.name)", on: table.name,
                        ordinary.columns.map(\.name), otherwise: ordinary)
                    // SQLite creates additional tables, whose names may be in use.
                    let names = tree.takenNames.map { $0.lowercased() }
                    guard used.isDisjoint(with: names) else { continue }
                    used.formUnion(names)
                    trees.append(tree)
                }
            }
        }
        return trees
    }

    private func canBeTree(_ index: CompiledFetchIndex, of entity: CompiledEntity) -> Bool {
        let slots = index.elements.compactMap(\.slot)
        return slots.count == index.elements.count && Set(slots).count == slots.count
            && slots.count <= CreateRTree.maximumColumns
            && slots.allSatisfy { slot in
                switch entity.properties[slot].attribute?.type.kind {
                case .integer?, .real?, .single?, .date?: true
                default: false
                }
            }
    }
}
