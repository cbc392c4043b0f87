import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Fetches dictionaries from the stores; unsaved changes do not count.
struct DictionaryFetch {
    struct Column {
        var name: String
        var expression: ExpressionNode
        /// The attribute of the value; `nil` for IDs and computed values.
        var slot: EntityRuntime.Slot?
        /// The type that the description of a computed value declares.
        var resultType: AttributeType?
        /// The attribute and its entity, if the value's bytes may lie in a file.
        var external: External?
        /// The composite attribute that the dictionary is to have, of which this is an element.
        var composite: String?
    }

    struct External {
        var entity: EntityRuntime
        var slot: Int
    }

    /// A value whose file cannot be read.
    struct Missing {
        var external: External
        var stored: Data
        var error: any Error
    }

    let translation: FetchTranslation
    let coordinator: NSPersistentStoreCoordinator
    private let context: NSManagedObjectContext
    private(set) var columns: [Column]
    let hasComposites: Bool
    let groups: [Column]
    let having: PredicateNode?

    init(
        _ translation: FetchTranslation, coordinator: NSPersistentStoreCoordinator, context: NSManagedObjectContext
    ) throws {
        self.translation = translation
        self.context = context
        self.coordinator = coordinator
        let entity = translation.entity
        let request = translation.request
        if let properties = request.propertiesToFetch, !properties.isEmpty {
            columns = try properties.flatMap { try Self.columns($0, entity: entity, in: coordinator.runtime) }
        } else {
            columns = try entity.slots.filter {
                $0.attribute != nil && $0.property.isStored && $0.property.composite == nil
            }.flatMap { try Self.columns($0.name, entity: entity, in: coordinator.runtime) }
        }
        hasComposites = columns.contains { $0.composite != nil }
        let groups = try (request.propertiesToGroupBy ?? []).flatMap {
            try Self.columns($0, entity: entity, in: coordinator.runtime)
        }
        self.groups = groups
        guard !groups.isEmpty else {
            having = request.havingPredicate?.node
            return
        }
        let isToMany = { Self.isToMany($0, entity, coordinator.runtime) }
        having = try request.havingPredicate?.node.mapOutermost { try $0.ofGroup(entity.name, isToMany: isToMany) }
        columns = try columns.map { column in
            var column = column
            if !groups.contains(where: { $0.expression == column.expression }) {
                column.expression = try column.expression.mapOutermost {
                    try $0.ofGroup(entity.name, isToMany: isToMany)
                }
            }
            return column
        }
    }

    func run(in stores: [AttachedStore]) throws -> [NSDictionary] {
        if columns.isEmpty { return try emptyDictionaries(stores) }
        if stores.count > 1 { return try dictionaries(ofAll: stores) }
        var results: [NSDictionary] = []
        for store in stores {
            try CoreDataErrors.converting {
                var maker = DictionaryMaker(keys: columns.map(\.name))
                // A separate array: reading the columns would count references to their expressions for each row.
                let slots = columns.map(\.slot)
                let externals = columns.map(\.external)
                let hasExternals = externals.contains { $0 != nil }
                let types = columns.map(\.resultType)
                var numbers = columns.map { _ in RecentNumbers() }
                var values = [AnyObject?](repeating: nil, count: columns.count)
                var missing: [Missing] = []
                try store.source.forEachTuple(
                    translation.plan(for: store),
                    columns: columns.map { FetchColumn(name: $0.name, expression: $0.expression) },
                    distinct: translation.request.returnsDistinctResults, groupBy: groups.map(\.expression),
                    having: having
                ) { tuple in
                    for index in slots.indices {
                        var value = tuple[index]
                        if hasExternals, let external = externals[index] {
                            value = plain(value, external, store, &missing)
                        }
                        values[index] = object(value, slots[index], types[index], store, &numbers[index])
                    }
                    results.append(nested(maker.make(&values)))
                }
                for value in missing { tell(value, store) }
            }
        }
        return results
    }

    /// Of an entity without attributes: one for each object.
    private func emptyDictionaries(_ stores: [AttachedStore]) throws -> [NSDictionary] {
        try CoreDataErrors.converting { (0..<(try countOfRows(stores))).map { _ in NSDictionary() } }
    }

    /// Returns the number of objects of all stores in the request's window. If nothing is fetched of them, the distinct
    /// ones, of which there is one.
    func countOfRows(_ stores: [AttachedStore]) throws -> Int {
        guard let first = stores.first else { return 0 }
        let total = try stores.reduce(0) { total, store in
            var plan = translation.plan(for: store)
            (plan.limit, plan.offset) = (0, 0)
            return try total + store.source.count(plan)
        }
        let isDistinct = columns.isEmpty && translation.request.returnsDistinctResults
        return FetchPlanner.counted(isDistinct ? min(total, 1) : total, translation.plan(for: first))
    }

