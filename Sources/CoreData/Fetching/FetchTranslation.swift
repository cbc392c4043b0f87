import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// The crossing from a fetch request to the engine's plan: names become ordinals, objects become rows.
struct FetchTranslation {
    let request: AnyFetchRequest
    let entity: EntityRuntime
    let sorts: [FetchPlan.Sort]
    /// Whether the request needs objects for what no row has: a block, a transient property, a comparator.
    let asksObjects: Bool
    /// The request's predicate with its objects; what memory evaluates.
    private let predicate: PredicateNode?
    private let evaluator: PredicateEvaluator?
    /// The only stores that are asked; `nil` for all.
    private let affectedStores: [NSPersistentStore]?
    /// The bounds of the primary keys of the rows that are wanted; `nil` for all.
    var keys: ClosedRange<Int64>?

    /// - Parameters:
    ///   - mayAskObjects: whether the caller evaluates and sorts objects if ``asksObjects`` is true; called with the
    ///     entity, only if it matters.
    ///   - clock: the time of `now()` in the predicate.
    /// - Throws: an error for a request without an entity, with an entity that the model lacks, or with a sort
    ///   descriptor that no store supports.
    init(
        _ request: AnyFetchRequest, in model: ModelRuntime, clock: @autoclosure () -> StoreClock,
        mayAskObjects: (EntityRuntime) throws -> Bool = { _ in false }
    ) throws {
        guard let name = request.entityName, !name.isEmpty else {
            throw CoreDataErrors.invalidRequest("A fetch request must have an entity.")
        }
        guard let entity = model.entity(named: name) else {
            throw CoreDataErrors.invalidRequest(
                "The fetch request's entity '\(name)' is not in the model, which has: "
                    + model.entities.map(\.name).joined(separator: ", "))
        }
        try Self.checkGrouping(request)
        try Self.checkProperties(request, of: entity)
        self.request = request
        self.entity = entity
        let descriptors = request.sortDescriptors ?? []
        let sortsObjects =
            try descriptors.contains { $0.asksObjects(of: entity, in: model) } && mayAskObjects(entity)
        sorts = sortsObjects ? [] : try descriptors.map { try Self.sort($0, entity: entity, in: model) }
        predicate = try request.predicate?.node.flattened().runningFetches()
            .foldingConstants(in: EvaluationFrame(now: clock().now)).readingNumbersAsTexts(of: entity, in: model)
        evaluator = predicate.map { PredicateEvaluator($0) }
        asksObjects =
            try sortsObjects || predicate?.asksObjects(of: entity, in: model) == true && mayAskObjects(entity)
        affectedStores = request.affectedStores.flatMap { $0.isEmpty ? nil : $0 }
        // If no row is read, no other code reports this.
        if let predicate, predicate.hasVariable, let variable = predicate.freeVariables.first {
            throw CoreDataErrors.invalidRequest(
                "The predicate of the request for entity '\(name)' has no value for variable $\(variable): substitute it before the "
                    + "fetch, withSubstitutionVariables([\"\(variable)\": …]).")
        }
    }

    /// Returns the plan for one store.
    func plan(for store: AttachedStore) -> FetchPlan {
        var plan = FetchPlan(entity: entity.ordinal)
        (plan.includesSubentities, plan.keys) = (request.includesSubentities, keys)
        if asksObjects { return plan }
        plan.predicate = predicate.map { node in
            node.mapExpressions { $0.replacingObjects(inStore: store.identifier) }
        }
        (plan.sorts, plan.limit, plan.offset) = (sorts, request.boundedLimit, request.boundedOffset)
        return plan
    }

    private static func checkGrouping(_ request: AnyFetchRequest) throws {
        guard request.resultType != .dictionaryResultType else { return }
        let isGrouped = request.propertiesToGroupBy?.isEmpty == false
        guard isGrouped || request.havingPredicate != nil else { return }
        throw CoreDataErrors.invalidRequest(
            "\(isGrouped ? "propertiesToGroupBy" : "havingPredicate") is for dictionaries: set resultType to "
                + ".dictionaryResultType.")
    }

