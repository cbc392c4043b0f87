import CoreData
import Foundation

/// Models in use, and their changes since the last save.
///
///     let context = ModelContext(container)
///     context.insert(Trip(name: "Oslo"))
///     try context.save()
///
/// A context that you create has no private queue: any thread may use it, one at a time. A model actor's context is
/// used by that actor only, and ``ModelContainer/mainContext`` by the main actor; debug builds log other uses.
///
/// Models without changes show the saves of other contexts of the container and of other processes: in the main context
/// and in an actor's as soon as they are idle, in other contexts at the next use. Differs from Apple, where they do
/// not.
///
/// Differs from Apple: no operation on a model stops the program. An impossible one, such as a relationship between
/// models of two contexts, is not done, and ``save()`` throws an error that says so until ``rollback()``.
public class ModelContext: Equatable {
    /// The engine's context.
    package let managedObjectContext: NSManagedObjectContext
    /// The container's state, which lives as long as the context.
    private let core: ModelContainer.Core
    private let keptContainer: ModelContainer?
    private weak var weakContainer: ModelContainer?
    // No function calls back while it reads or changes one of the next six.

    /// The plans of the classes, by the position of their entities in the model.
    @exclusivity(unchecked) private var plans: [EntityPlan?] = []
    /// The entity and the class of the plan that was last looked up: mostly they are the next object's, too.
    @exclusivity(unchecked) private var lastPlan: (entity: Int, type: ObjectIdentifier)?
    /// The entities of classes that were inserted.
    @exclusivity(unchecked) private var entities: [ObjectIdentifier: NSEntityDescription] = [:]
    /// The class that was inserted last: mostly it is the next one's, too.
    @exclusivity(unchecked) private var lastEntity: (type: ObjectIdentifier, entity: NSEntityDescription)?
    /// The values of the model that is just being inserted, of each level of its class.
    @exclusivity(unchecked) private var taken = TakenValues()
    /// The models of an insertion; empty, but for its memory, outside of one.
    @exclusivity(unchecked) var newModels: [NewModel] = []
    /// What could not be done since the last rollback.
    private(set) var problems: [SwiftDataError] = []
    /// What sibling contexts saved.
    let siblings = SiblingMailbox()
    /// How the next save treats values that must be unique.
    var uniqueness = UniquenessPolicy.update
    /// The rows that the last save updated instead of inserting models, because they have the models' unique values.
    ///
    /// Not in Apple's framework. See ``uniquenessPolicy``.
    public internal(set) var lastUpdatedInsteadOfInserted: [PersistentIdentifier] = []
    /// All rows that the last save deleted because another row has their unique values now.
    ///
    /// Not in Apple's framework. See ``uniquenessPolicy``.
    public internal(set) var lastReplaced: [PersistentIdentifier] = []

    /// Whether the context saves automatically: at the end of a turn of the main actor, or of a job of its actor, in
    /// which something changed; when it is deallocated; and the main context also when the program exits.
    ///
    /// False for contexts made by `init(_:)`, true for a container's main context. After a failure the changes stay,
    /// and ``autosaveFailureHandler`` is called.
    public var autosaveEnabled: Bool
    /// Called if an automatic save fails; `nil` logs the error.
    public var autosaveFailureHandler: ((any Error) -> Void)?
    /// The user of the context, for custom stores. Setting it sets ``author``, too.
    public var editingState: EditingState {
        get {
            var state = ownState
            state.author = author
            return state
        }
        set {
            if core.usesDataStores, newValue.id != ownState.id { DataStoreBridge.end(ownState, in: core.coordinator) }
            ownState = newValue
            author = newValue.author
        }
    }
    private var ownState = EditingState()

    /// Makes a context that any thread may use, one at a time.
    public init(_ container: ModelContainer) {
        core = container.core
        keptContainer = container
        autosaveEnabled = false
        let context = ModelObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.isUnbound = true
        managedObjectContext = context
        begin(context, container)
    }

    /// Makes the context of the main actor. It refers to the container weakly, since that retains it, and retains the
    /// stores.
    package init(mainContextOf container: ModelContainer) {
        core = container.core
        keptContainer = nil
        weakContainer = container
        autosaveEnabled = true
        let context = ModelObjectContext(concurrencyType: .mainQueueConcurrencyType)
        managedObjectContext = context
        begin(context, container)
        Autosave.saveAtExit(self)
    }

