import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// Translates TERNARY of objects: the row with the resulting key, or no row.
    ///
    ///     TERNARY(entity.name IN {"Drink"}, SELF, nil).strength
    ///     // t1.ZSTRENGTH of LEFT OUTER JOIN ZITEM t1 ON t1.Z_PK = CASE WHEN t0.Z_ENT = ? THEN t0.Z_PK END
    ///
    /// The result is `nil` if the branches are not two objects of one entity tree, or nil.
    func rowConditional(
        _ predicate: PredicateNode, _ condition: SQLExpression, _ first: QueryTerm, _ second: QueryTerm,
        subject: ExpressionNode
    ) -> RowReference? {
        let left = rowScalar(first)
        let right = rowScalar(second)
        guard let root = left?.root ?? right?.root, left == nil ? isNil(first) : left?.root == root,
            right == nil ? isNil(second) : right?.root == root
        else { return nil }
        let scope: QueryScope =
            switch (first, second) {
            case (.row(let row), _), (_, .row(let row)): row.scope
            default: self.root.scope
            }
        let key = SQLExpression.caseWhen(
            [.init(condition, left?.scalar.sql ?? .null)], otherwise: right?.scalar.sql ?? .null)
        let entities = [first, second].compactMap(entity)
        let narrowed = right == nil ? named(by: predicate, subject) : nil
        guard let entity = narrowed ?? common(entities) else { return nil }
        return RowReference(scope, entity: entity, key: key, isOptional: true)
    }

    private func isNil(_ term: QueryTerm) -> Bool {
        switch term {
        case .constant(.null), .key(nil): true
        default: false
        }
    }

    private func entity(of term: QueryTerm) -> Int? {
        switch term {
        case .row(let row): row.entity
        case .key(let key): key?.entity
        default: nil
        }
    }

    /// Returns the entity of an object for which a test of its entity's name is true.
    private func named(by predicate: PredicateNode, _ subject: ExpressionNode) -> Int? {
        guard case .comparison(let test) = predicate, test.comparator == .in, test.modifier == .direct,
            test.left == subject.appending("entity").appending("name"),
            case .constant(.collection(let members, _)) = test.right
        else { return nil }
        let entities = members.compactMap { member -> Int? in
            guard case .value(.string(let name)) = member else { return nil }
            return context.model.ordinalByName[name]
        }
        return entities.isEmpty ? nil : common(entities)
    }

    /// Returns the lowest common ancestor of the entities.
    private func common(_ entities: [Int]) -> Int? {
        let all = context.model.entities
        return all.indices.filter { entities.allSatisfy(all[$0].subtree.contains) }
            .min { all[$0].subtree.count < all[$1].subtree.count }
    }
}
