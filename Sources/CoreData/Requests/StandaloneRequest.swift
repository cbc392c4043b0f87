import Foundation

/// A request that neither a context nor its stores answer, but something else that belongs to the coordinator.
protocol StandaloneRequest {
    /// The answer for a coordinator.
    func result(for coordinator: AnyObject) throws -> NSPersistentStoreResult
}
