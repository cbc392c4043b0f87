import CoreDataModel
import CoreDataPrimitives
import Synchronization

/// The facts about an entity that reading and writing an object needs, laid out for speed.
///
/// Every object holds its entity's runtime, and the runtime keeps the model alive. The model does not hold the runtime,
/// so an unused model is deallocated.
final class EntityRuntime: @unchecked Sendable {
    // Safe because all is set once, but the caches, which are atomic.

    let compiled: CompiledEntity
    /// The description of the entity; alive as long as `model`, which holds it.
    unowned(unsafe) let entity: NSEntityDescription
    let model: NSManagedObjectModel
    let slots: [Slot]
    /// For each slot, the facts that the hot paths read.
    let facts: UnsafePointer<SlotFacts>
    /// How each slot is read.
    let kinds: UnsafePointer<AccessKind>
    let slotTable: SlotTable
    /// The slots of the relationships, by their position.
    let relationSlots: [Int]
    /// The effects of deleting an object on the objects that it refers to.
    let deleteSteps: UnsafeBufferPointer<DeleteStep>
    let validation: EntityValidation
    /// The class's address, once it is known: asked for each object that is made, so there is no lock.
    private let classCache = Atomic<UInt>(0)
    /// The state of the known classes when this entity's class was last searched for without success; 0 for never.
    private let missingSince = Atomic<UInt64>(0)
    /// The address of the members of that class, once they were asked for.
    let memberCache = Atomic<UInt>(0)
    /// Distinguishes runtimes in the cache of a property key.
    let identifier: UInt32
    private static let nextIdentifier = Atomic<UInt32>(1)

    var ordinal: Int { compiled.ordinal }
    var root: Int { compiled.root }
    let rootName: String
    /// Whether objects have values that a save does not put into the row: transient values, transformed objects.
    let keepsValues: Bool
    let hasComposites: Bool
    /// The columns of derived attributes, whose values the store computes.
    let derivedColumns: [Int]
    var name: String { compiled.name }
    var layout: RowLayout { compiled.rowLayout }

    init(
        compiled: CompiledEntity, in compiledModel: CompiledModel, entity: NSEntityDescription,
        model: NSManagedObjectModel
    ) {
        self.compiled = compiled
        rootName = compiledModel.entities[compiled.root].name
        self.entity = entity
        self.model = model
        var relationSlots: [Int] = []
        slots = compiled.properties.map { property in
            var relation = -1
            if property.relationship != nil {
                relation = relationSlots.count
                relationSlots.append(property.slot)
            }
            return Slot(property, of: compiled, relation: relation, layout: compiled.rowLayout, in: compiledModel)
        }
        self.relationSlots = relationSlots
        let steps = relationSlots.compactMap { [slots] in DeleteStep($0, slots[$0]) }
        let deleteSteps = UnsafeMutableBufferPointer<DeleteStep>.allocate(capacity: steps.count)
        _ = deleteSteps.initialize(from: steps)
        self.deleteSteps = UnsafeBufferPointer(deleteSteps)
        if slots.contains(where: { $0.type == .transformable }) { _ = ManagedArchiveNames.registered }
        hasComposites = slots.contains { $0.kind == .composite }
        derivedColumns = slots.filter { $0.attribute?.isDerived == true && $0.column >= 0 }.map(\.column)
        keepsValues = slots.contains {
            $0.attribute != nil && $0.kind != .composite && ($0.property.isTransient || $0.type == .transformable)
        }
        let facts = UnsafeMutablePointer<SlotFacts>.allocate(capacity: max(slots.count, 1))
        for (index, slot) in slots.enumerated() { (facts + index).initialize(to: SlotFacts(slot)) }
        self.facts = UnsafePointer(facts)
        let kinds = UnsafeMutablePointer<AccessKind>.allocate(capacity: max(slots.count, 1))
        for (index, slot) in slots.enumerated() { (kinds + index).initialize(to: AccessKind(slot)) }
        self.kinds = UnsafePointer(kinds)
        slotTable = SlotTable(slots.map(\.name))
        validation = EntityValidation(entity: entity, slots: slots)
        identifier = Self.nextIdentifier.wrappingAdd(1, ordering: .relaxed).oldValue
    }

    deinit {
        facts.deallocate()
        deleteSteps.deallocate()
        kinds.deallocate()
        slotTable.deallocate()
    }

    /// The slot of the property of that name.
    func slot(forKey key: String) -> Int? {
        // Names are compared by their bytes first. Swift treats other spellings of a letter with a mark as the same
        // name.
        slotTable.slot(key) ?? (key.utf8.allSatisfy { $0 < 0x80 } ? nil : compiled.slotByName[key])
    }

    /// Returns the slot that a path begins with, and the rest of the path. If the path continues into a composite
    /// attribute, returns the element's slot.
    func slot(at keys: ArraySlice<String>) -> (slot: Int, rest: ArraySlice<String>)? {
        compiled.property(at: keys).map { ($0.property.slot, $0.rest) }
    }

    /// The class of the entity's objects: the class that the model names, in any module of the program.
    var objectClass: NSManagedObject.Type {
        let known = classCache.load(ordering: .acquiring)
        // Only classes are stored here.
        if known != 0 { return unsafeBitCast(known, to: NSManagedObject.Type.self) }
        if let type = entity.runtimeClass as? NSManagedObject.Type {
            remember(type)
            return type
        }
        guard let name = compiled.className, !name.isEmpty, name != "NSManagedObject" else {
            remember(NSManagedObject.self)
            return NSManagedObject.self
        }
        return find(name) ?? NSManagedObject.self
    }

    /// Looks for the class, unless nothing new is known of classes since that was last in vain.
    private func find(_ name: String) -> NSManagedObject.Type? {
        let knowledge = ManagedObjectClasses.shared.knowledge
        if missingSince.load(ordering: .acquiring) == knowledge { return nil }
        guard let found = ManagedObjectClasses.shared.find(named: name, entity: self.name) else {
            missingSince.store(knowledge, ordering: .releasing)
            return nil
        }
        remember(found)
        return found
    }

    /// Whether objects of the entity are known to have that class.
    func isKnownClass(_ type: NSManagedObject.Type) -> Bool {
        classCache.load(ordering: .relaxed) == unsafeBitCast(type, to: UInt.self)
    }

    private func remember(_ type: NSManagedObject.Type) {
        classCache.store(unsafeBitCast(type, to: UInt.self), ordering: .releasing)
    }
}
