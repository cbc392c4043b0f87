import CoreDataModel
import CoreDataStore
import Foundation

/// What could be saved of a damaged store, and what could not.
///
///     let recovery = try NSPersistentStoreCoordinator.recoverPersistentStore(at: damaged, to: url)
///     for entity in recovery.entities { print(entity) }
///     // Book: 1,203 objects; objects 400 to 431 could not be read
///
/// Apple's framework has nothing like it.
public struct PersistentStoreRecovery: Codable, Hashable, Sendable {
    /// What could be saved of one entity.
    public struct Entity: Codable, Hashable, Sendable, CustomStringConvertible {
        /// The entity's name.
        public var name: String
        /// How many objects are in the new store.
        public var objectCount: Int
        /// The primary keys of objects that could not be read, if there were any, as first and last of each range.
        public var unreadableKeys: [[Int64]]
        /// Values, such as external data, that could not be read of objects that could.
        public var lostValueCount: Int
        /// The number of to-one relationships to lost objects.
        public var lostReferenceCount: Int
        /// The number of objects whose members of a many-to-many relationship could not be read.
        public var lostMemberCount: Int
        /// Objects that had values of others that must be unique.
        public var refusedObjectCount: Int

        /// Whether the first page of its table is damaged, so that none of its objects can be found.
        public var isUnreachable: Bool

        /// Whether nothing is missing.
        public var isComplete: Bool {
            !isUnreachable && unreadableKeys.isEmpty
                && lostValueCount + lostReferenceCount + lostMemberCount + refusedObjectCount == 0
        }

        public var description: String {
            func count(_ number: Int, _ one: String, _ many: String) -> String? {
                number == 0 ? nil : "\(number) \(number == 1 ? one : many)"
            }
            let keys = unreadableKeys.map { $0[0] == $0[1] ? "\($0[0])" : "\($0[0]) to \($0[1])" }
            let parts = [
                isUnreachable
                    ? "the first page of its table is damaged, so that no object of it can be found" : nil,
                keys.isEmpty ? nil : "objects \(keys.joined(separator: ", ")) could not be read",
                count(lostValueCount, "value could not be read", "values could not be read"),
                count(lostReferenceCount, "to-one led to a lost object", "to-ones led to lost objects"),
                count(lostMemberCount, "object has lost its members", "objects have lost their members"),
                count(refusedObjectCount, "object had another's unique values", "objects had others' unique values"),
            ].compactMap { $0 }
            return (["\(name): \(objectCount) \(objectCount == 1 ? "object" : "objects")"] + parts)
                .joined(separator: "; ")
        }
    }

    /// Every entity of the store.
    public var entities: [Entity]
    /// Facts that the store did not contain, and the assumptions used instead.
    public var notes: [String]
    /// Whether nothing is missing.
    public var isComplete: Bool { notes.isEmpty && entities.allSatisfy(\.isComplete) }
}

extension NSPersistentStoreCoordinator {
    /// Makes a new store, of the same type, from the readable data of a damaged one, which is not changed.
    ///
    /// Of an XML store every object before the damage is read, and those after it if only values are damaged; of a
    /// binary store the objects before the damage.
    ///
    /// Objects keep their keys; the new store has its own UUID, and no history.
    ///
    /// - Parameters:
    ///   - url: the damaged store.
    ///   - destination: the place of the new store; there must be no file yet.
    ///   - model: the store's model; `nil` for the copy that the store keeps, as only SQLite stores do.
    ///   - configuration: the part of the model that the store has; `nil` for all of it.
    /// - Throws: an error if nothing can be read: the file is no database, or its tables cannot be found.
    public class func recoverPersistentStore(
        at url: URL, to destination: URL, model: NSManagedObjectModel? = nil, configuration: String? = nil
    ) throws -> PersistentStoreRecovery {
        try CoreDataErrors.checkIsStoreFile(destination, .fileWriteUnsupportedScheme)
        guard FileSize.of(destination.path) == nil else {
            throw CoreDataErrors.make(
                CocoaError.Code.fileWriteFileExists.rawValue, "There is a file at '\(destination.path)' already.",
                [NSFilePathErrorKey: destination.path])
        }
        return try StoreFolder.making(for: destination) { try recover(url, destination, model, configuration) }
    }

    private class func recover(
        _ url: URL, _ destination: URL, _ model: NSManagedObjectModel?, _ configuration: String?
    ) throws -> PersistentStoreRecovery {
        if let format = AtomicFileStore.format(ofType: StoreTools.type(ofStoreAt: url)) {
            return try recoverFile(format, url, destination, model, configuration)
        }
        let known =
            try model
            ?? NSManagedObjectModel(
                document: SQLStore.reading(url) { options in
                    var options = options
                    options.pragmas = StoreRecovery.readingPragmas
                    return try StoreEngine.cachedModelDocument(
                        options: options, makeDatabase: { try SQLStore.makeDatabase($0) })
                })
        let compiled = try known.freeze()
        let document = Transfer(known)
        let outcome = try SQLStore.reading(url) { options in
            var new = StoreOptions(path: destination.path)
            new.document = { document.value.makeDocument() }
            return try StoreRecovery.recover(
                model: compiled, configuration: configuration, from: StoreOptions(options), to: new,
                driver: SQLStore.files.driver,
                makeDatabase: { try SQLStore.makeDatabase($0) })
        }
        return PersistentStoreRecovery(
            entities: outcome.findings.map(PersistentStoreRecovery.Entity.init), notes: outcome.notes)
    }
}

extension NSPersistentStoreCoordinator {
    private class func recoverFile(
        _ format: any AtomicFormat.Type, _ url: URL, _ destination: URL, _ model: NSManagedObjectModel?,
        _ configuration: String?
    ) throws -> PersistentStoreRecovery {
        guard let model else {
            throw CoreDataErrors.make(
                NSMigrationMissingSourceModelError,
                "The store '\(url.path)' of type \(format.storeType) keeps no copy of its model: give the model.",
                [NSFilePathErrorKey: url.path])
        }
        do {
            let outcome = try AtomicRecovery.recover(
                format, model: model.freeze(), configuration: configuration, from: url.path, to: destination.path)
            return PersistentStoreRecovery(
                entities: outcome.findings.map(PersistentStoreRecovery.Entity.init), notes: outcome.notes)
        } catch let failure as StoreFailure {
            throw CoreDataErrors.store(failure, url: url)
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }
}

extension PersistentStoreRecovery.Entity {
    fileprivate init(_ finding: StoreRecovery.Finding) {
        name = finding.entity
        objectCount = finding.rows
        unreadableKeys = finding.unreadableKeys.map { [$0.lowerBound, $0.upperBound] }
        lostValueCount = finding.lostValues
        lostReferenceCount = finding.lostReferences
        lostMemberCount = finding.lostMembers
        refusedObjectCount = finding.refusedRows
        isUnreachable = finding.isUnreachable
    }
}
