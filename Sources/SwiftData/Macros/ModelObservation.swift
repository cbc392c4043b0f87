import CoreData
import Observation

/// The observers of a model's properties.
///
/// The registrar is made when a property is read under `withObservationTracking` for the first time. A model without
/// observers has none, and its setters notify none.
///
/// Used by the expansion of `@Model`. Like its model, it belongs to one isolation domain.
public struct _ModelObservation {
    /// Has the registrar. Reading a registrar without this class would ask the runtime for its size each time.
    @usableFromInline
    final class Observers {
        let registrar = ObservationRegistrar()

        init() {}
    }

    @usableFromInline private(set) var observers: Observers?

    /// No observers.
    public init() {}

    /// Whether reads are being tracked on the calling thread.
    public static var isTracking: Bool { ReadTracking.isTracking }

    /// Whether a property of the model was ever read under `withObservationTracking`.
    @inlinable public var isObserved: Bool { observers != nil }

    /// Registers a read of the property.
    public mutating func access<Model: Observable, Value>(_ model: Model, keyPath: KeyPath<Model, Value>) {
        guard Self.isTracking else { return }
        let observers = self.observers ?? Observers()
        self.observers = observers
        observers.registrar.access(model, keyPath: keyPath)
        (model as? any PersistentModel)?._follow(keyPath)
    }

    /// Changes the property and notifies its observers.
    public func withMutation<Model: Observable, Value, Result>(
        of model: Model, keyPath: KeyPath<Model, Value>, _ mutation: () throws -> Result
    ) rethrows -> Result {
        guard let observers else { return try mutation() }
        return try observers.registrar.withMutation(of: model, keyPath: keyPath, mutation)
    }

    /// Changes the property that a key path of unknown type stands for, and notifies its observers.
    public func withMutation<Model: Observable>(
        of model: Model, anyKeyPath keyPath: AnyKeyPath, _ mutation: () -> Void
    ) {
        guard let observers else { return mutation() }
        func notify<Value>(_ type: Value.Type) {
            guard let keyPath = keyPath as? KeyPath<Model, Value> else { return mutation() }
            observers.registrar.withMutation(of: model, keyPath: keyPath, mutation)
        }
        _openExistential(type(of: keyPath).valueType, do: notify)
    }
}