    private func begin(_ context: ModelObjectContext, _ container: ModelContainer) {
        context.serve(self)
        context.persistentStoreCoordinator = container.coordinator
        context.mergePolicy = UpsertPolicy()
        context.keepsDeletedValues = true
        context.readsMembersByKey = true
        context.turnDidEnd = { [reference = ContextReference(self)] in reference.context?.autosave() }
        siblings.join(self, container.coordinator)
    }

    deinit {
        siblings.leave()
        if autosaveEnabled, managedObjectContext.hasChanges { autosave() }
        if core.usesDataStores { DataStoreBridge.end(ownState, in: core.coordinator) }
    }

    /// Follows other processes; `nil` if there are none.
    var remoteSaves: RemoteSaves? { core.remoteSaves }

    /// The container.
    public var container: ModelContainer { keptContainer ?? weakContainer ?? ModelContainer(core: core) }

    /// What changes are registered with, so that they can be undone; nil, and nothing is recorded, until it is set.
    public var undoManager: UndoManager? {
        get { managedObjectContext.undoManager }
        set { managedObjectContext.undoManager = newValue }
    }

    /// The author of changes, as the history records it.
    public var author: String? {
        get { managedObjectContext.transactionAuthor }
        set { managedObjectContext.transactionAuthor = newValue }
    }

    public static func == (one: ModelContext, other: ModelContext) -> Bool { one === other }

    // MARK: Classes

    /// Returns the plan of the class of an object's entity.
    func plan(of object: ModelObject) -> EntityPlan {
        let ordinal = object.entityOrdinal
        if plans.indices.contains(ordinal), let plan = plans[ordinal] {
            lastPlan = (ordinal, ObjectIdentifier(plan.type))
            return plan
        }
        guard let type = core.modelTypes[object.entity.name ?? ""] else {
            preconditionFailure("Entity '\(object.entity.name ?? "")' is of no class of the container's schema.")
        }
        let plan = EntityPlan(type, of: object)
        while plans.count <= ordinal { plans.append(nil) }
        plans[ordinal] = plan
        return plan
    }

    /// Whether the object's entity is that of the plan that was last looked up, and is of the class.
    @inline(__always)
    func isOfLastClass(_ object: ModelObject, _ type: AnyClass) -> Bool {
        guard let lastPlan else { return false }
        return lastPlan.type == ObjectIdentifier(type) && lastPlan.entity == object.entityOrdinal
    }

    /// The class of an entity.
    func modelType(named name: String) -> (any PersistentModel.Type)? { core.modelTypes[name] }

    /// Returns the entity of a class; `nil` if the container's schema lacks it.
    func entity(of type: any PersistentModel.Type) -> NSEntityDescription? {
        if let lastEntity, lastEntity.type == ObjectIdentifier(type) { return lastEntity.entity }
        if let known = entities[ObjectIdentifier(type)] {
            lastEntity = (ObjectIdentifier(type), known)
            return known
        }
        let name = ModelLayout.of(type).entityName
        guard core.modelTypes[name].map({ ObjectIdentifier($0) }) == ObjectIdentifier(type) else { return nil }
        let entity = core.coordinator.managedObjectModel.entitiesByName[name]
        entities[ObjectIdentifier(type)] = entity
        return entity
    }

    // MARK: Notes

    /// Takes note of what could not be done: the next save throws it.
    func note(_ problem: SwiftDataError) { problems.append(problem) }

    /// Takes note of a value that cannot be read.
    func note(unreadable error: any Error, _ name: String, _ object: ModelObject) {
        ModelLog.error("The value of '\(name)' of \(object.objectID) cannot be read: \(error)")
    }

    func forgetProblems() { problems = [] }

    /// The values of a model that is just being inserted.
    func take(_ pending: PendingValues) {
        if taken.first == nil { taken.first = pending } else { taken.others.append(pending) }
    }

    func takenValues() -> TakenValues {
        defer { taken = TakenValues() }
        return taken
    }
}

/// The values of a new model, of each level of its class: mostly there is one.
struct TakenValues {
    var first: PendingValues?
    var others: [PendingValues] = []
}

@available(*, unavailable) extension ModelContext: Sendable {}
extension ModelContext: SendableMetatype {}
