/// An actor with a model context of its own.
///
/// The macro ``ModelActor()`` adds what the protocol requires. Models stay inside the actor: hand out their
/// `persistentModelID`.
public protocol ModelActor: Actor {
    /// The container of the actor's context.
    nonisolated var modelContainer: ModelContainer { get }
    /// The executor on which the actor runs; it has to stay the same.
    nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
    /// The executor on which the actor runs.
    ///
    /// - Precondition: the model executor is a `SerialExecutor`.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        if let executor = modelExecutor as? DefaultSerialModelExecutor { return executor.asUnownedSerialExecutor() }
        guard let executor = modelExecutor as? any SerialExecutor else {
            preconditionFailure(
                """
                \(type(of: modelExecutor)) cannot run \(Self.self): an actor needs a serial executor; \
                conform to SerialModelExecutor.
                """)
        }
        return executor.asUnownedSerialExecutor()
    }

    /// The actor's context.
    public var modelContext: ModelContext { modelExecutor.modelContext }

    /// Returns the model with that identifier; `nil` if it is of another class.
    ///
    ///     let item = self[id, as: Item.self]
    public subscript<T: PersistentModel>(id: PersistentIdentifier, as type: T.Type) -> T? {
        modelContext.model(for: id) as? T
    }
}
