import CoreData
import Foundation
import Synchronization

/// The open store of accounts: reads and transactions as asynchronous functions.
///
/// Transactions run one after the other in this process. With transactions of other processes they conflict by the
/// versions of rows and by unique values; a transaction that conflicts is repeated from its first read.
final class AccountStore: Sendable {
    /// How often a transaction is repeated before it fails with ``AccountError/busy(retryAfter:)``.
    private static let attempts = 40

    private let coordinator: NSPersistentStoreCoordinator
    private let writer: NSManagedObjectContext
    /// Runs between the reads and the writes of each transaction. Tests let another process write there. Guards itself.
    let willSave = Mutex<(@Sendable (NSManagedObjectContext) -> Void)?>(nil)
    /// Guards the contexts that wait for a read, so that not every read makes one.
    private let readers = Mutex<[NSManagedObjectContext]>([])

    /// Opens the store, and creates it if it does not exist.
    init(at url: URL) throws(AccountError) {
        do {
            coordinator = try NSPersistentStoreCoordinator(validating: AccountsModel.make())
            let isNew = url.isFileURL && !FileManager.default.fileExists(atPath: url.path)
            try Self.add(url, to: coordinator)
            if isNew { try Self.protect(url) }
        } catch {
            throw AccountError.storeFailed(message: Self.text(error))
        }
        writer = Self.context(coordinator)
    }

    private static func add(_ url: URL, to coordinator: NSPersistentStoreCoordinator) throws {
        let description = NSPersistentStoreDescription(url: url)
        description.type = NSSQLiteStoreType
        description.shouldMigrateStoreAutomatically = true
        description.shouldInferMappingModelAutomatically = true
        // A store of something else is refused, not emptied.
        description.shouldMigrateStoreAllowingLoss = false
        if url.isFileURL {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            // An ended session must not come back after a loss of power, and deleted digests leave the file.
            description.setValue("FULL" as NSString, forPragmaNamed: "synchronous")
            description.setValue("ON" as NSString, forPragmaNamed: "secure_delete")
        }
        try coordinator.addPersistentStore(
            ofType: description.type, configurationName: nil, at: url, options: description.options)
    }

    /// Lets only the owner of the process read the files.
    private static func protect(_ url: URL) throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: url.path + suffix) {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path + suffix)
        }
    }

    /// Closes the store. No function may be called afterwards.
    func close() {
        writer.performAndWait { writer.reset() }
        readers.withLock { $0 = [] }
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }

    // MARK: Reading

    /// Runs the body with the rows as they are stored now.
    func read<T: Sendable>(
        at now: Date, _ body: @escaping @Sendable (AccountTransaction) throws -> T
    ) async throws(AccountError) -> T {
        let context = readers.withLock { $0.popLast() } ?? Self.context(coordinator)
        defer { readers.withLock { if $0.count < 8 { $0.append(context) } } }
        return try await repeating { () async throws -> T in
            try await context.perform {
                defer { context.reset() }
                return try body(AccountTransaction(context: context, now: now))
            }
        }
    }

    // MARK: Writing

    /// Runs the body, and saves its changes in one transaction.
    ///
    /// The body may run several times. If it throws, nothing is saved.
    func write<T: Sendable>(
        at now: Date, _ body: @escaping @Sendable (AccountTransaction) throws -> T
    ) async throws(AccountError) -> T {
        let (writer, willSave) = (writer, willSave.withLock { $0 })
        return try await repeating { () async throws -> T in
            try await writer.perform {
                defer { writer.reset() }
                let result = try body(AccountTransaction(context: writer, now: now))
                willSave?(writer)
                if writer.hasChanges { try writer.save() }
                return result
            }
        }
    }

    private func repeating<T>(_ body: () async throws -> T) async throws(AccountError) -> T {
        for attempt in 1...Self.attempts {
            do {
                return try await body()
            } catch let error as AccountError {
                throw error
            } catch {
                guard Self.isTransient(error) else { throw AccountError.storeFailed(message: Self.text(error)) }
                if attempt > 1 { try? await Task.sleep(for: .milliseconds(Int.random(in: 1...min(5 * attempt, 50)))) }
            }
        }
        throw AccountError.busy(retryAfter: 1)
    }

    /// Whether another client's change, and nothing else, made the error.
    private static func isTransient(_ error: any Error) -> Bool {
        [NSManagedObjectMergeError, NSManagedObjectConstraintMergeError, NSPersistentStoreTimeoutError]
            .contains((error as NSError).code)
    }

    /// The error's message. It names entities and properties; values are not part of messages.
    private static func text(_ error: any Error) -> String {
        let error = error as NSError
        return "\(error.localizedDescription) (\(error.domain) \(error.code))"
    }

    private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        // Another process may have changed any row since this one read it.
        context.stalenessInterval = 0
        return context
    }
}