    /// Returns the value of the stored bytes; nil if they refer to a file that cannot be read.
    func plain(
        _ value: Value, _ external: External, _ store: AttachedStore, _ missing: inout [Missing]
    ) -> Value {
        guard case .data(let stored) = value else { return value }
        do {
            return .data(try stored.withUnsafeBytes { try store.source.bytes(ofStored: $0) })
        } catch {
            missing.append(Missing(external: external, stored: stored, error: error))
            return .null
        }
    }

    func tell(_ value: Missing, _ store: AttachedStore) {
        let (entity, slot) = (value.external.entity, value.external.slot)
        let key = store.source.key(ofRowStoring: value.stored, slot: slot, entity: entity.ordinal)
        let owner = key.map { "\(coordinator.runtime.entities[$0.entity].name) \($0.primaryKey)" } ?? entity.name
        UnreadableValues.tell(value.error, "'\(entity.slots[slot].name)' of \(owner)", context)
    }

    /// The value as a dictionary keeps it.
    func object(
        _ value: Value, _ slot: EntityRuntime.Slot?, _ declared: AttributeType?, _ store: AttachedStore,
        _ numbers: inout RecentNumbers
    ) -> AnyObject? {
        let kind = slot?.kind ?? declared?.kind
        let value = declared.map { value.converted(to: $0) } ?? value
        switch value {
        case .null: return nil
        case .string(let text): return NSString(string: text)
        case .double(let number): return numbers.number(number, isFloat: kind == .single)
        case .integer(let number):
            return kind == .boolean ? SharedNumbers.boolean(number != 0) : SharedNumbers.integer(number)
        case .opaque(let box):
            guard let key = box.object as? RowKey else { break }
            return NSManagedObjectID(
                runtime: coordinator.runtime.entities[key.entity], primaryKey: key.primaryKey, store: store)
        default: break
        }
        let any: Any? =
            if let slot, slot.type == .transformable, case .data(let data) = value {
                ManagedObjectValues.any(Transformation.value(from: data, attribute: slot), slot: slot)
            } else if let slot {
                ManagedObjectValues.any(value, slot: slot)
            } else {
                OperandBridging.any(from: .value(value))
            }
        return any as AnyObject?
    }

    /// Returns the column of a property; for a composite attribute, those of its elements.
    private static func columns(
        _ property: Any, entity: EntityRuntime, in model: ModelRuntime
    ) throws -> [Column] {
        let isPlain = !(property is NSExpressionDescription)
        guard isPlain, let name = (property as? NSPropertyDescription)?.path ?? property as? String,
            let (owner, slot) = composite(name, entity, in: model)
        else { return [try column(property, entity: entity, in: model)] }
        let composite = owner.slots[slot]
        return try composite.leaves.map { leaf in
            let rest = owner.slots[leaf].name.dropFirst(composite.name.count + 1)
            var column = try column("\(name).\(rest)", entity: entity, in: model)
            column.composite = name
            return column
        }
    }

    /// Returns the composite attribute at the end of a path, with its entity; `nil` if the path ends elsewhere.
    private static func composite(
        _ path: String, _ entity: EntityRuntime, in model: ModelRuntime
    ) -> (entity: EntityRuntime, slot: Int)? {
        var rest = path.split(separator: ".").map(String.init)[...]
        var current = entity
        while let found = current.slot(at: rest) {
            let info = current.slots[found.slot]
            rest = found.rest
            if rest.isEmpty { return info.kind == .composite && info.property.isStored ? (current, found.slot) : nil }
            guard let relationship = info.relationship else { return nil }
            current = model.entities[relationship.destination]
        }
        return nil
    }

