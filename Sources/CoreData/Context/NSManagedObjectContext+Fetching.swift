import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Fetching: the rows of the stores, then the unsaved changes of the context.
extension NSManagedObjectContext {
    /// Returns the results of the request: objects, IDs, dictionaries or a count.
    ///
    ///     let request = NSFetchRequest<Item>(entityName: "Item")
    ///     request.predicate = NSPredicate(format: "unit.name == %@", "kg")
    ///     let items = try context.fetch(request)
    ///     // SELECT … FROM ZITEM t0 LEFT OUTER JOIN ZUNIT t1 ON t0.ZUNIT = t1.Z_PK WHERE t1.ZNAME = ?
    ///
    /// One statement per store, and one more for each step of the prefetched key paths. Objects that the context
    /// already has are returned unchanged; see ``AnyFetchRequest/shouldRefreshRefetchedObjects``.
    ///
    /// - Throws: an error that names the sub-expression that is not supported.
    public nonisolated final func fetch<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws -> [T] {
        if let type = T.self as? NSManagedObject.Type { ManagedObjectClasses.shared.learn(type) }
        let (results, classes) = try CoreDataErrors.converting { try self.results(of: request) }
        try check(classes, are: T.self, request)
        // Both are arrays of class references, and every element has been checked to be a T.
        return unsafeBitCast(results, to: [T].self)
    }

    /// How many objects or dictionaries `fetch(_:)` would return for the request; limit and offset count.
    public nonisolated final func count(for request: AnyFetchRequest) throws -> Int {
        try CoreDataErrors.converting { try countOfResults(of: request) }
    }

    private func countOfResults(of request: AnyFetchRequest) throws -> Int {
        checkOwned("count(for:)")
        processPendingChanges()
        let coordinator = try coordinatorForRequest()
        let translation = try translation(of: request, coordinator)
        let stores = try readStores(for: translation.entity, affected: request.affectedStores)
        if request.resultType == .dictionaryResultType {
            return try DictionaryFetch(translation, coordinator: coordinator, context: self).count(in: stores)
        }
        let pending = request.includesPendingChanges && hasPendingChanges(for: translation)
        if !pending, parentLink.isChild { return try countInParent(translation) }
        if pending || translation.asksObjects || stores.count > 1 && (request.fetchLimit > 0 || request.fetchOffset > 0)
        {
            return try objects(of: translation, stores: stores, readsRows: false).0.count
        }
        return try CoreDataErrors.converting {
            try stores.reduce(0) { try $0 + $1.source.count(translation.plan(for: $1)) }
        }
    }

    /// The results, and the classes that they have.
    private func results(of request: AnyFetchRequest) throws -> (objects: [AnyObject], classes: FoundClasses) {
        checkOwned("fetch(_:)")
        processPendingChanges()
        let coordinator = try coordinatorForRequest()
        if request.resultType == .countResultType {
            return Self.withClasses([NSNumber(value: try count(for: request))])
        }
        let translation = try translation(of: request, coordinator)
        let stores = try readStores(for: translation.entity, affected: request.affectedStores)
        switch request.resultType {
        case .dictionaryResultType:
            return Self.withClasses(
                try DictionaryFetch(translation, coordinator: coordinator, context: self).run(in: stores))
        case .managedObjectIDResultType:
            return Self.withClasses(try objectIDs(of: translation, stores: stores))
        default:
            let (objects, classes) = try objects(
                of: translation, stores: stores, readsRows: request.includesPropertyValues)
            try finish(objects, request, translation)
            // An array of references is one, whatever their static type: to convert it would cast every element.
            return (unsafeBitCast(objects, to: [AnyObject].self), classes)
        }
    }

    /// Translates the request for the stores, and for objects if all stores with the entity are in memory.
    final func translation(
        of request: AnyFetchRequest, _ coordinator: NSPersistentStoreCoordinator
    ) throws -> FetchTranslation {
        try FetchTranslation(request, in: coordinator.runtime, clock: coordinator.clock) { entity in
            try request.resultType != .dictionaryResultType
                && readStores(for: entity, affected: request.affectedStores).allSatisfy(\.isInMemory)
        }
    }

    private static func withClasses(_ results: [AnyObject]) -> (objects: [AnyObject], classes: FoundClasses) {
        (results, FoundClasses(of: results))
    }

