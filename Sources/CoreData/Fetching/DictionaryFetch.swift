import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Dictionary results: what the store has, unsaved changes aside (M5, M6).
struct DictionaryFetch {
    private struct Column {
        var name: String
        var expression: ExpressionNode
        /// The attribute whose value it is; `nil` for IDs and computed values.
        var slot: EntityRuntime.Slot?
    }

    private let translation: FetchTranslation
    private let coordinator: NSPersistentStoreCoordinator
    private let columns: [Column]
    private let groups: [ExpressionNode]

    init(_ translation: FetchTranslation, coordinator: NSPersistentStoreCoordinator) throws {
        self.translation = translation
        self.coordinator = coordinator
        let entity = translation.entity
        let request = translation.request
        if let properties = request.propertiesToFetch, !properties.isEmpty {
            columns = try properties.map { try Self.column($0, entity: entity, in: coordinator.runtime) }
        } else {
            columns = try entity.slots.filter { $0.attribute != nil && !$0.property.isTransient }
                .map { try Self.column($0.name, entity: entity, in: coordinator.runtime) }
        }
        groups = try (request.propertiesToGroupBy ?? []).map {
            try Self.column($0, entity: entity, in: coordinator.runtime).expression
        }
    }

    func run(in stores: [AttachedStore]) throws -> [NSDictionary] {
        var results: [NSDictionary] = []
        for store in stores {
            try CoreDataErrors.converting(coordinator) {
                var maker = DictionaryMaker(keys: columns.map(\.name))
                // Beside the columns, whose expressions would be counted for each row.
                let slots = columns.map(\.slot)
                var numbers = columns.map { _ in RecentNumbers() }
                var values = [AnyObject?](repeating: nil, count: columns.count)
                try store.source.forEachTuple(
                    translation.plan(for: store),
                    columns: columns.map { FetchColumn(name: $0.name, expression: $0.expression) },
                    distinct: translation.request.returnsDistinctResults, groupBy: groups,
                    having: translation.request.havingPredicate?.node
                ) { tuple in
                    for index in slots.indices {
                        values[index] = object(tuple[index], slots[index], store, &numbers[index])
                    }
                    results.append(maker.make(&values))
                }
            }
        }
        return results
    }

    /// The value as a dictionary keeps it.
    private func object(
        _ value: Value, _ slot: EntityRuntime.Slot?, _ store: AttachedStore, _ numbers: inout RecentNumbers
    ) -> AnyObject? {
        switch value {
        case .null: return nil
        case .string(let text): return NSString(string: text)
        case .double(let number): return numbers.number(number, isFloat: slot?.type == .float)
        case .integer(let number):
            return slot?.type == .boolean ? SharedNumbers.boolean(number != 0) : SharedNumbers.integer(number)
        case .opaque(let box):
            guard let key = box.object as? RowKey else { break }
            return NSManagedObjectID(
                runtime: coordinator.runtime.entities[key.entity], primaryKey: key.primaryKey, store: store)
        default: break
        }
        let any: Any? =
            if let slot { ManagedObjectValues.any(value, slot: slot) } else {
                OperandBridging.any(from: .value(value))
            }
        return any as AnyObject?
    }

    private static func column(
        _ property: Any, entity: EntityRuntime, in model: ModelRuntime
    ) throws -> Column {
        // Without an expression, the description stands for the property of its name.
        if let description = property as? NSExpressionDescription, let expression = description.expression {
            return Column(name: description.name, expression: expression.node, slot: nil)
        }
        let name = (property as? NSPropertyDescription)?.name ?? property as? String ?? ""
        if name == "objectID" || name == "self" {
            return Column(name: name, expression: .evaluatedObject, slot: nil)
        }
        let keys = name.split(separator: ".").map(String.init)
        var current = entity
        for (index, key) in keys.enumerated() {
            guard let slot = current.slot(forKey: key) else {
                throw CoreDataErrors.invalidRequest(
                    "propertiesToFetch: keypath \(name) not found in entity \(current.name)")
            }
            let info = current.slots[slot]
            let isLast = index == keys.count - 1
            if isLast {
                guard !info.isToMany, !info.property.isTransient else {
                    throw CoreDataErrors.invalidRequest(
                        "propertiesToFetch: '\(name)' of entity '\(entity.name)' is "
                            + (info.isToMany ? "to-many" : "transient") + " and cannot be a dictionary's value")
                }
                return Column(
                    name: name, expression: .keyPath(operand: .evaluatedObject, keys),
                    slot: info.attribute == nil ? nil : info)
            }
            guard let relationship = info.relationship else { break }
            current = model.entities[relationship.destination]
        }
        throw CoreDataErrors.invalidRequest("propertiesToFetch: '\(name)' is no property of '\(entity.name)'")
    }
}