    private static func column(
        _ property: Any, entity: EntityRuntime, in model: ModelRuntime
    ) throws -> Column {
        // Without an expression, the description stands for the property of its name.
        if let description = property as? NSExpressionDescription, let expression = description.expression {
            guard !description.name.isEmpty else {
                throw CoreDataErrors.invalidRequest(
                    "An NSExpressionDescription of a fetch needs a name, which is the value's key in the dictionaries: "
                        + "\(expression.node.predicateFormat) has none.")
            }
            let declared = description.expressionResultType.compiled
            let type = declared == .undefined ? nil : declared
            // An attribute by another name.
            if case .keyPath(.evaluatedObject, let keys) = expression.node,
                let column = try? column(keys.joined(separator: "."), entity: entity, in: model)
            {
                // The attribute knows what its transformer makes of the value.
                let isTransformable = column.slot?.type == .transformable
                return Column(
                    name: description.name, expression: expression.node, slot: isTransformable ? column.slot : nil,
                    resultType: isTransformable ? nil : type, external: column.external)
            }
            return Column(name: description.name, expression: expression.node, slot: nil, resultType: type)
        }
        let name = (property as? NSPropertyDescription)?.path ?? property as? String ?? ""
        if name == "objectID" || name == "self" {
            return Column(name: name, expression: .evaluatedObject, slot: nil)
        }
        let keys = name.split(separator: ".").map(String.init)
        var current = entity
        var rest = keys[...]
        while let key = rest.first {
            if key == "objectID", rest.count == 1, keys.count > 1 {
                return Column(name: name, expression: .keyPath(operand: .evaluatedObject, keys), slot: nil)
            }
            guard let found = current.slot(at: rest) else {
                throw CoreDataErrors.invalidRequest(
                    "propertiesToFetch: keypath \(name) not found in entity \(current.name)")
            }
            let info = current.slots[found.slot]
            rest = found.rest
            if rest.isEmpty {
                guard !info.isToMany, !info.property.isTransient else {
                    throw CoreDataErrors.invalidRequest(
                        "propertiesToFetch: '\(name)' of entity '\(entity.name)' is "
                            + (info.isToMany ? "to-many" : "transient") + " and cannot be a dictionary's value")
                }
                let isExternal = info.attribute?.allowsExternalBinaryDataStorage == true
                return Column(
                    name: name, expression: .keyPath(operand: .evaluatedObject, keys),
                    slot: info.attribute == nil ? nil : info,
                    external: isExternal ? External(entity: current, slot: found.slot) : nil)
            }
            guard let relationship = info.relationship else { break }
            current = model.entities[relationship.destination]
        }
        throw CoreDataErrors.invalidRequest("propertiesToFetch: '\(name)' is no property of '\(entity.name)'")
    }
}

extension ExpressionNode {
    /// Returns the aggregate over a group of an expression that has one value per row, since it follows a to-many: the
    /// sum of the counts, the minimum of the minima. `nil` for other expressions.
    ///
    ///     books.@count        // sum:(count:(books)), as count:(books)
    ///     books.@min.pages    // min:(min:(books.pages)), as min:(books.pages)
    fileprivate func ofGroup(_ entity: String, isToMany: ([String]) -> Bool) throws -> ExpressionNode? {
        switch self {
        case .keyPath:
            guard let each = ofEach(isToMany) else { return self }
            return try Self.ofGroup(each.name, .function(each.name, [each.members]), entity)
        case .function(let name, let arguments) where arguments.count == 1 && Self.isAggregate(name):
            switch arguments[0] {
            case .keyPath(.evaluatedObject, let keys) where isToMany(keys) && !keys.contains { $0.hasPrefix("@") }:
                return try Self.ofGroup(name, self, entity)
            case .subquery: return try Self.ofGroup(name, self, entity)
            default:
                // It is of the group already: sum:(books.@count).
                guard let each = arguments[0].ofEach(isToMany) else { return self }
                return .function(name, [.function(each.name, [each.members])])
            }
        case .subquery: return self
        default: return nil
        }
    }

    private static func isAggregate(_ name: String) -> Bool {
        ["count:", "sum:", "min:", "max:", "average:", "median:", "mode:", "stddev:"].contains(name)
    }

    /// Returns the function that a path with a collection operator represents, and its argument; `nil` for other
    /// expressions.
    private func ofEach(_ isToMany: ([String]) -> Bool) -> (name: String, members: ExpressionNode)? {
        guard case .keyPath(let operand, let keys) = self, let place = keys.firstIndex(where: { $0.hasPrefix("@") }),
            !keys[(place + 1)...].contains(where: { $0.hasPrefix("@") })
        else { return nil }
        switch operand {
        case .subquery: break
        case .evaluatedObject: if !isToMany(Array(keys[..<place])) { return nil }
        default: return nil
        }
        let name = keys[place] == "@avg" ? "average:" : keys[place].dropFirst() + ":"
        guard Self.isAggregate(name) else { return nil }
        let path = Array(keys[..<place]) + (name == "count:" ? [] : keys[(place + 1)...])
        return (name, path.isEmpty ? operand : .keyPath(operand: operand, path))
    }

    private static func ofGroup(_ name: String, _ each: ExpressionNode, _ entity: String) throws -> ExpressionNode? {
        switch name {
        case "count:", "sum:": return .function("sum:", [each])
        case "min:", "max:": return .function(name, [each])
        case "average:", "median:", "mode:", "stddev:":
            throw CoreDataErrors.invalidRequest(
                "\(each.predicateFormat) is of the members of each '\(entity)', and cannot be grouped: divide sums by counts, or fetch the "
                    + "members and group those.")
        default: return nil
        }
    }
}
