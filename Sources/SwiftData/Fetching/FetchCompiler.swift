import CoreData
import Foundation

/// Turns descriptors into fetch requests of the engine.
struct FetchCompiler {
    let context: ModelContext
    private let predicates: PredicateCompiler

    init(_ context: ModelContext) {
        self.context = context
        predicates = PredicateCompiler(types: context.container.modelTypes) {
            context.objectID(for: $0)
        }
    }

    /// - Throws: `SwiftDataError` that names the unsupported part: `unknownSchema` for a class that is not in the
    ///   container's schema, `unsupportedPredicate`, `unsupportedSortDescriptor`, `unsupportedKeyPath`.
    func request<T, Result>(
        _ descriptor: FetchDescriptor<T>, resultType: NSFetchRequestResultType
    ) throws -> NSFetchRequest<Result> {
        let request: NSFetchRequest<Result> = try self.request(
            for: T.self, where: descriptor.predicate, resultType: resultType)
        request.sortDescriptors = try descriptor.sortBy.map { try SortCompiler.descriptor($0) }
        if let limit = descriptor.fetchLimit { request.fetchLimit = limit }
        if let offset = descriptor.fetchOffset { request.fetchOffset = offset }
        request.includesPendingChanges = descriptor.includePendingChanges
        if !descriptor.propertiesToFetch.isEmpty, resultType == .managedObjectResultType {
            request.propertiesToFetch = try attributeNames(of: descriptor.propertiesToFetch)
        }
        if !descriptor.relationshipKeyPathsForPrefetching.isEmpty {
            request.relationshipKeyPathsForPrefetching = try descriptor.relationshipKeyPathsForPrefetching.map {
                try name(of: $0, of: T.self)
            }
        }
        return request
    }

    func request<T: PersistentModel, Result>(
        for type: T.Type, where predicate: Predicate<T>?, resultType: NSFetchRequestResultType
    ) throws -> NSFetchRequest<Result> {
        let entity = ModelLayout.of(type).entityName
        guard context.container.modelTypes[entity] != nil else {
            throw SwiftDataError(
                .unknownSchema,
                "'\(type)' is not in the schema of the container; list it in ModelContainer(for:) or in its Schema.")
        }
        let request = NSFetchRequest<Result>(entityName: entity)
        request.resultType = resultType
        request.predicate = try predicate.map { try PredicateTrees.predicate(predicates.node($0)) }
        return request
    }

    private func name<T: PersistentModel>(of keyPath: PartialKeyPath<T>, of type: T.Type) throws -> String {
        if let name = ModelLayout.of(type).name(of: keyPath) { return name }
        throw SwiftDataError(.unsupportedKeyPath, "\(keyPath) is no stored property of '\(type)'.")
    }

    /// Returns the attributes that the fetch reads. To-many relationships have no column; they are read at their first
    /// use, as without the list.
    private func attributeNames<T: PersistentModel>(of keyPaths: [PartialKeyPath<T>]) throws -> [String] {
        try keyPaths.compactMap { keyPath in
            let name = try name(of: keyPath, of: T.self)
            if case .toMany = ModelLayout.of(T.self).property(named: name)?.form { return nil }
            return name
        }
    }
}
