import CoreData
import Foundation

extension ModelContext {
    /// Returns the models of a descriptor.
    ///
    ///     let trips = try context.fetch(FetchDescriptor<Trip>(predicate: #Predicate { $0.days > 3 }))
    ///     // SELECT … FROM ZTRIP t0 WHERE t0.ZDAYS > ?
    ///
    /// Cost: one statement, and one for each prefetched relationship.
    ///
    /// - Throws: `SwiftDataError.unsupportedPredicate` and similar errors, which name the unsupported part; the store's
    ///   error.
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        let request = try request(descriptor)
        let objects = try DataStoreScope.with(descriptor, request, self) { try managedObjectContext.fetch(request) }
        return [T](unsafeUninitializedCapacity: objects.count) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            for object in objects {
                guard let model = model(for: object, as: T.self) else { continue }
                (start + count).initialize(to: model)
                count += 1
            }
        }
    }

    /// The models that a descriptor asks for, read from the store in batches when they are first used.
    public func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<T> {
        let request: NSFetchRequest<NSManagedObject> = try request(descriptor)
        request.fetchBatchSize = max(batchSize, 1)
        let objects = try DataStoreScope.with(descriptor, request, self) { try managedObjectContext.fetch(request) }
        return FetchResultsCollection(count: objects.count) { [self] index in
            guard let model = model(for: objects[index], as: T.self) else {
                preconditionFailure("Row \(index) of a fetch of '\(T.self)' is of another class.")
            }
            return model
        }
    }

    /// The number of models that a descriptor asks for, without reading them.
    ///
    ///     // SELECT COUNT(*) FROM ZTRIP t0 WHERE …
    public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        let request: NSFetchRequest<NSManagedObject> = try request(descriptor)
        return try DataStoreScope.with(descriptor, request, self) { try managedObjectContext.count(for: request) }
    }

    /// The identifiers of the models that a descriptor asks for.
    public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]
    {
        try objectIDs(descriptor).map { identifier(of: $0) }
    }

    /// The identifiers of the models that a descriptor asks for.
    ///
    /// All identifiers are read at once: one takes 8 bytes, whatever the batch's size.
    public func fetchIdentifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> {
        let ids = try objectIDs(descriptor)
        return FetchResultsCollection(count: ids.count) { [self] in identifier(of: ids[$0]) }
    }

    /// Runs a block for each model of a descriptor, in order.
    ///
    /// Models that the block does not keep are released after each batch.
    ///
    /// - Throws: the block's error. With `allowEscapingMutations: false`, an error if the block leaves changes in a
    ///   context that had none.
    public func enumerate<T: PersistentModel>(
        _ fetch: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
        block: (T) throws -> Void
    ) throws {
        let hadChanges = hasChanges
        let ids = try objectIDs(fetch)
        let size = max(batchSize, 1)
        for start in stride(from: 0, to: ids.count, by: size) {
            let batch = Array(ids[start..<min(start + size, ids.count)])
            for object in try objects(with: batch, of: fetch) {
                guard let model = model(for: object, as: T.self) else { continue }
                try block(model)
            }
            guard allowEscapingMutations || hadChanges || !hasChanges else {
                throw SwiftDataError(
                    .modelValidationFailure,
                    "The block of enumerate(_:) left unsaved changes of '\(T.self)'; save in the block, or pass "
                        + "allowEscapingMutations: true.")
            }
        }
    }

    // MARK: Deleting

    /// Marks the models of a class that match a predicate for deletion at the next save; all of them without a
    /// predicate.
    ///
    /// Delete rules apply, unsaved models count, and model objects in use are notified, as with `delete(_:)`.
    ///
    /// Differs from Apple: theirs is a batch request, which ignores delete rules and models in use.
    public func delete<T: PersistentModel>(
        model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
    ) throws {
        let request: NSFetchRequest<NSManagedObject> = try FetchCompiler(self).request(
            for: T.self, where: predicate, resultType: .managedObjectResultType)
        request.includesSubentities = includeSubclasses
        for object in try managedObjectContext.fetch(request) {
            guard let model = self.model(for: object, as: T.self) else { continue }
            delete(model)
        }
    }

    /// The identifier of a model, as the model itself has it: permanent for an inserted one, too.
    func identifier(of id: NSManagedObjectID) -> PersistentIdentifier {
        let object = id.isTemporaryID ? managedObjectContext.registeredObject(for: id) as? ModelObject : nil
        return PersistentIdentifier(object?.permanentID ?? id)
    }

    // MARK: Requests

    private func request<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> NSFetchRequest<NSManagedObject>
    {
        takeSiblingChanges()
        return try FetchCompiler(self).request(descriptor, resultType: .managedObjectResultType)
    }

    private func objectIDs<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [NSManagedObjectID] {
        takeSiblingChanges()
        let request: NSFetchRequest<NSManagedObjectID> = try FetchCompiler(self).request(
            descriptor, resultType: .managedObjectIDResultType)
        return try DataStoreScope.with(descriptor, request, self) { try managedObjectContext.fetch(request) }
    }

    /// Returns the objects of a batch, read with one statement, in the batch's order. Objects that were deleted
    /// meanwhile are omitted.
    private func objects<T: PersistentModel>(
        with ids: [NSManagedObjectID], of descriptor: FetchDescriptor<T>
    ) throws -> [NSManagedObject] {
        var batch = FetchDescriptor<T>()
        batch.propertiesToFetch = descriptor.propertiesToFetch
        batch.relationshipKeyPathsForPrefetching = descriptor.relationshipKeyPathsForPrefetching
        let request: NSFetchRequest<NSManagedObject> = try request(batch)
        request.predicate = NSPredicate(format: "SELF IN %@", ids as NSArray)
        var found: [NSManagedObjectID: NSManagedObject] = [:]
        for object in try managedObjectContext.fetch(request) { found[object.objectID] = object }
        return ids.compactMap { found[$0] }
    }
}
