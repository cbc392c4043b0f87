import CoreData
import Foundation

/// Backups of a stack's store: archives of the store, its external data and its metadata, made while the app runs.
///
///     let backup = Backup(stack, to: FolderDestination(folder))
///     let made = try await backup.create()
///     …
///     try await backup.restore(made.name)         // everything as it was then, or nothing has changed
///
/// An archive is a plain zip: `manifest.json`, and the store's files as they lay on the disk.
public struct Backup: Sendable {
    /// How many bytes a backup may hold that is restored; more is taken for an attack.
    public var maximumBytes = 64 << 30

    let stack: CoreDataStack
    let destination: any BackupDestination

    /// Backs a stack's store up to a destination.
    public init(_ stack: CoreDataStack, to destination: any BackupDestination) {
        self.stack = stack
        self.destination = destination
    }

    // MARK: Making

    /// Makes a backup of the store as it is at one moment; others may save meanwhile.
    ///
    /// What contexts have not saved is not in it.
    ///
    /// - Parameters:
    ///   - name: the archive's name, which ends with `.zip`; `nil` for the store's name and the time.
    ///   - progress: told of the bytes that are in the archive.
    /// - Throws: a ``ToolkitError`` for a store in memory, for a name that no file can have, for more than 4 GB; what the
    ///   destination throws. Nothing is left then.
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

    /// The backups that are there, newest first.
    public func list(isolation: isolated (any Actor)? = #isolation) async throws -> [BackupInfo] {
        try await destination.list().sorted { ($0.date, $0.name) > ($1.date, $1.name) }
    }

    /// Takes a backup away.
    public func delete(isolation: isolated (any Actor)? = #isolation, _ name: String) async throws {
        try Self.check(name)
        try await destination.delete(name)
    }

    // MARK: Checking

    /// Takes a backup apart, in a folder that is removed afterwards, and checks everything: names, sizes and checksums of the
    /// archive, then the store's tables and rows.
    ///
    /// - Returns: what was found in the store; it is sound where none of it is an error.
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

    /// Puts the backup in the place of the store, and opens it: contexts are empty afterwards, and read it.
    ///
    /// ```
    ///  fetched ──▶ taken apart beside the store, checked, migrated where it is of an older model
    ///          ──▶ store taken off ──▶ replaced in one transaction ──▶ opened; if it cannot be, replaced back
    /// ```
    /// Whatever fails, the store is as it was. A program that dies in between finds the old store or the new one when it starts
    /// again, whole, and what was left lying beside it is removed.
    ///
    /// Whoever holds objects of the store can no longer read them. What import contexts have not saved cannot be saved any more.
    ///
    /// - Throws: a ``ToolkitError`` for an archive that is damaged, refused, or not of this model, and where the view context or
    ///   its parent has changes that are not saved, which would be lost: save or roll back first. Where another process has
    ///   the store open, 134090.
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
        // Somebody may have gone on meanwhile.
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

    /// After the new store could not be opened.
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
