import Synchronization

/// Caches values that other modules derive from a model: deriving them again for every store would cost more than
/// opening the file. It holds one value of each type, guarded by a lock.
///
/// The values must not reference the model, which would create a retain cycle.
package final class ModelCompanions: Sendable {
    private let values = Mutex<[ObjectIdentifier: any Sendable]>([:])

    package init() {}

    /// The last value of this type that was stored here.
    package func value<Value: Sendable>(of type: Value.Type) -> Value? {
        values.withLock { $0[ObjectIdentifier(type)] } as? Value
    }

    package func keep<Value: Sendable>(_ value: Value) {
        values.withLock { $0[ObjectIdentifier(Value.self)] = value }
    }
}
