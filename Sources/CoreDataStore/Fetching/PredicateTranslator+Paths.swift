import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// Follows a key path: columns, to-one joins, to-many scopes and collection operators.
    ///
    ///     unit.name             // t1.ZNAME of LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT
    ///     items.unit.name       // the same in a scope of ZITEM rows
    ///     items.@sum.price      // a scalar subselect
    func follow(
        _ keys: [String], from operand: ExpressionNode, of expression: ExpressionNode
    ) throws -> QueryTerm {
        if case .evaluatedObject = operand, keys.count == 1, let column = columns[keys[0]],
            context.model.entities[root.entity].property(named: keys[0]) == nil
        {
            return column
        }
        return try follow(keys[...], from: try term(operand), of: expression)
    }

    func follow(
        _ keys: ArraySlice<String>, from start: QueryTerm, of expression: ExpressionNode
    ) throws -> QueryTerm {
        var current = start
        var rest = keys
        while let key = rest.popFirst() {
            if key.hasPrefix("@") { return try collectionOperator(key, current, rest, expression) }
            current = try value(of: joined(key, &rest, in: current), in: current, expression)
        }
        return current
    }

    /// Joins the key with the following ones that lead into a composite attribute: `address`, `city` become
    /// `address.city`.
    private func joined(_ key: String, _ rest: inout ArraySlice<String>, in term: QueryTerm) -> String {
        switch term {
        case .row(let row): return joined(key, &rest, in: row.entity)
        case .key(let rowKey?): return joined(key, &rest, in: rowKey.entity)
        case .collection(let collection): return joined(key, &rest, in: collection.element)
        case .list(let members): return members.first.map { joined(key, &rest, in: $0) } ?? key
        case .constant, .key, .scalar, .entity: return key
        }
    }

    private func joined(_ key: String, _ rest: inout ArraySlice<String>, in entity: Int) -> String {
        let entity = context.model.entities[entity]
        guard entity.property(named: key)?.isComposite == true,
            let (property, remainder) = entity.property(at: [key] + rest)
        else { return key }
        rest = remainder
        guard property.isComposite, let next = remainder.first, !next.hasPrefix("@") else { return property.name }
        // A missing element, including the rest of its path.
        rest = []
        return property.name + "." + next
    }

    /// Returns whether the name is a missing element of a composite attribute: it is nil, as in the attribute's
    /// dictionaries.
    private func isLackingElement(_ name: String, of entity: CompiledEntity) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        return entity.property(named: String(name[..<dot]))?.isComposite == true
    }

    /// Returns a value that is NULL if all elements of a composite are NULL, so that it can be compared with nil. The
    /// elements have different types, which servers do not accept in one expression.
    ///
    ///     address != nil        // CASE WHEN t0.ZCITY IS NOT NULL OR t0.ZNUMBER IS NOT NULL THEN 1 END IS NOT NULL
    private func composite(_ attribute: CompiledAttribute, of row: RowReference) throws -> QueryTerm {
        let entity = context.model.entities[row.entity]
        var parts: [SQLExpression] = []
        func add(_ attribute: CompiledAttribute) throws {
            for element in attribute.elements.map({ entity.properties[$0] }) {
                if let nested = element.attribute, element.isComposite {
                    try add(nested)
                } else if let column = try context.column(ofSlot: element.slot, of: row.entity) {
                    parts.append(try context.restricted(column, slot: element.slot, of: row))
                }
            }
        }
        try add(attribute)
        let isThere = SQLExpression.or(parts.map { .isNotNull($0) })
        return .scalar(
            QueryScalar(parts.isEmpty ? .null : .caseWhen([.init(isThere, .integer(1))], otherwise: .null), .opaque))
    }

    private func value(of key: String, in term: QueryTerm, _ expression: ExpressionNode) throws -> QueryTerm {
        if key == "self" || key == "SELF" { return term }
        switch term {
        case .row(let row):
            return try property(key, of: row, expression)
        case .collection(var collection):
            if isToMany(key, of: collection.element) { collection.order = nil }
            collection.element = try member(key, of: collection, expression)
            return .collection(collection)
        case .entity where key == "name":
            return term
        case .constant(.null), .key(nil):
            return .constant(.null)
        case .key(let rowKey?):
            let row = RowReference(
                root.scope, entity: rowKey.entity, key: .bind(.integer(rowKey.primaryKey)), isOptional: true)
            return try property(key, of: context.restricted(row), expression)
        case .list(let members):
            return .list(try members.map { try value(of: key, in: $0, expression) })
        case .scalar(let scalar):
            if let value = part(key, of: scalar) { return .scalar(value) }
            throw failure(
                "\(scalar.kind.name) has no key '\(key)' in a store", expression,
                kind: scalar.kind == .opaque ? .unsupported : .evaluation)
        case .constant, .entity:
            throw failure("keypath \(text(of: expression)) goes on after a value", expression)
        }
    }

    /// Translates the keys of values: `title.length`.
    private func part(_ key: String, of scalar: QueryScalar) -> QueryScalar? {
        var result = scalar
        switch (key, scalar.kind) {
        case ("length", .string):
            result = QueryScalar(.function(.textLength, [scalar.sql]), .integer)
        case ("uppercaseString", .string), ("uppercased", .string):
            result.sql = .function(.uppercase, [scalar.sql])
        case ("lowercaseString", .string), ("lowercased", .string):
            result.sql = .function(.lowercase, [scalar.sql])
        case ("length", .data), ("count", .data):
            result = QueryScalar(.function(.byteLength, [scalar.sql]), .integer)
        case ("absoluteString", .link):
            result.kind = .string
        case ("timeIntervalSinceReferenceDate", .date):
            result = QueryScalar(seconds(scalar), .real)
        case ("timeIntervalSince1970", .date):
            result = QueryScalar(
                .arithmetic(.add, seconds(scalar), .bind(.real(Self.secondsFrom1970To2001))), .real)
        default:
            return nil
        }
        result.isOptional = scalar.isOptional
        return result
    }

    /// Returns a date as its number in memory.
    func seconds(_ date: QueryScalar) -> SQLExpression {
        .cast(context.dialect.typesValues ? .function(.secondsOfDate, [date.sql]) : date.sql, to: .real)
    }

    private static let secondsFrom1970To2001 = 978_307_200.0

    /// Follows a member's property: a to-many is flattened into the collection's scope.
    private func member(
        _ key: String, of collection: QueryCollection, _ expression: ExpressionNode
    ) throws -> QueryTerm {
        guard case .row(let row) = collection.element,
            let property = context.model.entities[row.entity].property(named: key),
            let relationship = property.relationship, relationship.isToMany, !property.isTransient
        else { return try value(of: key, in: collection.element, expression) }
        let step = try ToManyStep(property, relationship, of: row.entity, context)
        return .row(try context.requireReadable(step.join(to: row), memberOf: row, slot: property.slot))
    }

    private func isToMany(_ key: String, of member: QueryTerm) -> Bool {
        guard case .row(let row) = member else { return false }
        return context.model.entities[row.entity].property(named: key)?.relationship?.isToMany ?? false
    }

    private func property(
        _ key: String, of row: RowReference, _ expression: ExpressionNode
    ) throws -> QueryTerm {
        let entity = context.model.entities[row.entity]
        let found = entity.property(named: key)
        if let attribute = found?.attribute, attribute.hasStoredElements { return try composite(attribute, of: row) }
        guard let property = found, !property.isTransient else {
            switch key {
            case "objectID": return .row(row)
            case "entity": return .entity(row)
            case _ where found == nil && isLackingElement(key, of: entity): return .constant(.null)
            default: throw keyNotFound(key, in: entity, expression)
            }
        }
        switch property.kind {
        case .attribute(let attribute):
            let kind = QueryScalar.Kind(attribute)
            guard let column = try context.column(ofSlot: property.slot, of: row.entity) else {
                return .scalar(QueryScalar(.null, kind))
            }
            let alias = try row.scope.alias(of: row)
            let value = try context.restricted(column, slot: property.slot, of: row)
            var scalar = QueryScalar(column: value, attribute, context.dialect)
            // Indexes contain the values of all rows.
            guard case .column = value else { return .scalar(scalar) }
            scalar.isIndexed = kind.isText && context.isIndexed(slot: property.slot, of: row.entity)
            if kind == .string, let index = try context.searchIndex(ofColumn: column, of: row.entity) {
                scalar.search = (index, .column(alias, "Z_PK"))
            }
            return .scalar(scalar)
        case .relationship(let relationship) where relationship.isToMany:
            let step = try ToManyStep(property, relationship, of: row.entity, context)
            return .collection(try step.collection(of: row, slot: property.slot))
        case .relationship(let relationship):
            let column = try context.column(ofSlot: property.slot, of: row.entity)
            let end = relationship.destination
            let key = try column.map { try context.restricted($0, slot: property.slot, of: row, to: end) } ?? .null
            return .row(RowReference(row.scope, entity: relationship.destination, key: key, isOptional: true))
        case .fetched:
            throw keyNotFound(key, in: entity, expression)
        }
    }
}

