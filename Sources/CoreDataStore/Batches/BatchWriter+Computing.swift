import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation

// Computes in memory, row by row, the values of a batch update that the database cannot compute.
extension BatchWriter {
    /// Sets properties of these rows; one portion is in memory at a time.
    func update(
        _ keys: KeySet, _ assignments: [BatchAssignment], of entity: Int, _ columns: IndexMask, now: Double,
        wantsKeys: Bool
    ) throws -> (count: Int, keys: [RowKey]) {
        let root = engine.model.entities[entity].root
        let evaluators = assignments.map { assignment -> ExpressionEvaluator? in
            guard case .expression(let expression) = assignment.source else { return nil }
            return ExpressionEvaluator(expression)
        }
        let frame = EvaluationFrame(now: now)
        var done = (count: 0, keys: [RowKey]())
        try keys.forEachPortion(of: Self.portion) { _, part in
            let graph = EngineGraph(engine)
            var changes = ChangeSet()
            for row in try rows(part, root: root) {
                let object = Operand.object(MemoryObject(row, in: graph))
                let new = try zip(assignments, evaluators).map { assignment, evaluator in
                    guard let evaluator else { return assignment }
                    let value = try evaluator.value(for: object, in: frame)
                    return BatchAssignment(slot: assignment.slot, .value(try self.value(value, assignment, entity)))
                }
                changes.updates.append(.init(old: row, new: self.row(row, setting: new)))
            }
            try engine.roundDates(changes)
            try writeBothSides(changes)
            done.count += changes.updates.count
            if wantsKeys { done.keys += changes.updates.map(\.new.key) }
        }
        return done
    }

    /// Returns the row in its next version, with the assigned values.
    func row(_ row: RowSnapshot, setting assignments: [BatchAssignment]) -> RowSnapshot {
        let layout = engine.model.entities[row.entity].rowLayout
        let builder = RowBuilder(columnCount: layout.kinds.count)
        for (column, kind) in layout.kinds.enumerated() { builder.copy(column, kind: kind, from: row) }
        func set(_ number: Int64?, at column: Int) {
            if let number { builder.setInteger(number, at: column) } else { builder.setNull(at: column) }
        }
        for assignment in assignments {
            // A property has the same slot in every entity that inherits it, but not the same column.
            let column = layout.columnOfSlot[assignment.slot]
            switch assignment.source {
            case .value(let value): builder.set(value, layout.kinds[column], at: column)
            case .destination(let key):
                let entityColumn = layout.entityColumnOfSlot[assignment.slot]
                let orderColumn = layout.orderColumnOfSlot[assignment.slot]
                set(key?.primaryKey, at: column)
                if entityColumn >= 0 { set(key.map { engine.number(ofEntity: $0.entity) }, at: entityColumn) }
                // The code that writes the row determines the order value.
                if orderColumn >= 0 { set(key.map { _ in 0 }, at: orderColumn) }
            case .expression: break
            }
        }
        return builder.finish(primaryKey: row.primaryKey, version: row.version &+ 1, entity: row.entity)
    }

    /// Returns the computed operand as a value of the attribute's type.
    private func value(_ operand: Operand, _ assignment: BatchAssignment, _ entity: Int) throws -> Value {
        let compiled = engine.model.entities[entity]
        let property = compiled.properties[assignment.slot]
        guard case .expression(let expression) = assignment.source, let attribute = property.attribute else {
            return .null
        }
        func refusal(_ reason: String) -> BatchRefusal {
            self.refusal(of: property, compiled, " to '\(expression.predicateFormat)'", reason)
        }
        guard case .value(let value) = operand else { throw refusal("it is no value") }
        if let reason = engine.reasonNotToKeep(value) { throw refusal(reason) }
        switch (attribute.type.kind, value) {
        case (_, .null): return .null
        case (.integer, _) where Numbers.isNumber(value):
            guard let range = Self.range(of: attribute.type) else { return value }
            if case .double(let number) = value, number.isNaN { return .null }
            let whole: Int64? =
                switch value {
                case .integer(let number): number
                case .double(let number): Int64(exactly: number.rounded(.towardZero))
                case .decimal(let number): Int64(number.description.prefix { $0 != "." })
                default: nil
                }
            guard let whole, range.contains(whole) else { throw refusal(Self.tooLarge(range)) }
            return .integer(whole)
        case (.boolean, _) where Numbers.isNumber(value):
            return Numbers.double(value).map { $0.isNaN ? .null : .integer($0 == 0 ? 0 : 1) } ?? .null
        case (.real, _) where Numbers.isNumber(value), (.single, _) where Numbers.isNumber(value):
            return Numbers.double(value).map { $0.isNaN ? .null : .double($0) } ?? .null
        case (.decimal, .decimal): return value
        case (.decimal, .integer(let number)): return .decimal(Decimal(number))
        case (.decimal, .double(let number)):
            guard let decimal = Numbers.decimal(number) else {
                if number.isNaN { return .null }
                throw refusal("the value of some row is no decimal")
            }
            return .decimal(decimal)
        default:
            let (found, wanted) = (QueryScalar(value, engine.dialect)?.kind, QueryScalar.Kind(attribute))
            guard let found, found.isComparable(to: wanted), !found.isNumber else {
                throw refusal("the value of some row is of another type")
            }
            return value
        }
    }
}