    /// The properties of dictionaries are checked when these are made.
    private static func checkProperties(_ request: AnyFetchRequest, of entity: EntityRuntime) throws {
        guard request.resultType != .dictionaryResultType, let properties = request.propertiesToFetch else { return }
        for property in properties {
            if property is NSExpressionDescription {
                throw CoreDataErrors.invalidRequest(
                    "Invalid property (\((property as? NSPropertyDescription)?.name ?? "")) passed to propertiesToFetch: expressions are "
                        + "for dictionaries: set resultType to .dictionaryResultType.")
            }
            guard let name = property as? String ?? (property as? NSPropertyDescription)?.path,
                entity.slot(forKey: name) != nil
            else {
                throw CoreDataErrors.invalidRequest(
                    "Invalid keypath \(property) passed to propertiesToFetch: entity '\(entity.name)' has "
                        + entity.slots.map(\.name).joined(separator: ", "))
            }
        }
    }

    /// Whether the object is of the entity that is asked for, and in a store that is.
    func includes(_ object: NSManagedObject) -> Bool {
        let isOfEntity = includes(entity: object.runtime.ordinal)
        guard isOfEntity, let affectedStores else { return isOfEntity }
        let store = object.home.store ?? object.managedObjectContext?.futureStore(of: object)
        return affectedStores.contains { $0 === store?.store }
    }

    func includes(entity ordinal: Int?) -> Bool {
        guard let ordinal else { return false }
        return request.includesSubentities ? entity.compiled.subtree.contains(ordinal) : ordinal == entity.ordinal
    }

    /// - Parameter frame: gives the predicate the clock's time; `nil` for the system's clock.
    func matches(_ object: NSManagedObject, in frame: EvaluationFrame? = nil) throws -> Bool {
        guard includes(object) else { return false }
        guard let evaluator else { return true }
        return try evaluator.evaluate(.object(object), in: frame)
    }

    /// Sorts objects as the request says.
    func sort(_ objects: inout [NSManagedObject]) throws {
        guard asksObjects, sorts.isEmpty, let descriptors = request.sortDescriptors else {
            return try ObjectSorter(sorts: sorts).sort(&objects)
        }
        objects = (NSArray(array: objects).sortedArray(using: descriptors) as? [NSManagedObject]) ?? objects
    }

    private static func sort(
        _ descriptor: NSSortDescriptor, entity: EntityRuntime, in model: ModelRuntime
    ) throws -> FetchPlan.Sort {
        guard let ordering = descriptor.ordering, case .order(let comparison) = ordering.comparison,
            let path = ordering.key, !path.isEmpty
        else {
            if let ordering = descriptor.ordering, case .order = ordering.comparison {
                throw CoreDataErrors.invalidRequest("A sort descriptor of a fetch needs a key: \(descriptor)")
            }
            throw CoreDataErrors.invalidRequest(
                "unsupported NSSortDescriptor (comparator blocks are not supported): \(descriptor)")
        }
        var current = entity
        let keys = path.split(separator: ".").map(String.init)
        var rest = keys[...]
        while let key = rest.first {
            if ["self", "objectID"].contains(key), rest.count == 1 { break }
            guard let (slot, remainder) = current.slot(at: rest) else {
                if key == "entity", Array(rest.dropFirst()) == ["name"] { break }
                throw CoreDataErrors.invalidRequest(
                    "keypath \(path) not found in entity \(current.name), which has: "
                        + current.slots.map(\.name).joined(separator: ", "))
            }
            let info = current.slots[slot]
            rest = remainder
            if info.kind == .composite {
                throw CoreDataErrors.invalidRequest(
                    "'\(path)' of entity '\(current.name)' cannot be sorted by: "
                        + (rest.first.map { "the composite attribute '\(info.name)' has no element '\($0)'" }
                            ?? "it is composite, name one of its elements")
                        + ": " + info.elements.map { current.slots[$0].name }.joined(separator: ", "))
            }
            if info.isToMany {
                throw CoreDataErrors.invalidRequest("to-many key not allowed here: sort by '\(path)'")
            }
            if info.property.isTransient {
                throw CoreDataErrors.invalidRequest(
                    "keypath \(path) not found in entity \(current.name): '\(key)' is transient")
            }
            if let relationship = info.relationship { current = model.entities[relationship.destination] }
        }
        return FetchPlan.Sort(keyPath: keys, isAscending: ordering.ascending, comparison: comparison)
    }
}

extension NSSortDescriptor {
    /// Whether it is code, or a transient property of the entity, that sorts.
    fileprivate func asksObjects(of entity: EntityRuntime, in model: ModelRuntime) -> Bool {
        guard let ordering, case .order = ordering.comparison else { return true }
        return ordering.key.map { key in
            entity.leads(key.split(separator: ".").map(String.init), in: model) { $0.property.isTransient }
        } ?? false
    }
}

