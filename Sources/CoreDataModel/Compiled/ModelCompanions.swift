import Synchronization

/// What others derive from a model and keep with it, since to derive it anew for every store that is opened would cost more
/// than to open the file: a value of each kind, guarded by a lock.
///
/// The values must not hold the model, which would then never go.
package final class ModelCompanions: Sendable {
    private let values = Mutex<[ObjectIdentifier: any Sendable]>([:])

    package init() {}

    /// The value of this type that was put here last.
    package func value<Value: Sendable>(of type: Value.Type) -> Value? {
        values.withLock { $0[ObjectIdentifier(type)] } as? Value
    }

    package func keep<Value: Sendable>(_ value: Value) {
        values.withLock { $0[ObjectIdentifier(Value.self)] = value }
    }
}
