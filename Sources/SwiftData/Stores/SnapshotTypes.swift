import Foundation
import Synchronization

/// The classes by which snapshots are decoded: those of the container whose store is being called, else those of the
/// container that was opened last.
enum SnapshotTypes {
    @TaskLocal private static var current: [String: any PersistentModel.Type]?
    private static let known = Mutex<[String: any PersistentModel.Type]>([:])

    static func type(named name: String) -> (any PersistentModel.Type)? {
        current?[name] ?? known.withLock { $0[name] }
    }

    static func add(_ types: [String: any PersistentModel.Type]) {
        known.withLock { $0.merge(types) { _, new in new } }
    }

    /// Runs the body with the classes of a container.
    static func with<R>(_ types: [String: any PersistentModel.Type], _ body: () throws -> R) rethrows -> R {
        try $current.withValue(types, operation: body)
    }
}
