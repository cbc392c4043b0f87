import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// A counter and items, in a store that is one file; save *k* inserts item *k* and counts it.
struct FileShop {
    private let engine: MemoryEngine
    private let model: CompiledModel

    init(path: String, format: String) throws {
        func attribute(_ name: String) -> PropertyElement {
            var property = PropertyElement(name: name, kind: .attribute(AttributeElement(type: .integer64)))
            property.isOptional = true
            return property
        }
        var document = ModelDocument()
        document.entities = ["Counter", "Item"].map { name in
            var entity = EntityElement(name: name)
            entity.properties = [attribute("number")]
            return entity
        }
        model = try ModelCompiler.compile(document)
        let kind: any AtomicFormat.Type = format == "xml" ? XMLStoreFormat.self : BinaryStoreFormat.self
        engine = try AtomicStore.open(kind, model: model, options: AtomicStore.Options(path: path))
    }

    private func ordinal(_ name: String) -> Int { model.ordinalByName[name] ?? 0 }

    private func rows(_ name: String) throws -> [RowSnapshot] {
        var rows: [RowSnapshot] = []
        try engine.fetchRows(FetchPlan(entity: ordinal(name))) { rows += $0 }
        return rows
    }

    private func row(_ name: String, _ key: Int64, _ version: Int32, _ number: Int64) -> RowSnapshot {
        let builder = RowBuilder(columnCount: 1)
        builder.setInteger(number, at: 0)
        return builder.finish(primaryKey: key, version: version, entity: ordinal(name))
    }

    /// What the counter says, and how many items there are: the same, after every save.
    func told() throws -> (counter: Int64, items: Int) {
        (try rows("Counter").first?.integer(0) ?? 0, try rows("Item").count)
    }

    func saveNext() throws -> Int64 {
        let old = try rows("Counter").first
        let number = (old?.integer(0) ?? 0) + 1
        _ = try engine.save(keys: [ordinal("Item"): 1, ordinal("Counter"): 1]) { keys in
            var changes = ChangeSet()
            changes.insertions = [
                .init(row: row("Item", keys[ordinal("Item")]?.lowerBound ?? 0, 1, number))
            ]
            if let old {
                let new = row("Counter", old.primaryKey, old.version + 1, number)
                changes.updates = [.init(old: old, new: new)]
            } else {
                changes.insertions.append(
                    .init(row: row("Counter", keys[ordinal("Counter")]?.lowerBound ?? 0, 1, number)))
            }
            return changes
        }
        return number
    }
}
