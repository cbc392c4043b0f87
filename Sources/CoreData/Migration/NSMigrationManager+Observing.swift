import Foundation

extension NSMigrationManager: KeyValueObserving {}

extension KeyValueObserving where Self: NSMigrationManager {
    /// Calls the handler after each change of ``NSMigrationManager/migrationProgress`` or
    /// ``NSMigrationManager/currentEntityMapping``, on the thread that migrates.
    ///
    ///     let observation = manager.observe(\.migrationProgress, options: [.new]) { _, change in bar.set(change.newValue) }
    ///
    /// - Parameters:
    ///   - keyPath: one of the two properties; changes of others are not reported.
    ///   - options: the values that the handler receives.
    /// - Returns: an observation, which ends when it is released.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let name: NSMigrationManager.ObservedProperty =
            switch keyPath as AnyKeyPath {
            case \NSMigrationManager.migrationProgress, \Self.migrationProgress: .progress
            case \NSMigrationManager.currentEntityMapping, \Self.currentEntityMapping: .mapping
            default: .other
            }
        return observers.add(
            PropertyObservers.Observer(name, of: self, options, reading: { $0[keyPath: keyPath] }, changeHandler))
    }
}

extension NSMigrationManager {
    /// The properties that change during a migration.
    enum ObservedProperty {
        case progress
        case mapping
        case other
    }
}
