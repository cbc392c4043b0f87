import CoreData
import Foundation

/// Models in use, and what was done to them since the last save.
///
///     let context = ModelContext(container)
///     context.insert(Trip(name: "Oslo"))
///     try context.save()
///
/// A context made here has no queue of its own: whoever has it uses it, one thread at a time. That of a model actor is used by the actor
/// only, and ``ModelContainer/mainContext`` by the main actor; in debug builds a use elsewhere is logged.
///
/// What other contexts of the container save shows in models without changes: in the main context and in that of an actor as soon as
/// they are idle, in others when the context is used next. Differs from Apple, where it does not show.
///
/// Differs from Apple: nothing that is done to a model stops the program. What cannot be done, such as a relationship between
/// models of two contexts, is not done, and ``save()`` throws an error that says so until ``rollback()``.
public class ModelContext: Equatable {
    /// The engine's context.
    package let managedObjectContext: NSManagedObjectContext
    /// What the container has, which lives as long as the context.
    private let core: ModelContainer.Core
    private let keptContainer: ModelContainer?
    private weak var weakContainer: ModelContainer?
    /// What is known of the classes, by the place of their entities in the model.
    private var plans: [EntityPlan?] = []
    /// The entities of classes that were inserted.
    private var entities: [ObjectIdentifier: NSEntityDescription] = [:]
    /// The class that was inserted last: mostly it is the next one's, too.
    private var lastEntity: (type: ObjectIdentifier, entity: NSEntityDescription)?
    /// The values of the model that is just being inserted, of each level of its class.
    private var taken = TakenValues()
    /// What could not be done since the last rollback.
    private(set) var problems: [SwiftDataError] = []
    /// What sibling contexts saved.
    let siblings = SiblingMailbox()
    /// What the save that runs, or the last one, found of values that must be unique.
    var uniqueness = UniquenessPolicy.update
    /// The rows that took the place of inserted models in the last save.
    public internal(set) var lastUpdatedInsteadOfInserted: [PersistentIdentifier] = []
    /// The rows that the last save deleted because another row has their unique values now.
    public internal(set) var lastReplaced: [PersistentIdentifier] = []

    /// Whether the context saves by itself: at the end of a turn of the main actor, or of a job of its actor, in which something changed;
    /// when it is deallocated, and the main context also when the program exits.
    ///
    /// False for contexts made by `init(_:)`, true for a container's main context. A failure is told to ``autosaveFailureHandler``, and the
    /// changes stay.
    public var autosaveEnabled: Bool
    /// Called when the context cannot save by itself; `nil` logs the error.
    public var autosaveFailureHandler: ((any Error) -> Void)?
    /// Tells who uses the context, to custom stores.
    public var editingState: EditingState {
        var state = ownState
        state.author = author
        return state
    }
    private let ownState = EditingState()

    /// Makes a context that whoever has it uses.
    public init(_ container: ModelContainer) {
        core = container.core
        keptContainer = container
        autosaveEnabled = false
        let context = ModelObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.isUnbound = true
        managedObjectContext = context
        begin(context, container)
    }

    /// Makes the context of the main actor. It refers to the container weakly, since that retains it, and retains the stores.
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
        context.modelContext = self
        context.persistentStoreCoordinator = container.coordinator
        context.mergePolicy = UpsertPolicy()
        context.turnDidEnd = { [weak self] in self?.autosave() }
        siblings.join(self, container.coordinator)
    }

    deinit {
        siblings.leave()
        if autosaveEnabled, managedObjectContext.hasChanges { autosave() }
        if core.usesDataStores { DataStoreBridge.end(ownState, in: core.coordinator) }
    }

    /// The container.
    public var container: ModelContainer { keptContainer ?? weakContainer ?? ModelContainer(core: core) }

    /// What changes are registered with, so that they can be undone; nil, and nothing is recorded, until it is set.
    public var undoManager: UndoManager? {
        get { managedObjectContext.undoManager }
        set { managedObjectContext.undoManager = newValue }
    }

    /// Who changes things, as history records it.
    public var author: String? {
        get { managedObjectContext.transactionAuthor }
        set { managedObjectContext.transactionAuthor = newValue }
    }

    public static func == (one: ModelContext, other: ModelContext) -> Bool { one === other }

    // MARK: Classes

    /// What is known of the class of an object's entity.
    func plan(of object: ModelObject) -> EntityPlan {
        let ordinal = object.entityOrdinal
        if plans.indices.contains(ordinal), let plan = plans[ordinal] { return plan }
        guard let type = core.modelTypes[object.entity.name ?? ""] else {
            preconditionFailure("Entity '\(object.entity.name ?? "")' is of no class of the container's schema.")
        }
        let plan = EntityPlan(type, of: object)
        while plans.count <= ordinal { plans.append(nil) }
        plans[ordinal] = plan
        return plan
    }

    /// The class of an entity.
    func modelType(named name: String) -> (any PersistentModel.Type)? { core.modelTypes[name] }

    /// The entity of a class; `nil` where the container's schema lacks it.
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
