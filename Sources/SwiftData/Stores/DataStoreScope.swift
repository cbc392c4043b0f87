import CoreData
import CoreDataPredicate
import Foundation

/// What a context is fetching, for stores of an app's own: they get the descriptor itself, not what the engine makes of
/// it.
struct DataStoreScope: @unchecked Sendable {
    // Safe because nothing in it is changed.
    @TaskLocal static var current: DataStoreScope?

    /// A `FetchDescriptor` of some class.
    let descriptor: Any
    let entityName: String
    let predicateFormat: String?
    let sortCount: Int
    let editingState: EditingState

    /// Runs the body with the descriptor that the request was made of, where a store may ask for it.
    static func with<T: PersistentModel, Result, R>(
        _ descriptor: FetchDescriptor<T>, _ request: NSFetchRequest<Result>, _ context: ModelContext,
        _ body: () throws -> R
    ) rethrows -> R {
        guard context.container.usesDataStores else { return try body() }
        let scope = DataStoreScope(
            descriptor: descriptor, entityName: ModelLayout.of(T.self).entityName,
            predicateFormat: request.predicate?.node.predicateFormat, sortCount: request.sortDescriptors?.count ?? 0,
            editingState: context.editingState)
        return try $current.withValue(scope, operation: body)
    }

    /// The descriptor, where the request asks for the same models in the same order.
    func descriptor<T: PersistentModel>(of type: T.Type, for request: AnyFetchRequest) -> FetchDescriptor<T>? {
        guard let descriptor = descriptor as? FetchDescriptor<T>, request.entityName == entityName,
            request.predicate?.node.predicateFormat == predicateFormat,
            request.sortDescriptors?.count ?? 0 == sortCount
        else { return nil }
        return descriptor
    }
}
