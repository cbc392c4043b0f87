import CoreData

/// An executor that runs work with a model context.
public protocol ModelExecutor: Executor {
    /// The context, which is used on the executor only.
    var modelContext: ModelContext { get }
}

/// A model executor that runs one job after the other.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// Runs jobs one after the other on the queue of a model context.
///
/// A context has a private queue, so the jobs of an actor never run on the main thread, wherever the actor was made.
/// The main context of a container runs on the main actor, and so do the jobs of its executor. Changes are processed
/// after each job.
///
/// Differs from Apple: the thread on which the context is made does not matter.
public class DefaultSerialModelExecutor: @unchecked Sendable, SerialModelExecutor {
    // Safe because the context is set once and used by jobs of the executor only.

    /// The context, which jobs of the executor use.
    public let modelContext: ModelContext
    private let context: NSManagedObjectContext

    /// The executor of the context's queue.
    public init(modelContext: ModelContext) {
        self.modelContext = modelContext
        context = modelContext.managedObjectContext
        // From now on it is used on its queue only.
        context.isUnbound = false
    }

    /// Runs the job on the context's queue when the jobs before it have run.
    public func enqueue(_ job: consuming ExecutorJob) { context.enqueue(job) }

    /// The context's queue as an actor's executor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { context.asUnownedSerialExecutor() }
}
