import CoreDataStore
import Foundation
import Synchronization

/// A whole stack: model, coordinator with its stores, a context for the main queue and others for the background.
///
///     let container = NSPersistentContainer(name: "GroceryDude")
///     container.loadPersistentStores { description, error in
///         if let error { fatalError("\(description): \(error)") }
///     }
///     let items = try container.viewContext.fetch(Item.fetchRequest())
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    // Safe because `state` guards the descriptions, and the rest is set once.

    /// The container's name, which is also its store's file name.
    open var name: String { givenName }
    private let givenName: String
    /// The model of the container's stores.
    open var managedObjectModel: NSManagedObjectModel { givenModel }
    private let givenModel: NSManagedObjectModel
    /// The coordinator of the container's stores.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator { madeCoordinator }
    private let madeCoordinator: NSPersistentStoreCoordinator
    /// The context of the main queue; a subclass may have another one.
    ///
    ///     override var viewContext: NSManagedObjectContext { editingContext }
    open var viewContext: NSManagedObjectContext { madeContext }
    private let madeContext: NSManagedObjectContext
    /// `nil` until the descriptions are read or set.
    private let state: Mutex<Transfer<[NSPersistentStoreDescription]?>>
    /// Whether no model was found.
    private let isWithoutModel = Atomic(false)

    /// Creates a container of the model with that name: in the main bundle, else among the resources of Swift packages
    /// beside the program (or the test runner). Without a model of that name it merges all models there.
    ///
    /// If there is no model at all, the container has an empty one, and ``loadPersistentStores(completionHandler:)``
    /// reports error 134060 for each store, before it makes a file.
    public convenience init(name: String) {
        let model = Self.model(named: name)
        self.init(name: name, managedObjectModel: model ?? NSManagedObjectModel())
        isWithoutModel.store(model == nil, ordering: .relaxed)
    }

    /// Creates a placeholder: a container of a model without entities.
    public convenience override init() { self.init(name: "", managedObjectModel: NSManagedObjectModel()) }

    /// Makes a container whose one store, unless the descriptions say otherwise, is `<defaultDirectory>/<name>.sqlite`.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        givenName = name
        givenModel = model
        madeCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        madeContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        madeContext.persistentStoreCoordinator = madeCoordinator
        madeContext.name = "viewContext"
        state = Mutex(Transfer(nil))
        super.init()
    }

    /// The folder of the default store: the user's folder for application data, with the program's name in it.
    ///
    /// Differs from Apple: `$XDG_DATA_HOME/<program>`, where Apple has Application Support.
    open class func defaultDirectoryURL() -> URL {
        let base =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory
        let program = URL(fileURLWithPath: CommandLine.arguments.first ?? "CoreData").lastPathComponent
        return base.appendingPathComponent(program, isDirectory: true)
    }

    /// The stores to load: change them before ``loadPersistentStores(completionHandler:)``.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get {
            if let known = state.withLock({ $0 }).value { return known }
            // Where the default store lies takes longer to find out than to open it, and most programs say where theirs
            // is.
            let made = Transfer<[NSPersistentStoreDescription]?>([makeDefaultDescription()])
            return state.withLock { state in
                if state.value == nil { state = made }
                return state
            }.value ?? []
        }
        set {
            let descriptions = Transfer<[NSPersistentStoreDescription]?>(newValue)
            state.withLock { $0 = descriptions }
        }
    }

    /// Adds the stores that the descriptions tell of; calls the block once for each, before it returns unless the
    /// description asks for a queue of its own.
    open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        if isWithoutModel.load(ordering: .relaxed) {
            let error = CoreDataErrors.missingModel(name)
            CoreDataLog.general.error("\(error.localizedDescription)")
            return persistentStoreDescriptions.forEach { block($0, error) }
        }
        for description in persistentStoreDescriptions { load(description, block) }
    }

    /// Adds one store; a container of this module may do more.
    func load(
        _ description: NSPersistentStoreDescription,
        _ block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) { persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block) }

    /// Returns the description of the default store.
    func makeDefaultDescription() -> NSPersistentStoreDescription {
        NSPersistentStoreDescription(
            url: type(of: self).defaultDirectoryURL().appendingPathComponent("\(name).sqlite"))
    }

    /// Returns a new context with a private queue.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs the block with a new context, in the background.
    @preconcurrency
    open func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs the block with a new context, in the background, and returns its result.
    ///
    ///     let count = try await container.performBackgroundTask { context in try context.count(for: request) }
    @preconcurrency
    public final func performBackgroundTask<T>(
        isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async rethrows -> T {
        let context = newBackgroundContext()
        return try await context.perform { try block(context) }
    }

    private static func model(named name: String) -> NSManagedObjectModel? {
        for bundles in [[Bundle.main], nil] {
            guard let url = ModelFiles.model(named: name, in: bundles) else { continue }
            if let model = NSManagedObjectModel(contentsOf: url) { return model }
        }
        return ModelFiles.models(in: nil).isEmpty ? nil : NSManagedObjectModel.mergedModel(from: nil)
    }
}
