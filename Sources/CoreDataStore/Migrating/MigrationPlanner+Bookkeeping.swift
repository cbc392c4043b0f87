import CoreDataModel
import CoreDataSQL
import Foundation

extension MigrationPlanner {
    // MARK: Numbers

    /// Returns the steps for the rows of `Z_PRIMARYKEY`. Key counters never decrease, so that no key is assigned again.
    func numberSteps(_ flows: [MigrationFlow]) -> [MigrationStep] {
        var delete = DeleteStatement(from: BookkeepingSchema.primaryKeyTable)
        delete.condition = .comparison(
            .less, .column(nil, "Z_ENT"), .integer(BookkeepingSchema.firstFrameworkNumber))
        let rows = target.entities.compactMap { ordinal -> [SQLExpression]? in
            guard let number = target.numbers[ordinal] else { return nil }
            let entity = newModel.entities[ordinal]
            let parent = entity.parent.flatMap { target.numbers[$0] } ?? 0
            return [.integer(number), .bind(.text(entity.name)), .integer(parent), maximum(of: ordinal, flows)]
        }
        let forgotten = MigrationStep(.delete(delete), "forget the numbers of the old entities")
        if rows.isEmpty { return [forgotten] }
        let insert = InsertStatement(
            into: BookkeepingSchema.primaryKeyTable, columns: ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"], rows: rows)
        return [
            forgotten,
            MigrationStep(.insert(insert), "number the entities"),
        ]
    }

    private func maximum(of ordinal: Int, _ flows: [MigrationFlow]) -> SQLExpression {
        guard newModel.entities[ordinal].root == ordinal,
            let flow = flows.first(where: { $0.table.root == ordinal }), let table = flow.oldTable,
            let member = flow.members.first
        else { return .integer(0) }
        let root = source.schema.numbers[oldModel.entities[member.old].root]
        let known = source.numbers.first { $0.number == root }?.maximum ?? 0
        let highest = SelectStatement(
            [.init(.aggregate(.maximum, .column("d", "Z_PK"), distinct: false))], from: .init(current(table), as: "d"))
        return .function(
            .greatest, [.integer(max(0, known)), .function(.ifNull, [.scalar(highest), .integer(0)])])
    }

    // MARK: Metadata

    func metadataSteps(_ deferred: [DeferredTask]) throws -> [MigrationStep] {
        let old = source.metadata.metadata
        let metadata = try StoreMetadata.made(
            for: newModel, entities: entities, type: old.type ?? "SQLite",
            adding: old.migrated(to: newModel.versionHashes(of: entities))
        ).deferring(deferred)
        let update = UpdateStatement(
            BookkeepingSchema.metadataTable, set: [.init("Z_PLIST", .bind(.blob(metadata.propertyList)))])
        return [MigrationStep(.update(update), "write down which model the store is of")]
    }

    func modelCacheSteps(_ document: ModelDocument?) throws -> [MigrationStep] {
        let name = BookkeepingSchema.modelCacheTable
        var steps: [MigrationStep] = []
        if source.tables[name] == nil {
            steps.append(MigrationStep(.create(.table(BookkeepingSchema.modelCache)), "make room for the model's copy"))
        } else {
            steps.append(MigrationStep(.delete(DeleteStatement(from: name)), "forget the old model"))
        }
        guard let document else { return steps }
        let insert = InsertStatement(
            into: name, columns: ["Z_CONTENT"],
            rows: [[.bind(.blob(try ModelArchive.modelCache(for: document)))]])
        return steps + [MigrationStep(.insert(insert), "keep a copy of the new model")]
    }

    // MARK: History

    /// The history stays; its changes are those of the entities and properties as they are now. What it has of removed
    /// entities goes: nothing could name those objects. The migration itself is its last transaction.
    func historySteps() -> [MigrationStep] {
        guard !source.changeColumns.isEmpty else { return [] }
        let entity = SQLExpression.column(nil, "ZENTITY")
        let table = BookkeepingSchema.changeTable
        var steps: [MigrationStep] = []
        let removed = source.entities.filter { mapping.destination(of: $0) == nil }
            .compactMap { source.schema.numbers[$0] }
        if !removed.isEmpty {
            steps.append(
                MigrationStep(
                    .delete(DeleteStatement(from: table, where: .inList(entity, removed.map(SQLExpression.integer)))),
                    "forget the history of removed entities"))
        }
        let members = source.entities.compactMap { old in
            mapping.destination(of: old).map { MigrationFlow.Member(old: old, new: $0) }
        }
        for member in members {
            guard let number = source.schema.numbers[member.old], let bits = bits(of: member) else { continue }
            let name = newModel.entities[member.new].name
            steps.append(
                MigrationStep(.moveHistoryBits(entity: number, bits), "say which properties changes of \(name) are of"))
        }
        steps += tombstoneSteps(members)
        let pairs = members.map { (source.schema.numbers[$0.old] ?? 0, target.numbers[$0.new] ?? 0) }
            .filter { $0.0 != $0.1 }
        if !pairs.isEmpty {
            let update = UpdateStatement(
                table, set: [.init("ZENTITY", Self.renumbered(entity, pairs))],
                where: .inList(entity, pairs.map { .integer($0.0) }))
            steps.append(MigrationStep(.update(update), "give the history the new numbers of entities"))
        }
        return steps + recordSteps()
    }

    /// Returns the new positions of the bits of an entity's updates; `nil` if they do not change.
    private func bits(of member: MigrationFlow.Member) -> HistoryBits? {
        let (old, new) = (oldModel.entities[member.old], newModel.entities[member.new])
        guard let was = source.schema.layout.entities[member.old], let now = target.layout.entities[member.new] else {
            return nil
        }
        let before = HistoryLayout(old, in: oldModel) { was.columnNames[$0] != nil }
        let after = HistoryLayout(new, in: newModel) { now.columnNames[$0] != nil }
        var places = [Int](repeating: -1, count: before.byteCount * 8)
        for (slot, source) in mapping.entities[member.new].sourceSlots.enumerated() {
            guard let source, before.bitOfSlot[source] >= 0 else { continue }
            places[before.bitOfSlot[source]] = after.bitOfSlot[slot]
            let columns = (old.rowLayout.entityColumnOfSlot[source], new.rowLayout.entityColumnOfSlot[slot])
            guard columns.0 >= 0, before.bitOfColumn[columns.0] >= 0 else { continue }
            places[before.bitOfColumn[columns.0]] = columns.1 < 0 ? -1 : after.bitOfColumn[columns.1]
        }
        let used = Set(before.bitOfSlot + before.bitOfColumn).filter { $0 >= 0 }
        guard before.byteCount != after.byteCount || used.contains(where: { places[$0] != $0 }) else { return nil }
        return HistoryBits(places: places, byteCount: after.byteCount)
    }

    private func tombstoneSteps(_ members: [MigrationFlow.Member]) -> [MigrationStep] {
        let table = BookkeepingSchema.changeTable
        var count = 0
        while source.changeColumns.contains("ZTOMBSTONE\(count)") { count += 1 }
        let wanted = StoreCreation.tombstoneCount(model: newModel, entities: target.entities)
        var steps = (count..<max(count, wanted)).map { index in
            MigrationStep(
                .change(.addColumn(.init("ZTOMBSTONE\(index)", .bytes), to: table)),
                "make room for what history keeps of deleted objects")
        }
        for member in members {
            let before = HistoryLayout.tombstones(of: oldModel.entities[member.old])
            let after = HistoryLayout.tombstones(of: newModel.entities[member.new])
            var assignments: [UpdateStatement.Assignment] = []
            for index in 0..<max(count, wanted) {
                let old =
                    after.indices.contains(index)
                    ? mapping.sourceSlot(of: after[index], in: member.new).flatMap(before.firstIndex) : nil
                // The bits do not change, or were never set.
                if old == index || old == nil && index >= before.count { continue }
                let value = old.flatMap { $0 < count ? SQLExpression.column(nil, "ZTOMBSTONE\($0)") : nil }
                assignments.append(.init("ZTOMBSTONE\(index)", value ?? .null))
            }
            guard !assignments.isEmpty, let number = source.schema.numbers[member.old] else { continue }
            let update = UpdateStatement(
                table, set: assignments, where: .comparison(.equal, .column(nil, "ZENTITY"), .integer(number)))
            steps.append(
                MigrationStep(
                    .update(update),
                    "move what history keeps of deleted objects of \(newModel.entities[member.new].name)"))
        }
        return steps
    }
}
