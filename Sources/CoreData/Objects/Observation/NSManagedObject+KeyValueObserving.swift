import Foundation

extension NSManagedObject: KeyValueObserving {}

extension KeyValueObserving where Self: NSManagedObject {
    /// Calls the handler after each change of a property that the model has.
    ///
    ///     let observation = item.observe(\.name, options: [.old, .new]) { item, change in
    ///         print(change.oldValue ?? nil, change.newValue ?? nil)       // Optional("Milk"), Optional("Oat milk")
    ///     }
    ///     item.name = "Oat milk"
    ///
    /// A change is a setter, the other side of a relationship, undo, and where the value differs afterwards also a refresh, a merge and a
    /// rollback. The handler runs on the context's queue, before the setter returns. Observing reads the property once before and
    /// after each change; objects that nobody observes pay nothing.
    ///
    /// - Parameters:
    ///   - keyPath: a property of the object itself. One that leads farther, or to what the model does not have, is never told of; a
    ///     message in the log says so.
    ///   - options: what the handler wants to be told.
    /// - Returns: what ends the observation when it is released.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let slot = KeyPathNames.name(for: keyPath).flatMap { self.slot(forKey: $0) }
        if slot == nil {
            CoreDataLog.general.error(
                "\(keyPath) of entity '\(runtime.name)' cannot be observed: it is no property of the model. Observe a property that it is made of."
            )
        }
        let observers = madeExtras().madeObservers()
        flags.insert(.announces)
        return observers.add(
            PropertyObservers.Observer(slot ?? -1, of: self, options, reading: { $0[keyPath: keyPath] }, changeHandler))
    }
}
