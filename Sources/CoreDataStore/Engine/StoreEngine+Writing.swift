import CoreDataSQL
import Foundation

extension StoreEngine {
    /// Writes in one transaction, which rolls back if `body` throws. All writes of an open store go through it.
    ///
    /// `body` is called again after a conflict on the server, or if the connection was lost before the commit.
    ///
    /// - Throws: ``StoreFailure`` of the kind `.readOnly`, or `.incompatibleModel` if another program migrated the
    ///   store.
    func write<R>(_ body: (any SQLConnection) throws -> R) throws -> R { try retrying { try writeOnce(body) } }

    /// Writes like ``write(_:)``, without retries.
    ///
    /// - Parameter committed: called before another client can write.
    func writeOnce<R>(_ body: (any SQLConnection) throws -> R, committed: (R) -> Void = { _ in }) throws -> R {
        try checkMayWrite()
        return try database.write(
            { connection in
                try checkModel(connection)
                return try body(connection)
            }, committed: committed)
    }

    /// Writes like ``writeOnce(_:committed:)``, concurrently with other writers.
    ///
    /// A derived attribute is computed from other rows, which may change concurrently. If there are any, this function
    /// excludes other writers.
    ///
    /// - Parameter atOnce: whether no results are needed before the commit.
    func writeBesideOthers<R>(
        atOnce: Bool = false, _ body: (any SQLConnection) throws -> R, committed: (R) -> Void = { _ in }
    ) throws -> R {
        if derivesFromOthers { return try writeOnce(body, committed: committed) }
        try checkMayWrite()
        return try database.writeBesideOthers(
            atOnce: atOnce,
            { connection in
                try checkModel(connection)
                return try body(connection)
            }, committed: committed)
    }

    /// Retries a few times after conflicts with concurrent writers, and after a lost connection if the transaction was
    /// certainly not committed.
    func retrying<R>(_ body: () throws -> R) throws -> R {
        var pause = 0.005
        for _ in 0..<12 {
            do { return try body() } catch let failure as SQLFailure
                where failure.kind == .serialization || failure.kind == .disconnected
            {
                notifyOfRollback()
                Thread.sleep(forTimeInterval: Double.random(in: 0...pause))
                pause = min(pause * 2, 0.25)
            }
        }
        return try body()
    }

    private func checkMayWrite() throws {
        guard !isReadOnly else {
            throw StoreFailure(
                .readOnly,
                isReadOnlyForHistory
                    ? "The store\(StoreFailure.quoted(path)) keeps a history of its changes that would not be written; it was opened for reading only."
                    : "The store\(StoreFailure.quoted(path)) was opened for reading only.")
        }
    }

    /// Checks before a write that the store still has the model with which it was opened: another program may have
    /// migrated it, and its tables have the same names.
    func checkModel(_ connection: any SQLConnection, isWriting: Bool = true) throws {
        if connection.pipelines, let known = knownSchemaVersion.withLock({ $0 }) {
            return try connection.expectSchemaVersion(known) { [unowned(unsafe) connection] in
                try self.lookAtModel(connection, isWriting: isWriting)
            }
        }
        try lookAtModel(connection, isWriting: isWriting)
    }

    /// After a server rejected a statement, checks whether the store was migrated, and if so throws that failure.
    func checkModelAfter(_ failure: SQLFailure) throws {
        let kinds: [SQLFailure.Kind] = [.other, .missingTable, .computation, .constraint, .reference, .check, .corrupt]
        guard kinds.contains(failure.kind) else { return }
        try checkModelNow()
    }

    /// Runs a check of the model that may still be queued: another program may have migrated the store.
    func checkModelNow() throws {
        guard database.dialect.isRemote else { return }
        try database.read { try $0.settle() }
    }

    private func lookAtModel(_ connection: any SQLConnection, isWriting: Bool) throws {
        let version = try connection.schemaVersion()
        if knownSchemaVersion.withLock({ $0 == version }) { return }
        // The hashes are in the metadata's property list, so read it only if the schema version changed.
        let hashes = openedMetadata.metadata.versionHashes
        let found = try MetadataRow.read(connection)
        guard !connection.dialect.isRemote || found.identifier == openedMetadata.identifier else {
            throw StoreFailure(
                .incompatibleModel,
                "The store\(StoreFailure.quoted(path)) was replaced by another since it was opened. Nothing was \(isWriting ? "written" : "read"); open the one that is there now."
            )
        }
        guard hashes == nil || found.metadata.versionHashes == hashes else {
            throw StoreFailure(
                .incompatibleModel,
                "The store\(StoreFailure.quoted(path)) was migrated to another version of the model since it was opened. Nothing was \(isWriting ? "written" : "read"); open it with the version that it is of now."
            )
        }
        if connection.dialect.isRemote {
            // The store may have been restored to an older state.
            reservedKeys.withLock { $0.removeAll() }
            rowCache.removeAll()
        }
        knownSchemaVersion.withLock { $0 = version }
    }

    /// Makes the database prevent reads from a store with another model too.
    func watchModel() {
        database.setSchemaCheck { [weak self] connection in try self?.checkModel(connection, isWriting: false) }
    }
}
