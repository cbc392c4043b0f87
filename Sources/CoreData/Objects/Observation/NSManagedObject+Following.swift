import Foundation

extension NSManagedObject {
    /// Calls the handler after each change of the property, wherever it comes from: a setter, the other side of a relationship, undo, and
    /// where the value differs afterwards also a refresh, a merge and a rollback.
    ///
    /// - Returns: what ends it when it is released.
    package final func followProperty(_ slot: Int, _ handler: @escaping () -> Void) -> NSKeyValueObservation {
        let observers = madeExtras().madeObservers()
        flags.insert(.announces)
        return observers.add(
            PropertyObservers.Observer(
                slot, of: self, [], reading: { $0.anyValue(slot) ?? NSNull() }, { _, _ in handler() }))
    }
}
