import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

/// A property and the new value in a batch update.
package struct BatchAssignment {
    package enum Source {
        /// A value of the attribute's type.
        case value(Value)
        /// An expression of the row's own attributes.
        case expression(ExpressionNode)
        /// The destination of a to-one; `nil` clears it.
        case destination(RowKey?)
    }

    package var slot: Int
    package var source: Source

    package init(slot: Int, _ source: Source) {
        self.slot = slot
        self.source = source
    }
}

extension BatchWriter {
    /// Sets properties of every row that the plan selects, and increments its version.
    ///
    ///     // UPDATE ZITEM AS t0 SET ZPRICE = t0.ZPRICE * ?, Z_OPT = IFNULL(t0.Z_OPT, 0) + 1 WHERE t0.ZLISTED = ?
    ///
    /// - Returns: the number of rows; their keys if requested. Without keys, memory use does not grow with the number
    ///   of rows.
    package func update(
        _ plan: FetchPlan, _ assignments: [BatchAssignment], wantsKeys: Bool
    ) throws -> (count: Int, keys: [RowKey]) {
        do {
            return try answering { try update(plan, assignments, wantsKeys: wantsKeys, $0) }
        } catch let failure as SQLFailure where failure.kind == .computation {
            throw refusal(of: assignments, entity: plan.entity, failure)
        }
    }

    /// Returns the refusal for a statement that failed because a value is out of its attribute's range, see
    /// ``fitting(_:of:_:_:)``.
    private func refusal(of assignments: [BatchAssignment], entity: Int, _ failure: SQLFailure) -> BatchRefusal {
        if engine.dialect.form(of: .outOfRange) != nil { return BatchRefusal(failure.message) }
        let compiled = engine.model.entities[entity]
        let names = assignments.map { "'\(compiled.properties[$0.slot].name)'" }.joined(separator: ", ")
        return BatchRefusal(
            "A batch update cannot set \(names) of entity '\(compiled.name)': of some row a value cannot be worked out, or is "
                + "too large for its attribute: \(failure.message).")
    }

    private func update(
        _ plan: FetchPlan, _ assignments: [BatchAssignment], wantsKeys: Bool, _ planner: FetchPlanner
    ) throws -> (count: Int, keys: [RowKey]) {
        let split = try planner.split(plan)
        let start = try planner.start(split.isWhole ? plan : FetchPlan(entity: plan.entity))
        var columns = IndexMask()
        // A separate source: the predicate's joins are not part of the executed statement.
        let own = try planner.start(FetchPlan(entity: plan.entity))
        own.scope.context.security = plan.security
        let set = try assignments.flatMap { try self.assignments($0, plan.entity, own, &columns) }
        guard !set.isEmpty else { return (0, []) }
        let version = SQLExpression.function(.ifNull, [.column(start.scope.alias, "Z_OPT"), .integer(0)])
        let table = try engine.saveTables.table(of: plan.entity)
        var statement = UpdateStatement(
            table.name, as: start.scope.alias, set: set + [.init("Z_OPT", .arithmetic(.add, version, .integer(1)))])
        func selected() throws -> KeySet {
            split.isWhole ? try self.selected(plan, planner) : try self.selected(plan, split, planner)
        }
        let partners = partners(among: assignments, plan.entity)
        if let gap = set.compactMap({ $0.value.unsupportedFeature(in: planner.dialect) }).first {
            engine.database.note(
                "the values of a batch update are worked out in memory, since the database lacks \(gap)")
            for case .expression(let expression) in assignments.map(\.source)
            where plan.security?.isOpen(expression, of: plan.entity, in: engine.model) == false {
                throw PredicateFailure.closed(expression.predicateFormat)
            }
            let keys = try selected()
            try check(partners, keys, plan.entity)
            return try update(keys, assignments, of: plan.entity, columns, now: planner.now, wantsKeys: wantsKeys)
        }
        let alias = start.scope.alias
        guard split.isWhole, partners.isEmpty else {
            let selected = try selected()
            try check(partners, selected, plan.entity)
            var (count, keys) = (0, [RowKey]())
            try selected.forEachPortion(of: Self.portion) { entity, part in
                let before = partners.isEmpty ? [] : try rows(part, root: engine.model.entities[entity].root)
                statement.condition = .inList(.column(alias, "Z_PK"), part.map { .bind(.integer($0)) })
                count += try connection.run(statement)
                let part = part.map { RowKey(entity: entity, primaryKey: $0) }
                try record(.update, part, columns)
                if wantsKeys { keys += part }
                try updatePartners(before)
            }
            return (count, keys)
        }
        let select = start.scope.select([.integer(1)])
        // Afterwards the plan may select other rows.
        let keys = wantsKeys ? try self.keys(planner.keys(plan), of: plan.entity) : []
        try record(.update, planner.keys(plan), of: plan.entity, columns)
        // Conditions on other rows are evaluated before the first row changes, because that row might be one of them.
        let isOfOneRow = select.joins.isEmpty && select.condition?.hasSubquery != true
        statement.condition =
            isOfOneRow
            ? select.condition : .inSelect(.column(alias, "Z_PK"), start.scope.select([.column(alias, "Z_PK")]))
        return (try connection.run(statement), keys)
    }

