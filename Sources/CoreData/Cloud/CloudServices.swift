import Foundation
import Synchronization

/// What synchronises stores under Apple's names: the module `CoreDataSync` registers a provider.
package protocol CloudProvider: Sendable {
    /// Throws 134060 if stores of the configuration cannot synchronise.
    func check(_ model: NSManagedObjectModel, configuration: String?) throws

    /// Begins to synchronise a store of a container.
    ///
    /// - Parameter notify: called on any thread when an event begins, and when it ends.
    func mirror(
        _ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator,
        _ options: NSPersistentCloudKitContainerOptions,
        notify: @escaping @Sendable (NSPersistentCloudKitContainer.Event) -> Void
    ) -> any CloudMirror

    /// Removes a store and its content from all devices.
    func removeUbiquitousContent(ofStoreAt url: URL, _ options: [AnyHashable: Any]) throws
}

/// The synchronisation of one store of a container; it ends with the object.
package protocol CloudMirror: AnyObject, Sendable {
    /// Whether changes of this device can reach the other ones.
    var canWrite: Bool { get }
    /// Asks the place, and throws what that throws.
    func checkPlace() throws
    /// Ends the synchronisation.
    func stop()
}

/// The provider of the process.
package final class CloudServices: Sendable {
    package static let shared = CloudServices()

    private struct State {
        var provider: (any CloudProvider)?
        var observers: [Int: @Sendable () -> Void] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    var provider: (any CloudProvider)? { state.withLock { $0.provider } }

    /// Sets the provider, and tells the containers that were loaded before.
    package func use(_ provider: (any CloudProvider)?) {
        let observers = state.withLock { state in
            state.provider = provider
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    func observe(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.observers[state.next] = observer
            return state.next
        }
    }

    func removeObserver(_ number: Int) { state.withLock { $0.observers[number] = nil } }

    /// Logs a failure that no caller hears of.
    package static func logFailure(_ message: String) { CoreDataLog.general.error("\(message)") }

    /// Without a provider or an account a store is a local one.
    static func missingProvider() -> CocoaError {
        CoreDataErrors.make(
            cloudAccountMissing,
            "The store is a local one and does not synchronise: no place for it is registered. Depend on the product CoreDataSync, and call CloudPlaces.register(…) when the program starts."
        )
    }

    /// The code of an event's error without an account: Apple's framework has it without a name.
    package static let cloudAccountMissing = 134400
    /// The code of an event's error if the store belongs to another account.
    package static let cloudAccountChanged = 134405
}
