import CoreDataSQL
import Foundation

extension StoreEngine {
    /// Writes in one transaction, which is taken back where `body` throws: the only way in which an open store is written.
    ///
    /// `body` is called again where a server says that others were in the way, or was lost before it had committed.
    ///
    /// - Throws: ``StoreFailure`` of the kind `.readOnly`, or `.incompatibleModel` where somebody else migrated the store.
    func write<R>(_ body: (any SQLConnection) throws -> R) throws -> R { try retrying { try writeOnce(body) } }

    /// As ``write(_:)``, for what cannot be done again.
    ///
    /// - Parameter committed: Called before anybody else can write.
    func writeOnce<R>(_ body: (any SQLConnection) throws -> R, committed: (R) -> Void = { _ in }) throws -> R {
        try checkMayWrite()
        return try database.write(
            { connection in
                try checkModel(connection)
                return try body(connection)
            }, committed: committed)
    }

    /// As ``writeOnce(_:committed:)``, while others may write, too.
    ///
    /// A derived attribute is reckoned from rows of others, which may change at the same time: then nobody else writes.
    ///
    /// - Parameter atOnce: whether nobody needs to know what the statements gave before they are committed.
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

    /// Tries again, a few times, what failed because of others who write at the same time, and what certainly was not committed
    /// because the connection was lost.
    func retrying<R>(_ body: () throws -> R) throws -> R {
        var pause = 0.005
        for _ in 0..<12 {
            do { return try body() } catch let failure as SQLFailure
                where failure.kind == .serialization || failure.kind == .disconnected
            {
                tellOfRollback()
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

    /// Sees that the store is still of the model with which it was opened, before anything is written: somebody else may have
    /// migrated it meanwhile, and its tables have the same names.
    func checkModel(_ connection: any SQLConnection, isWriting: Bool = true) throws {
        if connection.pipelines, let known = knownSchemaVersion.withLock({ $0 }) {
            return try connection.expectSchemaVersion(known) { [unowned(unsafe) connection] in
                try self.lookAtModel(connection, isWriting: isWriting)
            }
        }
        try lookAtModel(connection, isWriting: isWriting)
    }

    /// Where a server cannot make sense of a statement somebody may have migrated the store, which is then what there is to tell.
    func checkModelAfter(_ failure: SQLFailure) throws {
        let kinds: [SQLFailure.Kind] = [.other, .missingTable, .computation, .constraint, .reference, .check, .corrupt]
        guard kinds.contains(failure.kind) else { return }
        try checkModelNow()
    }

    /// Where a check of the model may still be queued, runs it: another program may have migrated the store.
    func checkModelNow() throws {
        guard database.dialect.isRemote else { return }
        try database.read { try $0.settle() }
    }

    private func lookAtModel(_ connection: any SQLConnection, isWriting: Bool) throws {
        let version = try connection.schemaVersion()
        if knownSchemaVersion.withLock({ $0 == version }) { return }
        // Read from the metadata's property list, so only where the schema is not the one that was looked at last.
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
            // It may be an older state of the store that somebody has put back.
            reservedKeys.withLock { $0.removeAll() }
            rowCache.removeAll()
        }
        knownSchemaVersion.withLock { $0 = version }
    }

    /// Has the database see to it that nothing is read from a store of another model either.
    func watchModel() {
        database.setSchemaCheck { [weak self] connection in try self?.checkModel(connection, isWriting: false) }
    }
}
