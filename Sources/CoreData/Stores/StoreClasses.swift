import Foundation
import Synchronization

/// The classes of stores that programs have registered, by their types.
final class StoreClasses: Sendable {
    static let shared = StoreClasses()
    /// Guards the classes.
    private let registered = Mutex<[String: NSPersistentStore.Type]>([:])

    var classes: [String: NSPersistentStore.Type] { registered.withLock { $0 } }

    func register(_ storeClass: NSPersistentStore.Type?, type: String) {
        registered.withLock { $0[type] = storeClass }
    }
}
