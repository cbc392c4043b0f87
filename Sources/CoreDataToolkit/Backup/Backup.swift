import CoreData
import Foundation

/// Makes and restores backups of a stack's store: archives of the store, its external data and its metadata. The app
/// can keep running.
///
///     let backup = Backup(stack, to: FolderDestination(folder))
///     let made = try await backup.create()
///     …
///     try await backup.restore(made.name)         // restores everything, or changes nothing
///
/// An archive is an ordinary zip file: `manifest.json`, and the store's files as on disk.
public struct Backup: Sendable {
    /// The maximum size of a backup's content in bytes; restoring refuses a larger one as an attack.
    public var maximumBytes = 64 << 30

    let stack: CoreDataStack
    let destination: any BackupDestination

    /// Makes backups of a stack's store at a destination.
    public init(_ stack: CoreDataStack, to destination: any BackupDestination) {
        self.stack = stack
        self.destination = destination
    }

    // MARK: Creating

    /// Creates a backup of the store at one moment; other contexts and processes may save meanwhile.
    ///
    /// The backup does not contain unsaved changes of contexts.
    ///
    /// - Parameters:
    ///   - name: the archive's name, which must end with `.zip`; by default the store's name and the time.
    ///   - progress: called with the number of bytes in the archive so far.
    /// - Throws: a ``ToolkitError`` for a store in memory, for an invalid file name, and for more than 4 GB; the
    ///   destination's errors. After an error, no partial backup remains.
    @discardableResult
    public func create(
        isolation: isolated (any Actor)? = #isolation, name: String? = nil, progress: ProgressHandler? = nil
    ) async throws -> BackupInfo {
        let date = Date()
        let name = name ?? defaultName(date)
        try Self.check(name)
        let work = try WorkFolder.temporary()
        defer { work.remove() }
        let stack = stack
        let size = try await BackgroundWork.run { cancellation in
            try BackupArchive.write(stack, to: work, date: date) { fraction, count in
                try cancellation.check()
                progress?(ToolkitProgress(fractionCompleted: fraction, count: count))
            }
        }
        try await destination.store(work.archive, as: name)
        return BackupInfo(name: name, size: size, date: date)
    }

    /// Returns the existing backups, newest first.
    public func list(isolation: isolated (any Actor)? = #isolation) async throws -> [BackupInfo] {
        try await destination.list().sorted { ($0.date, $0.name) > ($1.date, $1.name) }
    }

    /// Deletes a backup.
    public func delete(isolation: isolated (any Actor)? = #isolation, _ name: String) async throws {
        try Self.check(name)
        try await destination.delete(name)
    }

    // MARK: Verifying

    /// Extracts a backup to a temporary folder and checks everything: names, sizes and checksums of the archive, then
    /// the store's tables and rows.
    ///
    /// - Returns: the findings in the store; it is sound if none of them is an error.
    /// - Throws: a ``ToolkitError`` for an archive that is damaged or refused.
    public func verify(
        isolation: isolated (any Actor)? = #isolation, _ name: String
    ) async throws -> [PersistentStoreVerification.Finding] {
        try Self.check(name)
        let work = try WorkFolder.temporary()
        defer { work.remove() }
        try await destination.fetch(name, to: work.archive)
        let limit = maximumBytes
        return try await BackgroundWork.run { cancellation in
            let archive = try BackupArchive(work, limit: limit)
            try archive.extract { _, _ in try cancellation.check() }
            return try archive.verification()
        }
    }

    // MARK: Restoring

    /// Replaces the store by the backup and opens it. Afterwards contexts are empty and read the restored store.
    ///
    /// ```
    ///  fetch ──▶ extract next to the store, check, migrate if it has an older model
    ///          ──▶ remove the store ──▶ replace it in one transaction ──▶ open; on failure, replace back
    /// ```
    /// If a step fails, the store is unchanged. After a crash, the next launch finds the complete old store or the
    /// complete new one, and removes temporary files.
    ///
    /// Existing objects of the store can no longer be read. Unsaved changes of import contexts can no longer be saved.
    ///
    /// - Throws: a ``ToolkitError`` for an archive that is damaged, refused, or of another model. Also if the view
    ///   context or its parent has unsaved changes, which would be lost: save or roll back first. If another process
    ///   has the store open, error 134090.
    public func restore(
        isolation: isolated (any Actor)? = #isolation, _ name: String, progress: ProgressHandler? = nil
    ) async throws {
        try Self.check(name)
        guard let storeURL = stack.storeURL, !stack.options.isReadOnly else {
            throw ToolkitError("Only a store in a file that may be written to can be replaced by a backup.")
        }
        try await refuseUnsaved()
        let work = try WorkFolder.beside(storeURL)
        defer { work.remove() }
        try await destination.fetch(name, to: work.archive)
        let (stack, limit) = (stack, maximumBytes)
        let staged = try await BackgroundWork.run { cancellation in
            let archive = try BackupArchive(work, limit: limit)
            try archive.extract { fraction, count in
                try cancellation.check()
                progress?(ToolkitProgress(fractionCompleted: fraction, count: count))
            }
            try archive.makeReady(for: stack)
            try cancellation.check()
            return archive.storeURL
        }
        // Another task may have made changes meanwhile.
        try await refuseUnsaved()
        let type = stack.options.storeType
        do {
            try await stack.whileStoresAreRemoved {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
                if FileManager.default.fileExists(atPath: storeURL.path) {
                    try coordinator.replacePersistentStore(
                        at: work.before, withPersistentStoreFrom: storeURL, type: type)
                }
                try coordinator.replacePersistentStore(at: storeURL, withPersistentStoreFrom: staged, type: type)
            }
        } catch {
            try await rollBack(to: work.before, at: storeURL)
            throw error
        }
    }

    private func refuseUnsaved(isolation: isolated (any Actor)? = #isolation) async throws {
        for context in [stack.viewContext, stack.parentContext] {
            let counts = await context.perform {
                [context.insertedObjects.count, context.updatedObjects.count, context.deletedObjects.count]
            }
            guard counts != [0, 0, 0] else { continue }
            throw ToolkitError(
                """
                The \(context.name ?? "context") has changes that are not saved, which restoring would lose: \(counts[0]) \
                inserted, \(counts[1]) updated and \(counts[2]) deleted objects. Save them or roll back, then restore.
                """)
        }
    }

    /// Restores the old store if the new one could not be opened.
    private func rollBack(
        isolation: isolated (any Actor)? = #isolation, to before: URL, at storeURL: URL
    ) async throws {
        guard stack.store == nil else { return }
        let stack = stack
        if FileManager.default.fileExists(atPath: before.path) {
            try await BackgroundWork.run { _ in
                try NSPersistentStoreCoordinator(managedObjectModel: stack.model).replacePersistentStore(
                    at: storeURL, withPersistentStoreFrom: before, type: stack.options.storeType)
            }
        }
        try await stack.reload()
    }

    // MARK: Names

    private func defaultName(_ date: Date) -> String {
        let store = stack.storeURL?.deletingPathExtension().lastPathComponent ?? "Store"
        let plain = store.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        let time = DateText.text(date).replacing(":", with: "-")
        return "\(plain.isEmpty ? "Store" : plain)-\(time).zip"
    }

    private static func check(_ name: String) throws {
        let isPlain = name.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "\\")
        }
        guard isPlain, !name.hasPrefix("."), name.hasSuffix(".zip"), name.utf8.count <= 200 else {
            throw ToolkitError(
                "A backup cannot have the name '\(name.prefix(100))': take letters, digits, '-', '_' and '.', and end with .zip."
            )
        }
    }
}
