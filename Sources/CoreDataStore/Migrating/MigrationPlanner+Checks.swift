import CoreDataModel
import CoreDataSQL

extension MigrationPlanner {
    /// Returns checks for rows that must not exist: objects that would be lost or changed wrongly without a decision of
    /// the developer.
    func checks(_ flows: [MigrationFlow]) throws -> [MigrationStep] {
        var steps: [MigrationStep] = []
        for flow in flows {
            guard let table = flow.oldTable else { continue }
            for member in flow.members {
                let entity = newModel.entities[member.new]
                if entity.isAbstract, !oldModel.entities[member.old].isAbstract {
                    steps.append(abstractCheck(entity, member, table))
                }
                for role in roles[member.new].values { steps += doubts(role, member, flow) }
            }
        }
        var seen: Set<SelectStatement> = []
        return steps.filter { step in
            guard case .refuse(let query, _) = step.action else { return true }
            return seen.insert(query).inserted
        }.sorted { ($0.subject ?? "") < ($1.subject ?? "") }
    }

    /// Returns queries for the number of objects of each removed entity.
    func removedObjects() -> [(entity: String, count: SelectStatement)] {
        source.entities.compactMap { ordinal in
            guard mapping.destination(of: ordinal) == nil, let bound = source.schema.layout.entities[ordinal],
                let number = source.schema.numbers[ordinal]
            else { return nil }
            var query = SelectStatement([.init(.countAll)], from: .init(bound.table))
            query.condition = .comparison(.equal, .column(nil, "Z_ENT"), .integer(number))
            return (oldModel.entities[ordinal].name, query)
        }
    }

    private func abstractCheck(
        _ entity: CompiledEntity, _ member: MigrationFlow.Member, _ table: String
    ) -> MigrationStep {
        var query = SelectStatement([.init(.column(nil, "Z_PK"))], from: .init(table))
        query.condition = .comparison(.equal, .column(nil, "Z_ENT"), .integer(source.schema.numbers[member.old] ?? 0))
        query.limit = 1
        return MigrationStep(
            .refuse(
                query,
                because:
                    "The entity '\(entity.name)' has become abstract, and the store has objects of it: delete them, or make them objects of another entity, before the model changes."
            ), "check that there are no objects of \(entity.name), which is abstract now", subject: entity.name)
    }

    /// Checks a to-one relationship that takes its pairs from one that could have several objects.
    private func doubts(
        _ role: RowLayout.Role, _ member: MigrationFlow.Member, _ flow: MigrationFlow
    ) -> [MigrationStep] {
        let end: End?
        let name: String
        switch role {
        case .destinationKey(let slot):
            end = toOne(slot, member, flow)
            name = "\(newModel.entities[member.new].name).\(newModel.entities[member.new].properties[slot].name)"
        case .ownerKey(let entity, let slot):
            end = owner(entity, slot, member, flow)
            name = "\(newModel.entities[entity].name).\(newModel.entities[entity].properties[slot].name)"
        default: return []
        }
        return (end?.doubtful ?? []).map { links in
            let near = SQLExpression.column(nil, links.near)
            var query = SelectStatement([.init(near)], from: .init(links.table))
            query.condition = .isNotNull(near)
            query.groups = [near]
            query.having = .comparison(.greater, .countAll, .integer(1))
            query.limit = 1
            return MigrationStep(
                .refuse(
                    query,
                    because:
                        "An object can be in the relationship '\(name)' once only, or of one object only, and in the store some are in several, so that nothing says which stays: give the relationship a to-many inverse, or write a mapping model."
                ), "check that no object would be in \(name) more than once", subject: name)
        }
    }
}
