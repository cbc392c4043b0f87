import Foundation

// A context as the executor of actors: such an actor runs on the context's queue.
extension NSManagedObjectContext: SerialExecutor {
    /// The executor of an actor that shall run on the context's queue; of a main context it is the main actor's.
    ///
    ///     actor Importer {
    ///         let context: NSManagedObjectContext
    ///         nonisolated var unownedExecutor: UnownedSerialExecutor { context.unownedExecutor }
    ///     }
    ///
    /// ``ManagedObjectContextActor`` says that for you.
    ///
    /// - Precondition: the context has a queue, and the actor keeps the context.
    public nonisolated final var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

    public nonisolated final func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        concurrencyType == .mainQueueConcurrencyType
            ? MainActor.sharedUnownedExecutor : UnownedSerialExecutor(ordinary: self)
    }

    /// Runs the job on the context's queue, as a block of ``perform(_:)``: changes are processed after it.
    public nonisolated final func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        dispatchQueue.async {
            Confinement.with(self) {
                job.runSynchronously(on: executor)
                self.endEvent()
            }
        }
    }

    /// Stops the program off the context's queue. `assertIsolated()` and `assumeIsolated(_:)` of an actor call this if
    /// no task of the actor runs.
    public nonisolated final func checkIsolated() {
        precondition(isOwnedByCurrentThread, "This is not the queue of context \(contextName).")
    }

    #if compiler(>=6.2)
        public nonisolated final func isIsolatingCurrentContext() -> Bool? { isOwnedByCurrentThread }
    #endif
}

/// An actor that runs on the queue of a context, so that it uses the context and its objects without `perform`.
///
///     actor Importer: ManagedObjectContextActor {
///         let context: NSManagedObjectContext
///         init(_ container: NSPersistentContainer) { context = container.newBackgroundContext() }
///
///         func add(_ names: [String]) throws -> Int {
///             for name in names { Item(context: context).name = name }
///             try context.save()                      // BEGIN IMMEDIATE; INSERT INTO ZITEM …; COMMIT
///             return try context.count(for: Item.fetchRequest())
///         }
///     }
///     let count = try await Importer(container).add(["Milk", "Bread"])
///
/// Each turn of the actor, from one suspension to the next, ends like a block of `perform`: changes are processed.
/// `perform` and `performAndWait` in it run their blocks at once. Objects stay inside the actor; hand out IDs,
/// ``PersistentID``s and ``ObjectSnapshot``s. On a main context the actor runs on the main actor.
///
/// Apple has none for Core Data; it is what `@ModelActor` is for SwiftData.
public protocol ManagedObjectContextActor: Actor {
    /// The context on whose queue the actor runs; it must not change.
    nonisolated var context: NSManagedObjectContext { get }
}

extension ManagedObjectContextActor {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.unownedExecutor }
}
