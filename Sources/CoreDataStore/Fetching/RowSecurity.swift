import CoreDataModel
import CoreDataPredicate

/// The rows and values that a request may read: the compiled permissions of one reader.
///
/// ``FetchPlanner`` applies it to every table of a statement. A row that does not satisfy its entity's condition is
/// treated as missing, and a value whose condition is false as NULL, in columns, predicates, sorts and groups:
///
///     list.name == "x"      // the reader may read lists whose owner it is
///     // … LEFT OUTER JOIN ZLIST t1 ON t1.Z_PK = t0.ZLIST
///     //   LEFT OUTER JOIN ZLIST t2 ON t2.Z_PK = CASE WHEN t1.ZOWNER = ? THEN t0.ZLIST END WHERE t2.ZNAME = ?
///
/// The conditions themselves read all rows. A source that applies a plan's security is a ``SecuredSource``.
package final class RowSecurity: @unchecked Sendable {
    // Safe because it is immutable, and its predicates contain no code.

    /// The condition of the rows of exactly this entity, by ordinal; `nil` if all of them may be read.
    package let rows: [PredicateNode?]
    /// The condition of the rows that the request itself selects: a batch request may require more than reading.
    package let selected: [PredicateNode?]
    /// The conditions of values, by the entity's ordinal and the property's slot; all other values may be read.
    package let properties: [[Int: PredicateNode]]
    private let readsAll: [Bool]
    private let masks: [Bool]

    package convenience init(_ model: CompiledModel, rows: [PredicateNode?], properties: [[Int: PredicateNode]]) {
        let readsAll = model.entities.map { $0.subtree.allSatisfy { rows[$0] == nil } }
        let masksOwn = model.entities.map { entity in
            entity.properties.contains { property in
                guard entity.rowLayout.columnOfSlot[property.slot] >= 0 else { return false }
                return properties[entity.ordinal][property.slot] != nil
                    || property.relationship.map { !readsAll[$0.destination] } ?? false
            }
        }
        self.init(
            rows: rows, selected: rows, properties: properties, readsAll: readsAll,
            masks: model.entities.map { $0.subtree.contains { masksOwn[$0] } })
    }

    private init(
        rows: [PredicateNode?], selected: [PredicateNode?], properties: [[Int: PredicateNode]], readsAll: [Bool],
        masks: [Bool]
    ) {
        self.rows = rows
        self.selected = selected
        self.properties = properties
        self.readsAll = readsAll
        self.masks = masks
    }

    /// Returns the security of a request whose selected rows must satisfy these conditions, too.
    package func selecting(_ conditions: [PredicateNode?]) -> RowSecurity {
        let selected = zip(rows, conditions).map { row, condition -> PredicateNode? in
            guard let row, let condition else { return row ?? condition }
            return .and([row, condition])
        }
        return RowSecurity(rows: rows, selected: selected, properties: properties, readsAll: readsAll, masks: masks)
    }

    /// Returns whether all rows of the entity and its subentities may be read.
    package func readsAllRows(of entity: Int) -> Bool { readsAll[entity] }

    /// Returns whether rows of the entity or its subentities may contain values that must be replaced by NULL.
    package func masksRows(of entity: Int) -> Bool { masks[entity] }

    /// Returns whether rows of exactly this entity may contain NULL in place of this value.
    package func mayHide(slot: Int, of entity: CompiledEntity) -> Bool {
        if properties[entity.ordinal][slot] != nil { return true }
        guard let relationship = entity.properties[slot].relationship else { return false }
        return !relationship.isToMany && !readsAll[relationship.destination]
    }

    // MARK: Parts of a request that memory evaluates

    /// Returns whether memory can evaluate the predicate on rows that were read under the security. It reads
    /// destinations without it, so no path may continue in hidden rows or values.
    func isOpen(_ predicate: PredicateNode, of entity: Int, in model: CompiledModel) -> Bool {
        var isOpen = true
        predicate.forEachExpression { isOpen = isOpen && self.isOpen($0, of: entity, in: model) }
        return isOpen
    }

    func isOpen(_ expression: ExpressionNode, of entity: Int, in model: CompiledModel) -> Bool {
        var isOpen = true
        expression.forEachExpression { part in
            switch part {
            case .keyPath(.evaluatedObject, let keys): isOpen = isOpen && self.isOpen(keys, of: entity, in: model)
            // The path of a variable starts in a collection that was checked; its members may have hidden values.
            case .keyPath, .subquery, .anyKey, .message, .fetch, .block, .assignment: isOpen = false
            default: break
            }
        }
        return isOpen
    }

    /// Returns whether the path leads only to values and rows that may all be read. A batch request evaluates memory's
    /// part on whole rows, so that the row's own values count, too.
    func isOpen(_ keys: [String], of entity: Int, in model: CompiledModel) -> Bool {
        var current = entity
        for (index, key) in keys.enumerated() {
            guard let property = model.entities[current].property(named: key) else {
                return index == 0 || !key.hasPrefix("@")
            }
            if model.entities[current].subtree.contains(where: { properties[$0][property.slot] != nil }) {
                return false
            }
            guard let relationship = property.relationship else { return true }
            if !readsAll[relationship.destination] { return false }
            current = relationship.destination
        }
        return true
    }
}
