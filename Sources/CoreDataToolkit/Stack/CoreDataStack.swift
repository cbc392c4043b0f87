import CoreData
import Foundation

/// A whole stack in one call: a coordinator with its store, a private parent context that writes to it, and a view context on top
/// of that, which never waits for the disk.
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
/// What import contexts save, and what other processes write to the store, is merged into both standing contexts.
///
/// Works in programs without a run loop: a server or a command line tool takes ``Options/viewQueue`` `.private`.
public final class CoreDataStack: @unchecked Sendable {
    // Safe because everything is set once, and contexts and coordinator guard themselves.

    /// The model of the store.
    public let model: NSManagedObjectModel
    /// What holds the store.
    public let coordinator: NSPersistentStoreCoordinator
    /// Where the store lies; `nil` for one in memory.
    public let storeURL: URL?
    /// How the stack was set up.
    public let options: Options
    /// Writes to the store, on a queue of its own. Leave it to the stack.
    public let parentContext: NSManagedObjectContext
    /// What users work with: a child of ``parentContext``, with an undo manager unless ``Options/undo`` is false.
    public let viewContext: NSManagedObjectContext
    let merging: StackMerging

    // MARK: Setting up

    /// Sets everything up: makes the store's folder, copies an initial store, migrates a store of an older model, opens it.
    ///
    ///     let stack = try await CoreDataStack.setUp(model: model, storeURL: url) { migration in
    ///         print("\(Int(migration.fractionCompleted * 100)) % migrated")
    ///     }
    ///
    /// - Parameters:
    ///   - model: frozen from now on.
    ///   - storeURL: the store's file; `nil` for a store in memory.
    ///   - migrationProgress: told how far a migration is, where there is one. Cancelling the task ends it, and the store stays
    ///     as it was.
    /// - Throws: what `addPersistentStore` throws, a ``ToolkitError`` for options that do not fit, `CancellationError`.
    public static func setUp(
        isolation: isolated (any Actor)? = #isolation, model: NSManagedObjectModel, storeURL: URL?,
        options: Options = Options(), migrationProgress: ProgressHandler? = nil
    ) async throws -> CoreDataStack {
        let passed = Passed(model)
        let stack = try await BackgroundWork.run { cancellation in
            try CoreDataStack(passed.value, storeURL, options, cancellation, migrationProgress)
        }
        await stack.viewContext.perform { stack.finishViewContext() }
        return stack
    }

    /// Does what ``setUp(isolation:model:storeURL:options:migrationProgress:)`` does, and waits: for programs without tasks.
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

    /// What is the view context's queue's to do.
    private func finishViewContext() {
        if options.undo { viewContext.undoManager = UndoManager() }
    }

    // MARK: Contexts

    /// A context on the coordinator with a queue of its own, for imports and other work that the view need not wait for.
    ///
    /// It has no undo manager. What it saves is merged into ``viewContext``.
    public func newImportContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.name = "importContext"
        context.mergePolicy = options.mergePolicy
        context.transactionAuthor = options.author
        return context
    }

    /// Runs the body with an import context, saves what it changed, and returns when the view context has it.
    ///
    ///     try await stack.performImport { context in
    ///         for name in names { Item(context: context).name = name }
    ///     }
    ///
    /// - Throws: what the body throws, and then nothing is saved; what the save throws.
    @discardableResult
    public func performImport<T>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let context = newImportContext()
        let result = try await context.perform {
            let result = Passed(try body(context))
            if context.hasChanges { try context.save() }
            return result
        }
        await mergeNow()
        return result.value
    }

    /// Returns when the standing contexts have what has been saved until now, by whatever context or process.
    public func mergeNow(isolation: isolated (any Actor)? = #isolation) async {
        await merging.finish()
    }

    // MARK: Saving

    /// Saves the view context, then its parent: one transaction, written in the background.
    ///
    /// - Throws: what `save()` of a context throws: validation errors (1550–1690) for the view context, which then keeps its
    ///   changes and has saved nothing; conflicts (133020, 133021) and trouble with the store for the parent, which then has
    ///   the changes and tries them again with the next save: ``rollback(isolation:)`` gives them up.
    public func save(isolation: isolated (any Actor)? = #isolation) async throws { try await save(viewContext) }

    /// Saves a context, then its parents, each on its own queue.
    public func save(
        isolation: isolated (any Actor)? = #isolation, _ context: NSManagedObjectContext
    ) async throws {
        var next: NSManagedObjectContext? = context
        while let context = next {
            // The last one also writes what was put into the store's metadata.
            try await context.perform { if context.hasChanges || context.parent == nil { try context.save() } }
            next = context.parent
        }
    }

    /// Saves the view context and its parent, and waits: for programs without tasks.
    ///
    /// Call it on the main thread where the view context is `.main`, or anywhere where it is `.private`.
    public func saveAndWait() throws {
        for context in [viewContext, parentContext] {
            try context.performAndWait { if context.hasChanges || context.parent == nil { try context.save() } }
        }
    }

    /// Takes back what no save has written yet, in the view context and its parent.
    public func rollback(isolation: isolated (any Actor)? = #isolation) async {
        for context in [viewContext, parentContext] { await context.perform { context.rollback() } }
    }
}
