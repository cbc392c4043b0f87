import CoreData
import Foundation

/// A complete Core Data stack: a coordinator with its store, a private parent context that writes to it, and a view
/// context as its child, which never waits for the disk.
///
///     let stack = try await CoreDataStack.setUp(model: model, storeURL: url)
///     try await stack.performImport { context in
///         NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue("Milk", forKey: "name")
///     }
///     try await stack.save()          // the view context, then its parent, in the background
///
/// ```
///  viewContext ──▶ parentContext ──▶ coordinator ──▶ store ◀── other processes
///                                        ▲
///                  import contexts ──────┘
/// ```
/// Saves of import contexts, and of other processes, are merged into the view context and its parent.
///
/// The stack also works in programs without a run loop: servers and command line tools set ``Options/viewQueue`` to
/// `.private`.
public final class CoreDataStack: @unchecked Sendable {
    // Safe because all properties are set once, and contexts and coordinator are thread-safe.

    /// The model of the store.
    public let model: NSManagedObjectModel
    /// The coordinator of the store.
    public let coordinator: NSPersistentStoreCoordinator
    /// The URL of the store; `nil` for one in memory.
    public let storeURL: URL?
    /// The options of the stack.
    public let options: Options
    /// The context that writes to the store, on a private queue. Only the stack should use it.
    public let parentContext: NSManagedObjectContext
    /// The context for the app's work: a child of ``parentContext``, with an undo manager unless ``Options/undo`` is
    /// false.
    public let viewContext: NSManagedObjectContext
    let merging: StackMerging

    // MARK: Setup

    /// Sets up a stack: creates the store's folder, copies an initial store, migrates a store with an older model, and
    /// opens the store.
    ///
    ///     let stack = try await CoreDataStack.setUp(model: model, storeURL: url) { migration in
    ///         print("\(Int(migration.fractionCompleted * 100)) % migrated")
    ///     }
    ///
    /// - Parameters:
    ///   - model: the model, which is frozen from now on.
    ///   - storeURL: the store's file; `nil` for a store in memory.
    ///   - migrationProgress: called with the progress of a migration. Cancelling the task stops the migration, and the
    ///     store is unchanged.
    /// - Throws: the errors of `addPersistentStore`; a ``ToolkitError`` for inconsistent options; `CancellationError`.
    public static func setUp(
        isolation: isolated (any Actor)? = #isolation, model: NSManagedObjectModel, storeURL: URL?,
        options: Options = Options(), migrationProgress: ProgressHandler? = nil
    ) async throws -> CoreDataStack {
        let passed = TransferBox(model)
        let stack = try await BackgroundWork.run { cancellation in
            try CoreDataStack(passed.value, storeURL, options, cancellation, migrationProgress)
        }
        await stack.viewContext.perform { stack.finishViewContext() }
        return stack
    }

    /// Sets up a stack synchronously, like ``setUp(isolation:model:storeURL:options:migrationProgress:)``: for programs
    /// without tasks.
    ///
    /// With a `.main` view context, call it on the main thread.
    public convenience init(model: NSManagedObjectModel, storeURL: URL?, options: Options = Options()) throws {
        try self.init(model, storeURL, options, nil, nil)
        viewContext.performAndWait { finishViewContext() }
    }

    private init(
        _ model: NSManagedObjectModel, _ storeURL: URL?, _ options: Options,
        _ cancellation: BackgroundWork.Cancellation?, _ progress: ProgressHandler?
    ) throws {
        self.model = model
        self.storeURL = storeURL
        self.options = options
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        try StoreOpening(storeURL, options, model).prepare(cancellation, progress)
        try StoreOpening(storeURL, options, model).add(to: coordinator)

        parentContext = NSManagedObjectContext(.privateQueue)
        parentContext.persistentStoreCoordinator = coordinator
        parentContext.name = "parentContext"
        parentContext.mergePolicy = options.mergePolicy
        parentContext.transactionAuthor = options.author
        viewContext = NSManagedObjectContext(options.viewQueue == .main ? .mainQueue : .privateQueue)
        viewContext.parent = parentContext
        viewContext.name = "viewContext"
        viewContext.mergePolicy = options.mergePolicy
        viewContext.transactionAuthor = options.author
        viewContext.automaticallyMergesChangesFromParent = true
        merging = StackMerging(coordinator, parent: parentContext, view: viewContext)
        if !options.isReadOnly { merging.begin() }
    }

    /// Sets up the view context on its queue.
    private func finishViewContext() {
        if options.undo { viewContext.undoManager = UndoManager() }
    }

    // MARK: Contexts

    /// Makes a context on the coordinator with a private queue, for imports and other work in the background.
    ///
    /// It has no undo manager. Its saves are merged into ``viewContext``.
    public func newImportContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.name = "importContext"
        context.mergePolicy = options.mergePolicy
        context.transactionAuthor = options.author
        return context
    }

    /// Runs the body with an import context, saves its changes, and returns after they were merged into the view
    /// context.
    ///
    ///     try await stack.performImport { context in
    ///         for name in names { Item(context: context).name = name }
    ///     }
    ///
    /// - Throws: the errors of the body, and then nothing is saved; the errors of the save.
    @discardableResult
    public func performImport<T>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let context = newImportContext()
        let result = try await context.perform {
            let result = TransferBox(try body(context))
            if context.hasChanges { try context.save() }
            return result
        }
        await mergeNow()
        return result.value
    }

    /// Merges everything saved until now, by any context or process, into the view context and its parent.
    public func mergeNow(isolation: isolated (any Actor)? = #isolation) async {
        await merging.finish()
    }

    // MARK: Saving

    /// Saves the view context, then its parent, in the background: one transaction.
    ///
    /// - Throws: the errors of a context's `save()`. Validation errors (1550–1690) occur in the view context, which
    ///   then keeps its changes and has saved nothing. Conflicts (133020, 133021) and store errors occur in the parent,
    ///   which then keeps the changes and retries with the next save; ``rollback(isolation:)`` discards them.
    public func save(isolation: isolated (any Actor)? = #isolation) async throws { try await save(viewContext) }

    /// Saves a context, then its parents, each on its own queue.
    public func save(
        isolation: isolated (any Actor)? = #isolation, _ context: NSManagedObjectContext
    ) async throws {
        var next: NSManagedObjectContext? = context
        while let context = next {
            // The last context also writes changes of the store's metadata.
            try await context.perform { if context.hasChanges || context.parent == nil { try context.save() } }
            next = context.parent
        }
    }

    /// Saves the view context and its parent synchronously: for programs without tasks.
    ///
    /// If the view context is `.main`, call it on the main thread; if it is `.private`, on any thread.
    public func saveAndWait() throws {
        for context in [viewContext, parentContext] {
            try context.performAndWait { if context.hasChanges || context.parent == nil { try context.save() } }
        }
    }

    /// Discards unsaved changes of the view context and its parent.
    public func rollback(isolation: isolated (any Actor)? = #isolation) async {
        for context in [viewContext, parentContext] { await context.perform { context.rollback() } }
    }
}
