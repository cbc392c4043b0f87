import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore

// Relationships: what new rows refer to, members of to-manys, and references to deleted rows.
extension AccessCheck {
    // MARK: To-ones

    /// Throws if a to-one was set to an object that the accessor may not read, or if it may not change the members on
    /// the other side.
    func checkDestinations(_ rows: [(old: RowSnapshot?, new: RowSnapshot)], _ entity: Int) throws {
        let compiled = model.entities[entity]
        for property in compiled.properties where !property.isTransient {
            guard let relationship = property.relationship, !relationship.isToMany else { continue }
            let column = compiled.rowLayout.columnOfSlot[property.slot]
            guard column >= 0 else { continue }
            func key(_ row: RowSnapshot?) -> Int64? { row.flatMap { $0.isNull(column) ? nil : $0.integer(column) } }
            let moved = rows.filter { key($0.old) != key($0.new) }
            try checkDestination(Set(moved.compactMap { key($0.new) }), property, relationship, entity)
            let ends = Set(moved.flatMap { [key($0.old), key($0.new)] }.compactMap { $0 })
            try checkMembers(ends, on: relationship)
        }
    }

    /// Like ``checkDestinations(_:_:)``, for rows that a statement has changed.
    func checkStoredDestinations(_ keys: [RowKey], _ columns: IndexMask, _ entity: Int) throws {
        let compiled = model.entities[entity]
        for slot in slots(of: columns, entity) {
            let property = compiled.properties[slot]
            guard let relationship = property.relationship else { continue }
            let destinations = try destinations(of: keys, property, entity)
            try checkDestination(destinations, property, relationship, entity)
            try checkMembers(destinations, on: relationship)
        }
    }

    /// Returns the objects to which a to-one of the rows, all of one entity, refers.
    private func destinations(of keys: [RowKey], _ property: CompiledProperty, _ entity: Int) throws -> Set<Int64> {
        var found: Set<Int64> = []
        for part in keys.portions(of: 500) {
            var plan = FetchPlan(entity: entity)
            plan.includesSubentities = false
            plan.predicate = .rows(part)
            found.formUnion(try store.destinationKeys(plan, toOne: property.name).map(\.primaryKey))
        }
        return found
    }

    private func checkDestination(
        _ keys: Set<Int64>, _ property: CompiledProperty, _ relationship: CompiledRelationship, _ entity: Int
    ) throws {
        guard !keys.isEmpty, !access.security.readsAllRows(of: relationship.destination) else { return }
        let root = model.entities[relationship.destination].root
        let own = Set(inserted.filter { model.entities[$0.entity].root == root }.map(\.primaryKey))
        let others = keys.subtracting(own)
        var readable: Set<Int64> = []
        for (entity, keys) in Dictionary(grouping: try stored(others, of: relationship.destination), by: \.entity) {
            readable.formUnion(try self.readable(keys, entity).map(\.primaryKey))
        }
        guard readable.isSuperset(of: others) else {
            throw AccessDenied(
                .update, model.entities[entity].name, property: property.name,
                rule: access.rules.text(.read, relationship.destination), isNew: true,
                reason:
                    "it refers to an object of entity '\(model.entities[relationship.destination].name)' that does not exist or may not be read"
            )
        }
    }

    /// Throws if a to-many, which is the inverse, has a rule for updates that forbids to add or remove members.
    private func checkMembers(_ owners: Set<Int64>, on relationship: CompiledRelationship) throws {
        guard let inverse = relationship.inverseSlot,
            model.entities[relationship.destination].subtree.contains(where: {
                access.updateCondition(slot: inverse, of: $0) != nil
            })
        else { return }
        for (entity, keys) in Dictionary(grouping: try stored(owners, of: relationship.destination), by: \.entity) {
            try requireProperty(inverse, keys, entity, isNew: true)
        }
    }

    /// Throws unless the accessor may change the members of one-way to-manys, whose owners are in columns of their
    /// members.
    func checkOwners(_ rows: [(old: RowSnapshot?, new: RowSnapshot)], _ entity: Int) throws {
        for (column, description) in model.entities[entity].rowLayout.columns.enumerated() {
            guard case .ownerKey(let owner, let slot) = description.role else { continue }
            func key(_ row: RowSnapshot?) -> Int64? { row.flatMap { $0.isNull(column) ? nil : $0.integer(column) } }
            let moved = rows.filter { key($0.old) != key($0.new) }
            let keys = Set(moved.flatMap { [key($0.old), key($0.new)] }.compactMap { $0 })
            guard !keys.isEmpty else { continue }
            let created = inserted.map { Row(root: model.entities[$0.entity].root, key: $0.primaryKey) }
            try check(End(owner, slot), keys, created: Set(created), isNew: true)
        }
    }

    // MARK: Pairs of many-to-manys