/// The tables of a to-many relationship, and the columns that connect rows to owners.
struct ToManyStep {
    let destination: Int
    let context: QueryContext
    private let storage: Storage

    private enum Storage {
        /// The destination's table has the owner's key: `ZITEM.ZUNIT`; for a one-way relationship `ZITEM.Z3ITEMS`.
        case foreignKey(table: String, column: String, order: String?)
        case joinTable(StoreLayout.JoinTable)
    }

    init(
        _ property: CompiledProperty, _ relationship: CompiledRelationship, of entity: Int,
        _ context: QueryContext
    ) throws {
        destination = relationship.destination
        self.context = context
        if let table = context.joinTable(of: property) {
            storage = .joinTable(table)
            return
        }
        let table = try context.table(of: destination)
        let key: String?
        var order: String?
        if let inverse = relationship.inverseSlot {
            key = try context.column(.destinationKey(slot: inverse), of: destination)
            if relationship.isOrdered { order = try context.column(.order(slot: inverse), of: destination) }
        } else {
            let owner = (entity: property.declaringEntity, slot: property.slot)
            key = try context.column(.ownerKey(entity: owner.entity, slot: owner.slot), of: destination)
            if relationship.isOrdered {
                order = try context.column(.ownerOrder(entity: owner.entity, slot: owner.slot), of: destination)
            }
        }
        guard let key else {
            let name = context.model.entities[entity].name
            throw PredicateFailure(
                .unsupported,
                Diagnostic(.error, "relationship '\(property.name)' of entity '\(name)' is not in the store"))
        }
        storage = .foreignKey(table: table, column: key, order: order)
    }