extension PredicateNode {
    /// Returns whether the expression needs code, a transient property, or the result of a transformer.
    fileprivate func asksObjects(of entity: EntityRuntime, in model: ModelRuntime) -> Bool {
        if containsBlocks { return true }
        var found = false
        forEachExpression { expression in
            if case .keyPath(.evaluatedObject, let keys) = expression,
                entity.leads(keys, in: model, to: { $0.property.isTransient || $0.attribute?.type == .transformable })
            {
                found = true
            }
        }
        return found
    }
}

extension EntityRuntime {
    /// Returns whether a path contains or ends with such a property.
    fileprivate func leads(_ path: [String], in model: ModelRuntime, to isWanted: (Slot) -> Bool) -> Bool {
        var (entity, rest) = (self, path[...])
        while let (slot, remainder) = entity.slot(at: rest) {
            let info = entity.slots[slot]
            if info.kind == .composite { return false }
            if isWanted(info) { return true }
            guard let relationship = info.relationship else { return false }
            (entity, rest) = (model.entities[relationship.destination], remainder)
        }
        return false
    }
}

extension AnyFetchRequest {
    // Apple's are unsigned; the bound leaves room to add.
    var boundedLimit: Int { min(max(0, fetchLimit), Int.max / 4) }
    var boundedOffset: Int { min(max(0, fetchOffset), Int.max / 4) }
}

/// Sorting in memory as the stores sort: nil first, text by the same comparisons.
struct ObjectSorter {
    let sorts: [FetchPlan.Sort]

    /// Sorts stably.
    func sort(_ objects: inout [NSManagedObject]) throws {
        guard !sorts.isEmpty, objects.count > 1 else { return }
        var keyed = try objects.enumerated().map { index, object in
            (keys: try sorts.map { try value($0, of: object) }, index: index, object: object)
        }
        keyed.sort { a, b in
            for (position, sort) in sorts.enumerated() {
                let order = OperandSorting.order(a.keys[position], b.keys[position], by: sort.comparison)
                if order != 0 { return sort.isAscending ? order < 0 : order > 0 }
            }
            return a.index < b.index
        }
        objects = keyed.map(\.object)
    }

    func value(_ sort: FetchPlan.Sort, of object: NSManagedObject) throws -> Operand {
        let operand = try object.operand(atPath: sort.keyPath)
        // Objects sort by their keys, as the column of a to-one does.
        guard case .object(let object) = operand else { return operand }
        let key = (object as? NSManagedObject)?.primaryKey ?? (object as? NSManagedObjectID)?.primaryKey
        return key.map { .value(.integer($0)) } ?? .null
    }
}

extension NSManagedObject {
    /// Returns the value at the path; null if an object on the path is nil.
    ///
    /// - Throws: ``PredicateFailure`` for a key that an object on the path does not have.
    final func operand(atPath keys: [String]) throws -> Operand {
        var operand = Operand.object(self)
        var rest = keys[...]
        while let key = rest.first {
            guard case .object(let owner) = operand else { return .null }
            // An element of a composite attribute is a property of its object, under a path of several keys.
            if let owner = owner as? NSManagedObject, let (slot, remainder) = owner.runtime.slot(at: rest) {
                operand = owner.operand(slot)
                rest = remainder
            } else {
                operand = try owner.predicateOperand(forKey: key)
                rest = rest.dropFirst()
            }
        }
        return operand
    }
}

extension ExpressionNode {
    /// The expression with rows of that store in place of objects.
    fileprivate func replacingObjects(inStore identifier: String) -> ExpressionNode {
        guard case .constant(let constant) = self else { return self }
        return .constant(constant.replacingObjects(inStore: identifier))
    }
}

extension Constant {
    fileprivate func replacingObjects(inStore identifier: String) -> Constant {
        switch self {
        // An entity is no row: in a store it is its name.
        case .object(let object) where object.predicateName != nil:
            .value(object.predicateName.map { .string($0) } ?? .null)
        case .object(let object): .key(object.predicateRowKey(inStore: identifier))
        case .collection(let members, let isOrdered):
            .collection(members.map { $0.replacingObjects(inStore: identifier) }, isOrdered: isOrdered)
        case .value, .key, .dictionary, .symbol: self
        }
    }
}