    // MARK: Partners

    /// Returns the assignments that set one side of a one-to-one.
    private func partners(among assignments: [BatchAssignment], _ entity: Int) -> [BatchAssignment] {
        let slots = oneToOnes(of: entity).map(\.slot)
        return assignments.filter { slots.contains($0.slot) }
    }

    /// - Throws: a refusal if several rows would share the partner of a one-to-one.
    private func check(_ partners: [BatchAssignment], _ selected: KeySet, _ entity: Int) throws {
        for case (let slot, .destination(.some)) in partners.map({ ($0.slot, $0.source) }) where selected.count > 1 {
            let compiled = engine.model.entities[entity]
            throw BatchRefusal(
                "A batch update cannot set '\(compiled.properties[slot].name)' of \(selected.count) objects of entity "
                    + "'\(compiled.name)' to the same object: it is one end of a one-to-one relationship.")
        }
    }

    /// Updates the other sides of one-to-ones of the rows that were updated.
    private func updatePartners(_ before: [RowSnapshot]) throws {
        guard let first = before.first else { return }
        let old = Dictionary(before.map { ($0.primaryKey, $0) }, uniquingKeysWith: { first, _ in first })
        let written = try rows(Array(old.keys), root: engine.model.entities[first.entity].root)
        try updatePartners(written.map { (old[$0.primaryKey], $0) })
    }

    // MARK: Columns

    private func assignments(
        _ assignment: BatchAssignment, _ entity: Int, _ start: FetchPlanner.Start, _ columns: inout IndexMask
    ) throws -> [UpdateStatement.Assignment] {
        let compiled = engine.model.entities[entity]
        let property = compiled.properties[assignment.slot]
        let layout = compiled.rowLayout
        func column(_ index: Int) throws -> String? {
            guard index >= 0 else { return nil }
            columns.insert(index)
            return try start.scope.context.column(layout.columns[index].role, of: entity)
        }
        guard let name = try column(layout.columnOfSlot[assignment.slot]) else {
            throw BatchRefusal("The store keeps nothing of '\(property.name)' of entity '\(compiled.name)'.")
        }
        switch assignment.source {
        case .value(let value):
            if let reason = engine.reasonNotToKeep(value) { throw refusal(of: property, compiled, "", reason) }
            let kind = property.attribute?.type.kind ?? .integer
            return [.init(name, QueryScalar(value, engine.dialect)?.stored(as: kind, engine.dialect) ?? .null)]
        case .expression(let expression):
            return [.init(name, try self.value(expression, of: property, compiled, start))]
        case .destination(let key):
            if let key { try checkDestinations([key.primaryKey], of: property, entity) }
            var set = [UpdateStatement.Assignment(name, key.map { .bind(.integer($0.primaryKey)) } ?? .null)]
            if let name = try column(layout.entityColumnOfSlot[assignment.slot]) {
                set.append(.init(name, key.map { .bind(.integer(engine.number(ofEntity: $0.entity))) } ?? .null))
            }
            if let name = try column(layout.orderColumnOfSlot[assignment.slot]) {
                let place = try key.map { try self.place(assignment.slot, entity, among: $0, start.scope.alias) }
                set.append(.init(name, place ?? .null))
            }
            return set
        }
    }