    /// Throws unless the accessor may change the members on both sides of each pair. Pairs of deleted rows go with
    /// them.
    func checkLinks(_ changes: ChangeSet, isNew: Bool) throws {
        guard !changes.links.isEmpty else { return }
        let deleted = Set(
            changes.deletions.map(\.key).map { Row(root: model.entities[$0.entity].root, key: $0.primaryKey) })
        let created = Set(
            changes.insertions.map(\.row.key).map { Row(root: model.entities[$0.entity].root, key: $0.primaryKey) })
        var ends: [End: Set<Int64>] = [:]
        for link in changes.links {
            let property = model.entities[link.entity].properties[link.slot]
            guard let relationship = property.relationship else { continue }
            let owner = Row(root: model.entities[link.entity].root, key: link.owner)
            let destination = Row(root: model.entities[relationship.destination].root, key: link.destination)
            if deleted.contains(owner) || deleted.contains(destination) { continue }
            if isNew || !created.contains(owner) { ends[End(link.entity, link.slot), default: []].insert(link.owner) }
            if isNew || !created.contains(destination) {
                ends[End(relationship.destination, relationship.inverseSlot), default: []].insert(link.destination)
            }
        }
        for (end, keys) in ends { try check(end, keys, created: created, isNew: isNew) }
    }

    private struct Row: Hashable {
        var root: Int
        var key: Int64
    }

    /// One side of a relationship; without a slot, it has no property there.
    private struct End: Hashable {
        var entity: Int
        var slot: Int?

        init(_ entity: Int, _ slot: Int?) {
            self.entity = entity
            self.slot = slot
        }
    }

    private func check(_ end: End, _ keys: Set<Int64>, created: Set<Row>, isNew: Bool) throws {
        let root = model.entities[end.entity].root
        let found = try stored(keys, of: end.entity)
        var readable: Set<Int64> = Set(keys.filter { created.contains(Row(root: root, key: $0)) })
        for (entity, keys) in Dictionary(grouping: found, by: \.entity) {
            readable.formUnion(try self.readable(keys, entity).map(\.primaryKey))
            guard let slot = end.slot else { continue }
            let stored = keys.filter { !created.contains(Row(root: root, key: $0.primaryKey)) }
            if access.updateCondition(slot: slot, of: entity) != nil {
                try requireProperty(slot, keys, entity, isNew: isNew)
            } else {
                try require(.update, stored, entity, isNew: isNew)
            }
        }
        guard readable.isSuperset(of: keys) else {
            throw access.denied(
                .update, end.entity, slot: end.slot,
                reason: "a member of the relationship does not exist or may not be read")
        }
    }

    // MARK: Deleted rows

    /// Throws if a delete rule of rows that will be deleted concerns an object that the accessor may not read: the
    /// context did not see it.
    func checkHiddenDestinations(of keys: [RowKey], _ entity: Int, _ changes: ChangeSet) throws {
        let compiled = model.entities[entity]
        let properties = compiled.properties.filter { property in
            guard let relationship = property.relationship, !property.isTransient, !relationship.isToMany else {
                return false
            }
            return [.cascade, .deny].contains(relationship.deleteRule)
                && (!access.security.readsAllRows(of: relationship.destination)
                    || access.security.properties[entity][property.slot] != nil)
        }
        guard !properties.isEmpty else { return }
        let deleted = Set(
            changes.deletions.map { Row(root: model.entities[$0.key.entity].root, key: $0.key.primaryKey) })
        for property in properties {
            guard let relationship = property.relationship else { continue }
            let root = model.entities[relationship.destination].root
            let left = try destinations(of: keys, property, entity).filter {
                !deleted.contains(Row(root: root, key: $0))
            }
            if try !stored(left, of: relationship.destination).isEmpty { throw refersToHidden(property, entity) }
        }
    }

    /// Throws if rows refer to deleted ones: the context did not see them, so that it neither changed nor deleted them.
    func checkReferences(to deleted: [RowKey]) throws {
        for (entity, keys) in Dictionary(grouping: deleted, by: \.entity) {
            for property in model.entities[entity].properties where !property.isTransient {
                guard let relationship = property.relationship, relationship.deleteRule != .noAction,
                    !access.security.readsAllRows(of: relationship.destination)
                        || access.security.properties[entity][property.slot] != nil
                        || relationship.inverseSlot.map({ hides($0, of: relationship.destination) }) ?? false
                else { continue }
                if try refers(property, relationship, keys, entity) { throw refersToHidden(property, entity) }
            }
        }
    }

    private func hides(_ slot: Int, of entity: Int) -> Bool {
        model.entities[entity].subtree.contains { access.security.properties[$0][slot] != nil }
    }

    private func refers(
        _ property: CompiledProperty, _ relationship: CompiledRelationship, _ keys: [RowKey], _ entity: Int
    ) throws -> Bool {
        if relationship.isToMany {
            return try !store.memberKeys(entity: entity, slot: property.slot, owners: keys.map(\.primaryKey)).isEmpty
        }
        guard let inverse = relationship.inverseSlot else { return false }
        let other = model.entities[relationship.destination].properties[inverse]
        guard other.relationship?.isToMany == false else { return false }
        return try keys.portions(of: 500).contains { part in
            var plan = FetchPlan(entity: relationship.destination)
            plan.predicate = .comparison(
                .init(
                    .keyPath(operand: .evaluatedObject, [other.name]), .in,
                    .constant(.collection(part.map { .key($0) }, isOrdered: true))))
            return try !store.keys(plan).isEmpty
        }
    }

    private func refersToHidden(_ property: CompiledProperty, _ entity: Int) -> AccessDenied {
        access.denied(
            .delete, entity,
            reason: "objects that the accessor may not read refer to it by the inverse of '\(property.name)'")
    }
}
