import CoreDataModel
import CoreDataSQL
import Foundation

/// A deferred part of a migration, stored in the store's metadata.
package enum DeferredTask: Hashable, Sendable {
    /// A table has columns of removed properties, or columns in another order than a new store: it must be rebuilt.
    case rebuild(table: String)
    /// The table of removed entities, or the old version of a rebuilt table, still exists.
    case drop(table: String)

    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "rebuild": self = .rebuild(table: parts[1])
        case "drop": self = .drop(table: parts[1])
        default: return nil
        }
    }

    var text: String {
        switch self {
        case .rebuild(let table): "rebuild \(table)"
        case .drop(let table): "drop \(table)"
        }
    }
}

extension StoreMetadata {
    /// The deferred tasks in their order of execution.
    package var deferredTasks: [DeferredTask] {
        (dictionary[Key.deferredTasks] as? [String] ?? []).compactMap(DeferredTask.init)
    }

    /// Returns the metadata with other tasks; the flag that users see is removed with the last task.
    package func deferring(_ tasks: [DeferredTask]) throws -> StoreMetadata {
        var dictionary = dictionary
        dictionary[Key.deferredTasks] = tasks.isEmpty ? nil : tasks.map(\.text)
        dictionary[Key.isDeferring] = tasks.isEmpty ? nil : true
        return try StoreMetadata(dictionary: dictionary)
    }
}

// Deferral. A table that need not be copied remains: new columns are added after the existing ones, and columns of
// removed properties remain unused. Tables that would be dropped remain too.
extension MigrationPlanner {
    /// Returns whether the rows can remain in a table that differs from that of a new store.
    func canWait(_ flow: MigrationFlow) -> Bool {
        guard defers || dialect.altersTables, let old = flow.oldTable, old == flow.table.name,
            ([flow.number] + flow.values).allSatisfy({ !$0.readsTables })
        else { return false }
        let present = source.columns[old.uppercased()] ?? []
        return zip(flow.table.columns, flow.values).allSatisfy { column, value in
            // An existing column with the name must have the expected content, considering remains of older versions
            // too.
            !present.contains(column.name.uppercased())
                || value.keeps(Self.column(column.name)) && isOfType(column, in: old)
        }
    }

    private func isOfType(_ column: SchemaColumn, in table: String) -> Bool {
        dialect.keepsTexts || source.types[table]?[column.name] == dialect.catalogTypes[column.type]
    }

    /// Returns the columns of such a table that only the older model has; columns that another program added remain.
    func droppedColumns(of flow: MigrationFlow) -> [MigrationStep] {
        guard let root = flow.members.first.map({ oldModel.entities[$0.old].root }),
            let old = source.schema.table(ofRoot: root)
        else { return [] }
        let wanted = Set(flow.table.columns.map(\.name))
        return old.columns.filter { !wanted.contains($0.name) }.map { column in
            MigrationStep(
                .change(.dropColumn(column.name, of: flow.table.name)),
                "drop the old column \(flow.table.name).\(column.name)",
                subject: newModel.entities[flow.table.root].name)
        }
    }

    /// Returns the columns that such a table lacks.
    func additions(to flow: MigrationFlow) -> [MigrationStep] {
        let present = source.columns[flow.table.name.uppercased()] ?? []
        let wanted = target.createTable(flow.table).columns
        return wanted.filter { !present.contains($0.name.uppercased()) }.map { column in
            MigrationStep(
                .change(.addColumn(column, to: flow.table.name)), "add the column \(flow.table.name).\(column.name)",
                subject: newModel.entities[flow.table.root].name)
        }
    }

    /// Returns the steps for unused tables: their indexes are dropped, because their names may be needed.
    func leavings(_ tables: [String]) -> [MigrationStep] {
        let left = Set(tables.map { $0.uppercased() })
        return source.parts.filter { $0.kind == .index && $0.text != nil && left.contains($0.table.uppercased()) }.map {
            MigrationStep(.change(.dropIndex($0.name)), "drop the old index \($0.name)")
        }
    }

    /// Returns the steps for remains of earlier migrations, whose table names may be needed.
    func earlierLeavings() -> [MigrationStep] {
        source.metadata.metadata.deferredTasks.compactMap { task in
            guard case .drop(let table) = task, isLeft(table) else { return nil }
            return MigrationStep(.change(.dropTable(table)), "drop the old table \(table)")
        }
    }

    /// Returns whether a table exists without an entity.
    func isLeft(_ table: String) -> Bool {
        let used = source.schema.layout.entities.compactMap { $0?.table } + source.schema.joinTables.map(\.name)
        return source.tables[table.uppercased()] != nil && !used.contains { $0.uppercased() == table.uppercased() }
            && !table.uppercased().hasPrefix("Z_METADATA") && !table.uppercased().hasPrefix("Z_PRIMARYKEY")
    }

    // MARK: Finishing

    /// Returns the steps that give a table the form of a new store; empty if it has it.
    func rebuild(_ name: String) throws -> [MigrationStep] {
        guard source.schema.numbers == target.numbers else { return [] }
        let flows = try target.tables.map { try flow(to: $0) }
        guard let flow = flows.first(where: { $0.table.name.uppercased() == name.uppercased() }),
            try !isKept(flow), flow.oldTable == flow.table.name
        else { return [] }
        let kept = flows.filter { $0.table.root != flow.table.root }
        var planner = self
        planner.names = renamings(keeping: kept, target.joinTables)
        let copied = try planner.flow(to: flow.table)
        let stayingTables = Set(kept.compactMap(\.oldTable) + target.joinTables.map(\.name))
        var steps = try triggerRemovals() + rTreeRemovals(keeping: stayingTables)
        steps += planner.names.sorted { $0.key < $1.key }.filter { $0.key != $0.value }.map {
            MigrationStep(.change(.renameTable($0, to: $1)), "set the old table \($0) aside")
        }
        steps += try creations(keeping: kept, target.joinTables)
        steps += try planner.copy(copied)
        steps += planner.removals(keeping: kept, target.joinTables)
        steps += try indexSteps(kept: stayingTables)
        steps += try target.triggerStatements().map {
            MigrationStep(.create($0), "keep a derived attribute up to date")
        }
        steps += try rTreeSteps(keeping: stayingTables)
        return steps
    }
}

extension SQLExpression {
    /// Returns whether the expression is the column's value, or a replacement for its NULL.
    fileprivate func keeps(_ column: SQLExpression) -> Bool {
        if self == column { return true }
        guard case .function(.ifNull, let parts) = self else { return false }
        return parts.first == column
    }
}
