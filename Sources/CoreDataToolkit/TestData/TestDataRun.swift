import CoreData
import Foundation

/// Creates the objects of a plan, batch by batch.
struct TestDataRun {
    private let plan: TestDataPlan
    private let context: NSManagedObjectContext
    private let batchSize: Int
    /// The value makers by kind.
    private let makers: [[ValueMaker]]
    /// The number of existing objects of each kind, so that unique values continue after them.
    private let existing: [Int]
    /// The keys of saved objects.
    private var keys = KeyRuns()
    private let store: NSPersistentStore?
    /// By link, the number of listed pairs that were set.
    private var places: [Int]
    private var links = 0

    init(
        plan: TestDataPlan, context: NSManagedObjectContext, values: [String: @Sendable (Int) -> Any?],
        makesAllUnique: Bool, batchSize: Int
    ) throws {
        self.plan = plan
        self.context = context
        self.batchSize = plan.needsOneSave ? max(1, plan.count) : batchSize
        makers = try plan.kinds.map { kind in
            let attributes = kind.entity.attributesByName.values.sorted { $0.name < $1.name }
            let makers = attributes.compactMap { attribute in
                ValueMaker(
                    attribute, of: kind.entity, seed: plan.seed, isUnique: makesAllUnique,
                    custom: values["\(kind.entity.name ?? "").\(attribute.name)"])
            }
            return try Self.taught(makers, kind.entity, context)
        }
        existing = try plan.kinds.map { kind in
            let request = NSFetchRequest<NSManagedObject>(entityName: Self.root(kind.entity).name ?? "")
            return try context.count(for: request)
        }
        places = plan.links.map { _ in 0 }
        store = context.persistentStoreCoordinator?.persistentStores.first
    }

    /// How many objects are read for values that the model does not tell.
    private static let sampleCount = 50

    /// Returns the makers with values learned from existing objects.
    private static func taught(
        _ makers: [ValueMaker], _ entity: NSEntityDescription, _ context: NSManagedObjectContext
    ) throws -> [ValueMaker] {
        guard makers.contains(where: \.learnsFromObjects) else { return makers }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.fetchLimit = sampleCount
        request.returnsObjectsAsFaults = false
        let objects = try context.fetch(request)
        return makers.map { maker in
            guard maker.learnsFromObjects else { return maker }
            var taught = maker
            taught.learn(from: objects.compactMap { $0.value(forKey: maker.name) })
            return taught
        }
    }

    /// Returns the root entity: values are unique in the whole entity tree.
    private static func root(_ entity: NSEntityDescription) -> NSEntityDescription {
        entity.superentity.map(root) ?? entity
    }

    /// - Parameter progress: called after each batch; an error that it throws ends the run.
    mutating func run(_ progress: (Double, Int) throws -> Void) throws -> TestDataGenerator.Summary {
        defer { context.reset() }
        for start in stride(from: 0, to: plan.count, by: batchSize) {
            let numbers = start..<min(start + batchSize, plan.count)
            try makeBatch(numbers)
            try progress(Double(numbers.upperBound) / Double(plan.count), numbers.upperBound)
        }
        var summary = TestDataGenerator.Summary()
        for kind in plan.kinds { summary.objects[kind.entity.name ?? ""] = kind.numbers.count }
        summary.links = links
        return summary
    }

    private mutating func makeBatch(_ numbers: Range<Int>) throws {
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(numbers.count)
        for (index, kind) in plan.kinds.enumerated() {
            for number in kind.numbers.clamped(to: numbers) {
                let object = NSManagedObject(entity: kind.entity, insertInto: context)
                let own = number - kind.numbers.lowerBound + existing[index]
                for maker in makers[index] {
                    let value = try maker.value(own)
                    if let value, kind.entity.attributesByName[maker.name]?.accepts(value) == false {
                        throw ToolkitError(
                            "\(kind.entity.name ?? "").\(maker.name) cannot be \(value), which is a \(type(of: value))."
                        )
                    }
                    object.setValue(value is NSNull ? nil : value, forKey: maker.name)
                }
                objects.append(object)
            }
        }
        for (index, link) in plan.links.enumerated() {
            switch link.pairs {
            case .listed(let pairs):
                while places[index] < pairs.count, Int(pairs[places[index]].later) < numbers.upperBound {
                    try set(link.relationship, pairs[places[index]], numbers, objects)
                    places[index] += 1
                }
            case .drawn(let drawing):
                for place in drawing.later.places(in: numbers).joined() {
                    for pair in drawing.pairs(of: place) { try set(link.relationship, pair, numbers, objects) }
                }
            }
        }
        try context.save()
        for object in objects { keys.append(object.objectID.key) }
        context.reset()
    }

    private func object(
        _ number: Int32, _ numbers: Range<Int>, _ objects: [NSManagedObject]
    ) throws -> NSManagedObject {
        let number = Int(number)
        if number >= numbers.lowerBound { return objects[number - numbers.lowerBound] }
        guard let kind = plan.kinds.first(where: { $0.numbers.contains(number) }), let store,
            let id = context.persistentStoreCoordinator?.objectID(of: kind.entity, key: keys[number], in: store)
        else { throw ToolkitError("The store was taken away while test data was made.") }
        return context.object(with: id)
    }

    private mutating func set(
        _ relationship: NSRelationshipDescription, _ pair: TestDataPlan.Pair, _ numbers: Range<Int>,
        _ objects: [NSManagedObject]
    ) throws {
        let owner = try object(pair.owner, numbers, objects)
        let target = try object(pair.target, numbers, objects)
        links += 1
        if !relationship.isToMany {
            owner.setValue(target, forKey: relationship.name)
        } else if relationship.isOrdered {
            owner.mutableOrderedSetValue(forKey: relationship.name).add(target)
        } else {
            owner.mutableSetValue(forKey: relationship.name).add(target)
        }
    }
}
