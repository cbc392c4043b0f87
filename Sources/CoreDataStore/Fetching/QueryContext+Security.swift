import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

// Applies a plan's ``RowSecurity`` to the rows and columns of a statement.
extension QueryContext {
    /// Returns the condition under which a row may be read; `nil` if it always may.
    func readCondition(of row: RowReference) throws -> SQLExpression? {
        guard let security else { return nil }
        return try condition(of: row) { security.rows[$0] }
    }

    /// Returns the condition of a row that the request itself selects; `nil` if it always may.
    func selectCondition(of row: RowReference) throws -> SQLExpression? {
        guard let security else { return nil }
        return try condition(of: row) { security.selected[$0] }
    }

    /// Returns the condition under which a value of a row may be read; `nil` if it always may.
    func readCondition(slot: Int, of row: RowReference) throws -> SQLExpression? {
        guard let security else { return nil }
        return try condition(of: row) { security.properties[$0][slot] }
    }

    /// Returns the key of a to-one's destination if relationship and destination may be read, else NULL.
    ///
    ///     list        // CASE WHEN t1.ZOWNER = ? THEN t0.ZLIST END
    func restricted(
        _ column: String, slot: Int, of row: RowReference, to destination: Int
    ) throws -> SQLExpression {
        let key = SQLExpression.column(try row.scope.alias(of: row), column)
        guard security != nil else { return key }
        return guarded(key, try conditions(ofToOne: slot, key: key, of: row, to: destination), in: row.scope)
    }

    /// Returns the row of an object constant if it may be read, else no row.
    func restricted(_ row: RowReference) throws -> RowReference {
        guard let condition = try readCondition(of: row) else { return row }
        var row = row
        row.key = .caseWhen([.init(condition, row.key)], otherwise: .null)
        return row
    }

    /// Restricts the members of a to-many to those that may be read; returns the member.
    ///
    /// If the owner is joined and nil, it has one nil member, which stays.
    func requireReadable(_ member: RowReference, memberOf owner: RowReference, slot: Int) throws -> RowReference {
        guard security != nil else { return member }
        let isJoined = member.scope === owner.scope && owner.isOptional
        for case let condition? in [try readCondition(slot: slot, of: owner), try readCondition(of: member)] {
            member.scope.require(isJoined ? .any([condition, .isNull(member.key)]) : condition)
        }
        return member
    }

    /// Returns an attribute's value if it may be read, else NULL.
    func restricted(_ column: String, slot: Int, of row: RowReference) throws -> SQLExpression {
        let value = SQLExpression.column(try row.scope.alias(of: row), column)
        guard security != nil else { return value }
        return guarded(value, [try readCondition(slot: slot, of: row)].compactMap { $0 }, in: row.scope)
    }

    private func conditions(
        ofToOne slot: Int, key: SQLExpression, of row: RowReference, to destination: Int
    ) throws -> [SQLExpression] {
        let target = RowReference(row.scope, entity: destination, key: key, isOptional: true)
        return [try readCondition(slot: slot, of: row), try readCondition(of: target)].compactMap { $0 }
    }

    /// Returns the value if the conditions are true, else NULL. A condition that every row of the scope satisfies is
    /// omitted.
    private func guarded(_ value: SQLExpression, _ conditions: [SQLExpression], in scope: QueryScope) -> SQLExpression {
        let left = conditions.filter { !scope.requires($0) }
        let condition = SQLExpression.all(left)
        if condition == .alwaysTrue { return value }
        // Also for a condition that is always false: a typed NULL is no constant, which servers refuse to sort by.
        return .caseWhen([.init(condition, value)], otherwise: .null)
    }

    // MARK: Rules

    /// Returns the condition of a row, whose own entity may be any in the subtree; `nil` if it is always true.
    private func condition(of row: RowReference, _ rule: (Int) -> PredicateNode?) throws -> SQLExpression? {
        var groups: [(rule: PredicateNode?, entities: [Int])] = []
        for entity in rowEntities(of: row.entity) {
            let own = rule(entity)
            if let index = groups.firstIndex(where: { $0.rule == own }) {
                groups[index].entities.append(entity)
            } else {
                groups.append((own, [entity]))
            }
        }
        if groups.allSatisfy({ $0.rule == nil }) { return nil }
        if groups.count == 1, let rule = groups[0].rule { return try translation(of: rule, row, groups[0].entities[0]) }
        return .any(
            try groups.map { group in
                let isOne = try entityTest(row, group.entities)
                guard let rule = group.rule else { return isOne }
                return .all([isOne, try translation(of: rule, row, group.entities[0])])
            })
    }

