import CoreDataPrimitives
import CoreDataStore

/// The state shared by all objects of one entity in one context and one store.
///
/// ```
///  object ──▶ home ──▶ runtime      the entity
///                 ├──▶ registry     the context
///                 ├──▶ identities   its objects of the store and the root entity, by primary key
///                 └──▶ store
/// ```
/// Each object has one pointer instead of four, and an object that is deallocated finds its place in the registry
/// without a search. An object gets another home when it is inserted, assigned to a store, saved for the first time or
/// detached.
final class ObjectHome: @unchecked Sendable {
    // Safe because all is set once; the registry's lock guards the words in `identities`.

    let runtime: EntityRuntime
    /// `nil` outside a context, also after the object has left one.
    let registry: ObjectRegistry?
    var isInContext: Bool { uncountedRegistry != nil }
    /// Distinguishes registries.
    var registryAddress: UnsafeMutableRawPointer? { uncountedRegistry?.toOpaque() }
    /// Whether the context has not been deallocated.
    var isContextAlive: Bool { registry?.isContextAlive ?? false }
    /// `nil` before an object is saved or assigned to a store.
    let store: AttachedStore?
    let identities: KeyTable?
    /// As `identities`, `registry` and `store`, and the store's row cache, to be called without counting a reference:
    /// the home holds them anyway.
    let uncountedIdentities: Unmanaged<KeyTable>?
    let uncountedRegistry: Unmanaged<ObjectRegistry>?
    let uncountedRowCache: Unmanaged<RowCache>?
    let uncountedStore: Unmanaged<AttachedStore>?
    /// 0 without a store.
    let storeIndex: Int32
    // The facts that objects read most often. Reading them through the objects above would count references, which is
    // slow if weak references to them exist.
    let root: Int
    let ordinal: Int32
    let runtimeIdentifier: UInt32
    /// The identities of the destinations of each relationship, retained, from the first use on; the registry's lock
    /// guards them. A plain buffer, since reading an array would count references to its elements.
    let destinations: UnsafeMutableBufferPointer<Unmanaged<KeyTable>?>
    /// For each slot, the facts that the hot paths read; the runtime owns them.
    let facts: UnsafePointer<SlotFacts>
    let deleteSteps: UnsafeBufferPointer<DeleteStep>
    let slotCount: Int
    let relationCount: Int
    let isAbstract: Bool
    let hasToMany: Bool
    let hasManyToMany: Bool
    /// Whether a to-one's inverse is a to-one, so that both rows contain the reference.
    let hasOneToOne: Bool
    /// Whether a to-one has no inverse: the destination is not updated, and no rule ensures that it exists.
    let hasOneWayToOne: Bool
    /// Whether each use of an object is checked to be on its context's queue, in a release build.
    let isConfinementChecked = Confinement.stopsProgram
    /// The observations of the context's objects, if they can be observed.
    let observations: ObjectObservations?
    /// Whether a read has to look closer: to check the queue or to tell observers.
    let watchesReads: Bool
    /// The entity, which the runtime's model holds.
    unowned(unsafe) let entity: NSEntityDescription
    let entityAddress: UnsafeMutableRawPointer
    /// How each slot is read, and the slots by name; the runtime owns them.
    let kinds: UnsafePointer<AccessKind>
    let slotTable: SlotTable

    init(runtime: EntityRuntime, registry: ObjectRegistry?, store: AttachedStore?, identities: KeyTable?) {
        self.runtime = runtime
        self.registry = registry
        self.store = store
        self.identities = identities
        observations = registry?.observations
        watchesReads = Confinement.stopsProgram || registry?.observations != nil
        uncountedIdentities = identities.map { .passUnretained($0) }
        uncountedRegistry = registry.map { .passUnretained($0) }
        uncountedRowCache = store.map { .passUnretained($0.cache) }
        uncountedStore = store.map { .passUnretained($0) }
        storeIndex = store?.index ?? 0
        root = runtime.root
        ordinal = Int32(truncatingIfNeeded: runtime.ordinal)
        runtimeIdentifier = runtime.identifier
        facts = runtime.facts
        deleteSteps = runtime.deleteSteps
        slotCount = runtime.slots.count
        relationCount = runtime.relationSlots.count
        isAbstract = runtime.compiled.isAbstract
        hasToMany = runtime.slots.contains { $0.isToMany }
        hasManyToMany = runtime.slots.contains { $0.isToMany && $0.isInverseToMany }
        hasOneToOne = runtime.slots.contains {
            !$0.isToMany && !$0.isInverseToMany && $0.relationship?.inverseSlot != nil
        }
        hasOneWayToOne = runtime.slots.contains {
            !$0.isToMany && $0.relationship.map { $0.inverseSlot == nil } ?? false
        }
        entity = runtime.entity
        entityAddress = Unmanaged.passUnretained(runtime.entity).toOpaque()
        kinds = runtime.kinds
        slotTable = runtime.slotTable
        destinations = .allocate(capacity: runtime.relationSlots.count)
        destinations.initialize(repeating: nil)
    }

    deinit {
        for table in destinations { table?.release() }
        destinations.deallocate()
    }

    /// Whether the object of a permanent ID lives here.
    func holdsObject(of id: NSManagedObjectID) -> Bool {
        guard runtime === id.runtime, let uncountedStore else { return false }
        return uncountedStore._withUnsafeGuaranteedRef { $0.reference === id.storeReference && $0.isAttached }
    }

    /// The home of objects outside any context.
    convenience init(outside runtime: EntityRuntime) {
        self.init(runtime: runtime, registry: nil, store: nil, identities: nil)
    }
}