    private func check<T: NSFetchRequestResult>(
        _ classes: FoundClasses, are type: T.Type, _ request: AnyFetchRequest
    ) throws {
        // `any NSFetchRequestResult` is no class.
        guard let wanted = (type as Any) as? AnyClass else { return }
        let isOfObjects = request.resultType == .managedObjectResultType
        if isOfObjects, wanted == NSManagedObject.self { return }
        for actual in classes.classes where !(actual is T.Type) {
            guard isOfObjects else {
                throw CoreDataErrors.invalidRequest(
                    """
                    The request for entity '\(request.entityName ?? "")' found \(actual), as its resultType asks for, not \(wanted): \
                    make it a request of what it finds, such as NSFetchRequest<NSDictionary>.
                    """)
            }
            throw CoreDataErrors.invalidRequest(
                """
                The request for entity '\(request.entityName ?? "")' found \(actual), not \(wanted). \
                The model's class name for the entity must be the class's name, with its module: \
                \(String(reflecting: wanted)).
                """)
        }
    }

    final func coordinatorForRequest() throws -> NSPersistentStoreCoordinator {
        guard let coordinator else {
            throw CoreDataErrors.coreData("The context has no persistentStoreCoordinator to fetch from.")
        }
        return coordinator
    }

    // MARK: Objects

    /// Returns the matching objects in order, with unsaved changes if the request includes them.
    final func objects(
        of translation: FetchTranslation, stores: [AttachedStore], readsRows: Bool
    ) throws -> (objects: [NSManagedObject], classes: FoundClasses) {
        let request = translation.request
        let pending =
            request.includesPendingChanges ? pendingObjects(for: translation) : PendingObjects()
        let hasStores = !parentLink.isChild && stores.count > 1
        // A child's parent asks its own objects.
        let asksObjects = translation.asksObjects && !parentLink.isChild
        let needsWindow = !pending.isEmpty || hasStores || asksObjects
        var found: [NSManagedObject] = []
        var classes = FoundClasses()
        // Each unsaved change can take at most one row out of the window.
        let extra = pending.changed.count + pending.deleted.count
        if parentLink.isChild {
            found = try objectsInParent(
                translation, isWider: needsWindow, by: extra, readsRows: readsRows, noting: &classes)
        } else {
            for store in stores {
                var plan = translation.plan(for: store)
                if needsWindow {
                    if plan.limit > 0 { plan.limit += plan.offset + extra }
                    plan.offset = 0
                }
                let objects = try fetch(plan, from: store, request: request, readsRows: readsRows, noting: &classes)
                if found.isEmpty { found = objects } else { found += objects }
            }
        }
        guard needsWindow else { return (found, classes) }
        if asksObjects {
            realiseAll(found)
            let frame = frameOfClock()
            found = try found.filter { try translation.matches($0, in: frame) }
        }
        let isResorted = try overlay(pending, on: &found, translation)
        if isResorted || hasStores || asksObjects {
            if !readsRows || stores.contains(where: \.readsRowsLater) { realiseAll(found) }
            try translation.sort(&found)
        }
        if request.fetchOffset > 0 { found.removeFirst(min(request.fetchOffset, found.count)) }
        if request.fetchLimit > 0, found.count > request.fetchLimit {
            found.removeLast(found.count - request.fetchLimit)
        }
        return (found, FoundClasses(of: found))
    }

    private func fetch(
        _ plan: FetchPlan, from store: AttachedStore, request: AnyFetchRequest, readsRows: Bool,
        noting classes: inout FoundClasses
    ) throws -> [NSManagedObject] {
        try CoreDataErrors.converting {
            if request.fetchBatchSize > 0 || !readsRows || store.readsRowsLater {
                let keys = try store.source.keys(plan)
                let batch =
                    request.fetchBatchSize > 0 && keys.count > 1
                    ? FaultBatch(keys: keys, size: request.fetchBatchSize) : nil
                var found: [NSManagedObject] = []
                found.reserveCapacity(keys.count)
                for (position, key) in keys.enumerated() {
                    let object = self.object(for: key, in: store)
                    // The store says that the row exists.
                    if store.readsRowsLater, object.flags.contains(.inaccessible) { revive(object) }
                    if object.isFault, !object.hasCurrentRow {
                        object.batch = batch.map { BatchPlace(batch: $0, position: position) }
                    }
                    classes.note(object)
                    found.append(object)
                }
                if store.readsRowsLater {
                    try rowReading.fetchProgress?.advance(by: found.count)
                    if request.shouldRefreshRefetchedObjects { try refreshRefetched(found, in: store) }
                }
                if batch == nil { noteSiblings(found, in: store) }
                return found
            }
            var found: [NSManagedObject] = []
            try store.fetchRows(plan) { rows in
                try rowReading.fetchProgress?.advance(by: rows.count)
                if request.shouldRefreshRefetchedObjects { rows.forEach { refreshRefetched($0, in: store) } }
                append(objectsFor: rows, in: store, to: &found, noting: &classes)
            }
            noteSiblings(found, in: store)
            return found
        }
    }