    private func entityTest(_ row: RowReference, _ entities: [Int]) throws -> SQLExpression {
        let column = SQLExpression.column(try row.scope.alias(of: row), "Z_ENT")
        let numbers = try entities.map { SQLExpression.bind(.integer(try number(of: $0))) }
        return numbers.count == 1 ? .comparison(.equal, column, numbers[0]) : .inList(column, numbers)
    }

    /// Translates a rule, which reads all rows.
    private func translation(of rule: PredicateNode, _ row: RowReference, _ entity: Int) throws -> SQLExpression {
        if case .constant(let value) = rule { return .boolean(value) }
        let outer = security
        security = nil
        defer { security = outer }
        var own = row
        own.entity = entity
        let condition = try PredicateTranslator(context: self, root: own).condition(rule)
        if let feature = condition.unsupportedFeature(in: dialect) {
            throw PredicateFailure(
                .unsupported,
                Diagnostic(
                    .error,
                    "the permission '\(rule.predicateFormat)' of entity '\(model.entities[entity].name)' needs \(feature), which the database lacks",
                    hint: "write the rule with comparisons of values"))
        }
        return condition
    }

    // MARK: Whole rows

    /// Returns the expressions of a shape's columns, with NULL for values that may not be read.
    func selection(of shape: RowShape, _ row: RowReference) throws -> [SQLExpression] {
        let plain = shape.selection(from: row.alias)
        guard let security, shape.entities.contains(where: { security.masksRows(of: $0.ordinal) }) else {
            return plain
        }
        return try plain.enumerated().map { index, expression in
            guard index >= RowShape.fixedColumns, case .column = expression else { return expression }
            return try masked(expression, at: index, shape, row)
        }
    }

    /// Returns the column for all entities of the shape: each may have its own condition, or another property there.
    private func masked(
        _ column: SQLExpression, at index: Int, _ shape: RowShape, _ row: RowReference
    ) throws -> SQLExpression {
        var groups: [(condition: SQLExpression, entities: [Int])] = []
        for entity in shape.entities where !model.entities[entity.ordinal].isAbstract {
            let place = entity.positions.map { $0.firstIndex(of: index) } ?? index - RowShape.fixedColumns
            guard let place, entity.kinds.indices.contains(place) else { continue }
            let condition = SQLExpression.all(
                try conditions(ofColumn: place, of: entity.ordinal, row).filter { !row.scope.requires($0) })
            if let known = groups.firstIndex(where: { $0.condition == condition }) {
                groups[known].entities.append(entity.ordinal)
            } else {
                groups.append((condition, [entity.ordinal]))
            }
        }
        let condition: SQLExpression =
            groups.count <= 1
            ? groups.first?.condition ?? .alwaysTrue
            : .any(try groups.map { .all([try entityTest(row, $0.entities), $0.condition]) })
        if condition == .alwaysTrue { return column }
        return .caseWhen([.init(condition, column)], otherwise: .null)
    }

    private func conditions(ofColumn place: Int, of entity: Int, _ row: RowReference) throws -> [SQLExpression] {
        let compiled = model.entities[entity]
        var own = row
        own.entity = entity
        switch compiled.rowLayout.columns[place].role {
        case .attribute(let slot):
            return [try ownCondition(slot: slot, of: own)].compactMap { $0 }
        case .destinationKey(let slot), .destinationEntity(let slot), .order(let slot):
            guard let relationship = compiled.properties[slot].relationship,
                let key = try self.column(ofSlot: slot, of: entity)
            else { return [] }
            let target = RowReference(
                own.scope, entity: relationship.destination, key: .column(try own.scope.alias(of: own), key),
                isOptional: true)
            return [try ownCondition(slot: slot, of: own), try readCondition(of: target)].compactMap { $0 }
        case .ownerKey, .ownerOrder: return []
        }
    }

    /// Returns the condition of a value in rows of exactly this entity.
    private func ownCondition(slot: Int, of row: RowReference) throws -> SQLExpression? {
        try security?.properties[row.entity][slot].map { try translation(of: $0, row, row.entity) }
    }
}

extension QueryScope {
    /// Returns whether every row of the scope satisfies the condition.
    func requires(_ condition: SQLExpression) -> Bool {
        let isRequired = conditions.contains { required in
            if case .and(let terms) = required { return terms.contains(condition) }
            return required == condition
        }
        if isRequired { return true }
        switch condition {
        case .and(let terms): return terms.allSatisfy(requires)
        case .or(let terms): return terms.contains(where: requires)
        default: return false
        }
    }
}
