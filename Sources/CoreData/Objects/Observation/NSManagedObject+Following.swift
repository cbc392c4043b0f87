import Foundation

extension NSManagedObject {
    /// Calls the handler after each change of the property by a setter, the other side of a relationship or undo. It is
    /// also called after a refresh, a merge and a rollback, if the value differs afterwards.
    ///
    /// - Returns: an observation, which ends when it is released.
    package final func followProperty(_ slot: Int, _ handler: @escaping () -> Void) -> NSKeyValueObservation {
        let observers = madeExtras().madeObservers()
        flags.insert(.announces)
        return observers.add(
            PropertyObservers.Observer(
                slot, of: self, [], reading: { $0.anyValue(slot) ?? NSNull() }, { _, _ in handler() }))
    }
}