    /// Gives objects whose rows the fetch did not read the current values of the store; unsaved changes stay.
    private func refreshRefetched(_ objects: [NSManagedObject], in store: AttachedStore) throws {
        let known = objects.filter { !$0.isFault && $0.hasRow }
        for (root, members) in Dictionary(grouping: known, by: \.home.root) {
            for object in members { store.objectSource?.forget(object.primaryKey, root: root) }
            let rows = try store.source.heldRows(members.map(\.primaryKey), root: root, staleness: -1)
            for index in rows.indices where rows.hasRow(index) { refreshRefetched(rows[index], in: store) }
        }
    }

    /// A registered object takes the row's values, its unsaved changes aside.
    final func refreshRefetched(_ row: RowSnapshot, in store: AttachedStore) {
        guard let runtime = coordinator?.runtime.entities[row.entity],
            let known = registry.object(store: store.index, root: runtime.root, primaryKey: row.primaryKey),
            !known.isFault, known.hasRow, !known.hasSameRow(as: row)
        else { return }
        merge(row, into: known)
    }

    // MARK: Unsaved changes

    struct PendingObjects {
        var inserted: [NSManagedObject] = []
        var changed: [NSManagedObject] = []
        var deleted: [NSManagedObject] = []

        var isEmpty: Bool { inserted.isEmpty && changed.isEmpty && deleted.isEmpty }
    }

    private func hasPendingChanges(for translation: FetchTranslation) -> Bool {
        pendingChanges.inserted.contains { $0.isInserted && translation.includes($0) }
            || pendingChanges.updated.contains { $0.isUpdated && translation.includes($0) }
            || pendingChanges.deleted.contains { $0.isDeleted && translation.includes($0) }
    }

    final func pendingObjects(for translation: FetchTranslation) -> PendingObjects {
        var pending = PendingObjects()
        pending.inserted = pendingChanges.inserted.filter {
            $0.isInserted && !$0.isDeleted && translation.includes($0)
        }
        pending.changed = pendingChanges.updated.filter { $0.isUpdated && translation.includes($0) }
        pending.deleted = pendingChanges.deleted.filter { $0.isDeleted && translation.includes($0) }
        return pending
    }

    /// The evaluation frame that gives predicates the clock's time; `nil` for the system's clock.
    private func frameOfClock() -> EvaluationFrame? {
        guard let clock = coordinator?.clock, clock != .system else { return nil }
        return EvaluationFrame(now: clock.now)
    }

    /// Inserts objects that match now and removes those that do not match any more. Returns whether the list must be
    /// sorted again.
    private func overlay(
        _ pending: PendingObjects, on found: inout [NSManagedObject], _ translation: FetchTranslation
    ) throws -> Bool {
        guard !pending.isEmpty else { return false }
        found.removeAll { $0.isDeleted }
        var matching: [NSManagedObject] = []
        let frame = frameOfClock()
        if !pending.changed.isEmpty {
            let changed = Set(pending.changed.map(ObjectReference.init))
            found.removeAll { changed.contains(ObjectReference($0)) }
            realiseAll(pending.changed)
            matching += try pending.changed.filter { try !$0.isDeleted && translation.matches($0, in: frame) }
        }
        matching += try pending.inserted.filter { try translation.matches($0, in: frame) }
        found += matching
        return !matching.isEmpty
    }

    private func objectIDs(of translation: FetchTranslation, stores: [AttachedStore]) throws -> [AnyObject] {
        let request = translation.request
        let isPending = request.includesPendingChanges && hasPendingChanges(for: translation)
        if isPending || translation.asksObjects || stores.count > 1 || parentLink.isChild {
            return try objects(of: translation, stores: stores, readsRows: false).0.map(\.objectID)
        }
        guard let store = stores.first, let coordinator else { return [] }
        return try CoreDataErrors.converting {
            try store.source.keys(translation.plan(for: store)).map { key in
                NSManagedObjectID(
                    runtime: coordinator.runtime.entities[key.entity], primaryKey: key.primaryKey, store: store)
            }
        }
    }

    // MARK: After the fetch

    private func finish(
        _ objects: [NSManagedObject], _ request: AnyFetchRequest, _ translation: FetchTranslation
    ) throws {
        if let paths = request.relationshipKeyPathsForPrefetching, !paths.isEmpty {
            try prefetch(paths, of: objects, of: translation.entity)
        }
        guard !request.returnsObjectsAsFaults, request.fetchBatchSize <= 0 else { return }
        realiseAll(objects)
    }
}