    func refusal(
        of property: CompiledProperty, _ entity: CompiledEntity, _ what: String, _ reason: String
    ) -> BatchRefusal {
        BatchRefusal("A batch update cannot set '\(property.name)' of entity '\(entity.name)'\(what): \(reason).")
    }

    private func value(
        _ expression: ExpressionNode, of property: CompiledProperty, _ entity: CompiledEntity,
        _ start: FetchPlanner.Start
    ) throws -> SQLExpression {
        func refusal(_ reason: String) -> BatchRefusal {
            self.refusal(of: property, entity, " to '\(expression.predicateFormat)'", reason)
        }
        guard let attribute = property.attribute else { throw refusal("a relationship takes the ID of an object") }
        let joins = start.scope.select([.integer(1)]).joins.count
        let term = try start.translator.term(expression)
        guard start.scope.select([.integer(1)]).joins.count == joins else {
            throw refusal("only attributes of the object itself can be used")
        }
        let wanted = QueryScalar.Kind(attribute)
        let scalar: QueryScalar
        switch term {
        case .constant(.null): return .null
        case .constant(let value):
            if let reason = engine.reasonNotToKeep(value) { throw refusal(reason) }
            guard let constant = QueryScalar(value, engine.dialect) else { throw refusal("the value cannot be stored") }
            scalar = constant
        case .scalar(let found): scalar = found
        case .key, .row, .entity, .collection, .list: throw refusal("it is no value")
        }
        guard scalar.kind.isComparable(to: wanted), wanted != .opaque else {
            throw refusal("it is \(scalar.kind.name), and the attribute holds \(wanted.name)")
        }
        // An integer stays an integer, even if it was computed from reals.
        let value =
            wanted == .integer && scalar.kind != .integer
            ? .cast(scalar.sql, to: .integer) : scalar.stored(as: attribute.type.kind, engine.dialect)
        return fitting(value, of: scalar.sql, attribute.type, refusal)
    }

    /// Returns an expression that fails the statement if an integer is out of its attribute's range. If columns are as
    /// narrow as attributes, the database checks the range.
    ///
    ///     // CASE WHEN t0.ZCOUNT * ? BETWEEN -32768 AND 32767 THEN t0.ZCOUNT * ? ELSE CDOutOfRange(t0.ZCOUNT * ?, 'A batch …') END
    private func fitting(
        _ value: SQLExpression, of computed: SQLExpression, _ type: AttributeType, _ refusal: (String) -> BatchRefusal
    ) -> SQLExpression {
        guard engine.dialect.form(of: .outOfRange) != nil else { return value }
        guard let range = Self.range(of: type) else { return value }
        let (least, most) = (SQLValue.integer(range.lowerBound), SQLValue.integer(range.upperBound))
        let reason = refusal(Self.tooLarge(range))
        // Check before the conversion to a 64-bit integer, which loses the upper bits.
        let examined = type == .integer64 ? computed : value
        return .caseWhen(
            [.init(.between(examined, .bind(least), .bind(most)), value)],
            otherwise: .function(.outOfRange, [examined, .bind(.text(reason.description))]))
    }

    /// Returns the range of integers for the attribute type.
    static func range(of type: AttributeType) -> ClosedRange<Int64>? {
        switch type {
        case .integer16: Int64(Int16.min)...Int64(Int16.max)
        case .integer32: Int64(Int32.min)...Int64(Int32.max)
        case .integer64: .min ... .max
        default: nil
        }
    }

    static func tooLarge(_ range: ClosedRange<Int64>) -> String {
        "the value of some row is too large, since the attribute takes \(range.lowerBound) to \(range.upperBound)"
    }
}
