import CoreDataModel
import Synchronization

/// The runtimes of a model's entities by ordinal, each made when it is first asked for: programs with large models use
/// few of their entities at once, and opening a store needs none.
final class EntityRuntimes: RandomAccessCollection, @unchecked Sendable {
    // Safe because the model is frozen, and values that are made later are stored atomically, once.

    private let compiled: CompiledModel
    private let model: NSManagedObjectModel
    private let made: UnsafeMutablePointer<AtomicLazyReference<EntityRuntime>>
    let count: Int

    init(_ compiled: CompiledModel, of model: NSManagedObjectModel) {
        self.compiled = compiled
        self.model = model
        count = compiled.entities.count
        made = .allocate(capacity: count)
        for ordinal in 0..<count { (made + ordinal).initialize(to: AtomicLazyReference()) }
    }

    deinit {
        made.deinitialize(count: count)
        made.deallocate()
    }

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    // Asked for each row that is fetched.
    @inline(__always)
    subscript(ordinal: Int) -> EntityRuntime {
        precondition(ordinal >= 0 && ordinal < count, "The model has no such entity.")
        return made[ordinal].load() ?? make(ordinal)
    }

    /// Whether the entity is the model's own, not one of the same name in another.
    func describes(_ entity: NSEntityDescription) -> Bool {
        indices.contains(entity.ordinal) && model.entityDescriptions[entity.ordinal] === entity
    }

    /// If two threads make a runtime, both use the one that was stored first.
    @inline(never)
    private func make(_ ordinal: Int) -> EntityRuntime {
        made[ordinal].storeIfNil(
            EntityRuntime(
                compiled: compiled.entities[ordinal], in: compiled, entity: model.entityDescriptions[ordinal],
                model: model))
    }
}
