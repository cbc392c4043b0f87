import CoreDataPrimitives
import CoreDataStore

/// Where an object lives: what all objects of one entity in one context and one store have in common.
///
/// ```
///  object ──▶ home ──▶ runtime      the entity
///                 ├──▶ registry     the context
///                 ├──▶ identities   its objects of the store and the root entity, by primary key
///                 └──▶ store
/// ```
/// One pointer in each object instead of four, and a dying object finds its place in the registry without a search.
/// An object gets another home when it is inserted, assigned to a store, saved for the first time or detached.
final class ObjectHome: @unchecked Sendable {
    // Safe because all is set once; the registry's lock guards the words in `identities`.

    let runtime: EntityRuntime
    /// `nil` outside a context, also after the object has left one.
    let registry: ObjectRegistry?
    /// `nil` before an object is saved or assigned to a store.
    let store: SQLStore?
    let identities: KeyTable?
    /// 0 without a store.
    let storeIndex: Int32
    // What objects ask of those above most often: to go through them would count references, slowly where somebody
    // refers to them weakly.
    let rowCache: RowCache?
    let root: Int
    let runtimeIdentifier: UInt32
    /// The identities of the destinations of each relationship, once they were needed; the registry's lock guards them.
    var destinations: [KeyTable?]
    /// The column of each slot, -1 where nothing is stored; the runtime owns them.
    let columns: UnsafePointer<Int32>
    /// How each slot is read, and the slots by name; the runtime owns them.
    let kinds: UnsafePointer<AccessKind>
    let slotTable: SlotTable

    init(runtime: EntityRuntime, registry: ObjectRegistry?, store: SQLStore?, identities: KeyTable?) {
        self.runtime = runtime
        self.registry = registry
        self.store = store
        self.identities = identities
        storeIndex = store?.index ?? 0
        rowCache = store?.cache
        root = runtime.root
        runtimeIdentifier = runtime.identifier
        columns = runtime.columns
        kinds = runtime.kinds
        slotTable = runtime.slotTable
        destinations = Array(repeating: nil, count: runtime.relationSlots.count)
    }

    /// The home of objects outside any context.
    convenience init(outside runtime: EntityRuntime) {
        self.init(runtime: runtime, registry: nil, store: nil, identities: nil)
    }
}
