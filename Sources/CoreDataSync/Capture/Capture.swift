import CoreData
import CoreDataSyncEngine
import Foundation

/// Brings the sidecar up to date with the store: reads what changed since the last capture, stamps it, and writes
/// stamps, segments and the history's position in one transaction of the sidecar. The store is only read.
///
///     let capture = Capture(coordinator: coordinator, sidecar: sidecar, rules: rules) { millisecondsSince2001() }
///     var result = try capture.run()
///     if result.needsComparison != nil { result = try capture.compareAll(seed: .even) }
///
/// A capture that fails, or whose process dies, leaves the sidecar as it was; the next one captures the same changes,
/// with later stamps.
///
/// Stores without history (XML, binary, or opened without `NSPersistentHistoryTrackingKey`) are compared as a whole by
/// each capture.
package struct Capture: @unchecked Sendable {
    // Safe because a coordinator and its stores may be used by any thread.

    package let coordinator: NSPersistentStoreCoordinator
    package let store: NSPersistentStore
    package let sidecar: Sidecar
    package let rules: SyncRules
    /// Decides between versions; ``SyncOptions/merge``.
    var merge: (@Sendable (SyncVersions) -> (any Sendable)?)?
    /// Milliseconds since 2001-01-01 UTC.
    let clock: @Sendable () -> UInt64
    /// Makes IDs of objects without a key.
    var newID: @Sendable (_ now: UInt64) -> GlobalID = { now in
        var generator = SystemRandomNumberGenerator()
        return KeyIdentity.random(now: now, using: &generator)
    }

    /// - Parameter store: the store that is captured; `nil` for the coordinator's first one.
    /// - Throws: 134070 without a store, and for a store of a class of the program's own: its objects have no keys that
    ///   last.
    package init(
        coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore? = nil, sidecar: Sidecar, rules: SyncRules,
        clock: @escaping @Sendable () -> UInt64
    ) throws {
        guard let store = store ?? coordinator.persistentStores.first else {
            throw SyncErrors.make(
                134070, "The coordinator has no store to synchronise. Load the container's stores before sync starts.")
        }
        guard !(store is NSIncrementalStore), !(store is NSAtomicStore) || Self.hasKeys(store) else {
            throw SyncErrors.make(
                134070,
                "A store of type '\(store.type)' cannot be synchronised: its class decides what its objects are called, and they have no primary keys. Use an SQLite, PostgreSQL, XML, binary or in-memory store."
            )
        }
        (self.coordinator, self.store, self.sidecar, self.rules) = (coordinator, store, sidecar, rules)
        self.clock = clock
    }

    private static func hasKeys(_ store: NSPersistentStore) -> Bool {
        [NSXMLStoreType, NSBinaryStoreType, NSInMemoryStoreType].contains(store.type)
    }

    // MARK: Capturing

    /// Captures what the history has after the last capture.
    ///
    /// - Parameters:
    ///   - intended: what apply wrote since the last capture. Transactions of author `sync` are left out but for what
    ///     it does not contain; with `nil` they are left out as a whole.
    ///   - limit: the most transactions that are read; ``CaptureResult/isPartial`` says that there are more.
    package func run(intended: IntendedChanges? = nil, limit: Int = 5_000) throws -> CaptureResult {
        try coordinator.checkAttached(store)
        let settings = sidecar.settings
        guard let token = settings.token else { return .comparison(.firstTime) }
        guard settings.storeIdentifier == store.identifier else { return .comparison(.otherStore) }
        guard let last = historyEnd else { return try compareAll(seed: nil) }
        guard let position = token[store.identifier] else { return .comparison(.purged) }
        guard position <= last, try isSameHistory(settings, at: position) else {
            try coordinator.checkAttached(store)
            return .comparison(.otherStore)
        }
        if position == last { return CaptureResult() }
        let portion: HistoryPortion
        do {
            portion = try HistoryPortion(self, after: position, limit: limit, intended)
        } catch let error as CocoaError where error.code.rawValue == NSPersistentHistoryTokenExpiredError {
            return .comparison(.purged)
        }
        let run = try CaptureRun(self, settings)
        run.result.transactions = portion.transactions
        run.result.isPartial = portion.isPartial
        run.settings.token = [store.identifier: max(portion.end, position)]
        portion.mark?.write(to: &run.settings)
        run.transactionIDs.times = portion.times
        for (key, id) in intended?.insertedIDs ?? [:] { run.table(key.root).ids[key.key] = id }
        return try run.capture(portion.changes)
    }

    /// Captures the difference between the whole store and the sidecar: when a store is attached, and where the history
    /// does not tell.
    ///
    /// - Parameters:
    ///   - seed: how old new and changed values are; `nil` for edits of now. With a seed, objects of the sidecar that
    ///     are not in the store are not deleted: they lose their rows, and apply makes them again.
    ///   - position: the number of the last transaction that was captured before; `nil` for the end of the history.
    package func compareAll(seed: SeedAge?, after position: Int64? = nil) throws -> CaptureResult {
        try coordinator.checkAttached(store)
        // What is saved from here on has a later position, and is captured then.
        let end = position ?? historyEnd
        let run = try CaptureRun(self, sidecar.settings, seed: seed)
        if run.settings.seedAge == nil { run.settings.seedAge = seed }
        run.settings.token = end.map { [store.identifier: $0] } ?? [:]
        run.settings.storeIdentifier = store.identifier
        if let end, end > 0 { try mark(of: end)?.write(to: &run.settings) }
        return try run.compare()
    }

    /// Computes the digests of objects whose entries apply wrote, so that a later comparison finds edits of them.
    /// Needed for stores without history only.
    package func updateDigests(of keys: [ObjectKey]) throws {
        try CaptureRun(self, sidecar.settings).updateDigests(of: keys)
    }

    /// Whether the store tells what changed.
    package var hasHistory: Bool { historyEnd != nil }

    /// The number of the last transaction; `nil` for a store without history.
    var historyEnd: Int64? {
        coordinator.currentPersistentHistoryToken(fromStores: [store])?.positions[store.identifier]
    }
}

extension CaptureResult {
    static func comparison(_ reason: ComparisonReason) -> Self {
        var result = Self()
        result.needsComparison = reason
        return result
    }
}