    /// The rows of some owners: the scope, the expressions of owner and order, and the destination row.
    struct Source {
        var scope: QueryScope
        var owner: SQLExpression
        var order: SQLExpression?
        var row: RowReference
    }

    /// Returns a new SELECT over all pairs of the relationship.
    ///
    ///     FROM ZITEM t1         // owner t1.ZUNIT, row t1.Z_PK
    ///     FROM Z_1TAGS t1       // owner t1.Z_1ITEMS, row t1.Z_2TAGS, joined when a column of it is needed
    func source() -> Source {
        switch storage {
        case .foreignKey(let table, let column, let order):
            let scope = QueryScope(table: table, context: context)
            return Source(
                scope: scope, owner: .column(scope.alias, column), order: order.map { .column(scope.alias, $0) },
                row: RowReference(sourceOf: scope, entity: destination))
        case .joinTable(let table):
            let scope = QueryScope(table: table.name, context: context)
            return Source(
                scope: scope, owner: .column(scope.alias, table.ownerColumn),
                order: table.orderColumn.map { .column(scope.alias, $0) },
                row: RowReference(
                    scope, entity: destination, key: .column(scope.alias, table.destinationColumn),
                    isOptional: false))
        }
    }

    /// Returns the members of the row that may be read as a separate SELECT.
    func collection(of owner: RowReference, slot: Int) throws -> QueryCollection {
        let source = source()
        source.scope.require(.comparison(.equal, source.owner, owner.key))
        _ = try context.requireReadable(source.row, memberOf: owner, slot: slot)
        return QueryCollection(
            scope: source.scope, ownerScope: owner.scope, element: .row(source.row),
            order: source.order.map { [$0, source.row.key] },
            optionalOwner: owner.isOptional ? owner.key : nil)
    }

    /// Joins the members of a row that is itself one of many, in the same SELECT.
    ///
    /// If that row is nil, it has one nil member, as in memory; a row without members has none.
    func join(to owner: RowReference) -> RowReference {
        let kind: SelectStatement.Join.Kind = owner.isOptional ? .leftOuter : .inner
        let row: RowReference
        switch storage {
        case .foreignKey(let table, let column, _):
            let alias = owner.scope.join(kind, table) { .comparison(.equal, .column($0, column), owner.key) }
            row = RowReference(
                owner.scope, entity: destination, key: .column(alias, "Z_PK"), alias: alias,
                isOptional: owner.isOptional)
        case .joinTable(let table):
            let alias = owner.scope.join(kind, table.name) {
                .comparison(.equal, .column($0, table.ownerColumn), owner.key)
            }
            row = RowReference(
                owner.scope, entity: destination, key: .column(alias, table.destinationColumn),
                isOptional: owner.isOptional)
        }
        if owner.isOptional { owner.scope.require(.any([.isNotNull(row.key), .isNull(owner.key)])) }
        return row
    }
}
