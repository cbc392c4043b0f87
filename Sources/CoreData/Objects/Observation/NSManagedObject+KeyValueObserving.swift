import Foundation

extension NSManagedObject: KeyValueObserving {}

extension KeyValueObserving where Self: NSManagedObject {
    /// Calls the handler after each change of a property of the model.
    ///
    ///     let observation = item.observe(\.name, options: [.old, .new]) { item, change in
    ///         print(change.oldValue ?? nil, change.newValue ?? nil)       // Optional("Milk"), Optional("Oat milk")
    ///     }
    ///     item.name = "Oat milk"
    ///
    /// Changes are made by a setter, the other side of a relationship or undo; and by a refresh, a merge or a rollback,
    /// if the value differs afterwards. The handler runs on the context's queue, before the setter returns. Observing
    /// reads the property once before and after each change; objects without observers pay nothing.
    ///
    /// - Parameters:
    ///   - keyPath: a property of the object itself. For a longer path, or for a property that the model does not have,
    ///     the handler is never called; a message in the log says so.
    ///   - options: the values that the handler receives.
    /// - Returns: an observation, which ends when it is released.
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
