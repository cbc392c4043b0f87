import Foundation

/// Compares what a device left in the replica with what the account sees in the served store, and with what both agreed
/// on before.
///
/// | replica | served store | then |
/// | --- | --- | --- |
/// | as before | anything | the replica gets the served value, later |
/// | changed | as before | the served store gets the change, if the account may |
/// | changed | changed | merged by the attribute's rule; by default the later one wins |
struct HubPlanner {
    let schema: HubSchema
    let links: [HubKey: HubLink]
    let replica: [HubKey: HubRecord]
    let served: [HubKey: HubRecord]
    /// When a device wrote the value of the replica.
    let writtenByDevice: (HubKey, _ property: String) -> Date
    /// When the value of the served store was saved.
    let writtenByService: (HubKey, _ property: String) -> Date

    /// A value of a device that loses against a later one of the served store.
    struct Loss: Hashable {
        var key: HubKey
        var property: String
    }

    struct Plan {
        var operations: [HubOperation] = []
        var losses: [Loss] = []
        /// Objects that devices changed, and that the account sees no more.
        var lostObjects: [HubKey: [String]] = [:]
    }

    func plan() -> Plan {
        var plan = Plan()
        for (key, record) in replica {
            guard let entity = schema[record.entity] else { continue }
            let (base, other) = (links[key]?.base, served[key])
            if let other {
                // Entities do not change: the served object replaces it.
                guard other.entity == record.entity else { continue }
                let operation = update(key, record, base, other, entity, &plan)
                if !operation.accepted.isEmpty { plan.operations.append(operation) }
            } else if let base {
                let changed = self.changed(record, base, entity)
                if changed.isEmpty { continue }
                if entity.editWins {
                    plan.operations.append(create(key, record, entity))
                } else {
                    plan.lostObjects[key] = changed
                }
            } else {
                plan.operations.append(create(key, record, entity))
            }
        }
        for (key, link) in links where replica[key] == nil {
            guard let other = served[key], let entity = schema[other.entity] else { continue }
            if entity.editWins, !changed(other, link.base, entity).isEmpty { continue }
            plan.operations.append(HubOperation(key: key, entity: other.entity, kind: .delete))
        }
        return plan
    }

    // MARK: New objects

    private func create(_ key: HubKey, _ record: HubRecord, _ entity: HubEntity) -> HubOperation {
        var operation = HubOperation(key: key, entity: record.entity, kind: .create)
        for attribute in entity.attributes { operation.changes[attribute.name] = .copy }
        for toOne in entity.toOnes {
            if let other = record[toOne.name].reference { operation.changes[toOne.name] = .toOne(other) }
        }
        for toMany in entity.toManys {
            let members = record[toMany.name].members
            if members.isEmpty { continue }
            operation.changes[toMany.name] =
                toMany.isOrderOnly
                ? .order(members) : .members(added: members, removed: [], order: toMany.isOrdered ? members : nil)
        }
        operation.accepted = Set(entity.names)
        return operation
    }

    // MARK: Changed objects

    private func changed(_ record: HubRecord, _ base: HubRecord, _ entity: HubEntity) -> [String] {
        entity.names.filter { record[$0] != base[$0] }
    }

    private func update(
        _ key: HubKey, _ record: HubRecord, _ base: HubRecord?, _ other: HubRecord, _ entity: HubEntity,
        _ plan: inout Plan
    ) -> HubOperation {
        var operation = HubOperation(key: key, entity: record.entity, kind: .update)
        for attribute in entity.attributes {
            let (mine, theirs) = (record[attribute.name], other[attribute.name])
            if let base, base[attribute.name] == mine { continue }
            operation.accepted.insert(attribute.name)
            if mine == theirs { continue }
            if let base, attribute.merge != .last {
                operation.changes[attribute.name] = .merge(attribute.merge, base: base[attribute.name])
            } else if [.min, .max].contains(attribute.merge) {
                operation.changes[attribute.name] = .merge(attribute.merge, base: .null)
            } else if base.map({ $0[attribute.name] == theirs }) ?? false || isLater(key, attribute.name) {
                operation.changes[attribute.name] = .copy
            } else {
                lose(key, attribute.name, &plan)
            }
        }
        for toOne in entity.toOnes {
            let (mine, theirs) = (record[toOne.name], other[toOne.name])
            if let base, base[toOne.name] == mine { continue }
            // The deletion of the other object empties the reference, if it is allowed.
            if mine == .null, toOne.hasInverse, let other = base?[toOne.name].reference, isDeleted(other) { continue }
            operation.accepted.insert(toOne.name)
            if mine == theirs { continue }
            if base.map({ $0[toOne.name] == theirs }) ?? false || isLater(key, toOne.name) {
                operation.changes[toOne.name] = .toOne(mine.reference)
            } else {
                lose(key, toOne.name, &plan)
            }
        }
        for toMany in entity.toManys {
            let (mine, theirs) = (record[toMany.name].members, other[toMany.name].members)
            let before = base?[toMany.name].members ?? []
            if base != nil, before == mine { continue }
            operation.accepted.insert(toMany.name)
            if mine == theirs { continue }
            if toMany.isOrderOnly {
                operation.changes[toMany.name] = .order(mine)
                continue
            }
            let (own, former) = (Set(mine), Set(before))
            operation.changes[toMany.name] = .members(
                added: mine.filter { !former.contains($0) },
                removed: before.filter { !own.contains($0) && !isDeleted($0) },
                order: toMany.isOrdered ? mine : nil)
        }
        return operation
    }

    /// Whether a device deleted the object.
    private func isDeleted(_ key: HubKey) -> Bool { replica[key] == nil && links[key] != nil && served[key] != nil }

    /// Values from before a store was attached are no edits.
    private func lose(_ key: HubKey, _ property: String, _ plan: inout Plan) {
        guard writtenByDevice(key, property) > Date(timeIntervalSinceReferenceDate: 1) else { return }
        plan.losses.append(Loss(key: key, property: property))
    }

    private func isLater(_ key: HubKey, _ property: String) -> Bool {
        writtenByDevice(key, property) > writtenByService(key, property)
    }
}

extension HubEntity {
    /// All compared properties.
    var names: [String] { attributes.map(\.name) + toOnes.map(\.name) + toManys.map(\.name) }
}
