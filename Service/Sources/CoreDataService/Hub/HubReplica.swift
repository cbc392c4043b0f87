import CoreData
@_spi(Service) import CoreDataSync
import Foundation

/// The store of one account: the objects that the account may read, as its devices have them.
///
/// ```
/// devices ◀──files──▶ Sync ◀──▶ replica ◀──HubPass──▶ served store, as the account sees it
/// ```
/// The devices and the replica synchronise as the devices of one person do. The replica has no object that the account
/// may not read, so that no file for the devices can contain one.
final class HubReplica: @unchecked Sendable {
    // Safe because one turn at a time uses it: `SyncHub` lets the turns of an account follow one another.

    let account: UUID
    let sync: Sync
    let place: HubPlace
    private let container: NSPersistentContainer
    /// What both stores agreed on, by object.
    private(set) var links: [HubKey: HubLink] = [:]
    private var linkObjects: [HubKey: NSManagedObjectID] = [:]
    let context: NSManagedObjectContext
    /// Objects whose links have no ID among the devices yet.
    var newObjects: [HubKey: NSManagedObjectID] = [:]
    /// What the last turn found: nothing has to be done while it is the same.
    var lastTurn: Standpoint?
    var lastUse = ContinuousClock.now
    private var passes = 0
    /// What the last pass of this process found.
    private var passed: (found: Standpoint, history: NSPersistentHistoryToken?)?

    /// What decides whether there is something to do.
    struct Standpoint: Equatable {
        var revision: Int64
        var history: NSPersistentHistoryToken?
        var access: HubAccess
    }

    /// Opens the account's replica in a folder, and makes it if it does not exist.
    init(_ account: UUID, in folder: URL, model: NSManagedObjectModel, place: HubPlace) throws {
        (self.account, self.place) = (account, place)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let url = folder.appendingPathComponent("\(account.uuidString.lowercased()).sqlite")
        container = NSPersistentContainer(name: "Replica", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.shouldMigrateStoreAutomatically = true
        description.shouldInferMappingModelAutomatically = true
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        var options = SyncOptions()
        // The service has no closure of the app: the later value counts here.
        options.merge = { $0.later }
        sync = try Sync(container, to: place, device: "Service", options: options)
        context = container.newBackgroundContext()
        context.transactionAuthor = "hub"
        context.mergePolicy = NSErrorMergePolicy
        context.undoManager = nil
        try context.performAndWait { try readLinks() }
    }

    func close() {
        context.performAndWait { context.reset() }
        for store in container.persistentStoreCoordinator.persistentStores {
            try? container.persistentStoreCoordinator.remove(store)
        }
    }

    /// Whether the replica, the served store or the account's rights have changed since the last pass.
    func needsPass(_ found: Standpoint) -> Bool {
        guard let passed else { return true }
        return passed.found.history != found.history || passed.found.access != found.access
            || passed.history != history
    }

    func notePass(_ found: Standpoint) {
        passes += 1
        // What was exchanged is needed no more. A failure costs room only.
        if passes % 500 == 0 { _ = try? container.persistentStoreCoordinator.purgeHistory() }
        passed = (found, history)
    }

    private var history: NSPersistentHistoryToken? {
        container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
    }

    // MARK: Links

    private func readLinks() throws {
        let decoder = JSONDecoder()
        for row in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "HubLink")) {
            guard let root = row.value(forKey: "root") as? String,
                let id = row.value(forKey: "identifier") as? UUID, let base = row.value(forKey: "base") as? Data
            else { continue }
            let key = HubKey(root: root, id: id)
            links[key] = HubLink(
                base: try decoder.decode(HubRecord.self, from: base), global: row.value(forKey: "global") as? UUID)
            linkObjects[key] = row.objectID
        }
        context.reset()
    }

    /// Saves the context with changed links; a link that is `nil` is deleted.
    ///
    /// Call it on the context's queue.
    func save(_ changes: [HubKey: HubLink?]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        var inserted: [HubKey: NSManagedObject] = [:]
        for (key, link) in changes where link != links[key] {
            let row = try linkObjects[key].map { try context.existingObject(with: $0) }
            guard let link else {
                if let row { context.delete(row) }
                continue
            }
            let target = row ?? NSEntityDescription.insertNewObject(forEntityName: "HubLink", into: context)
            if row == nil {
                target.setValue(key.root, forKey: "root")
                target.setValue(key.id, forKey: "identifier")
                inserted[key] = target
            }
            target.setValue(link.global, forKey: "global")
            target.setValue(try encoder.encode(link.base), forKey: "base")
        }
        if context.hasChanges { try context.save() }
        for (key, link) in changes {
            links[key] = link
            if link == nil { linkObjects[key] = nil }
        }
        for (key, row) in inserted { linkObjects[key] = row.objectID }
    }

    /// Notes the IDs that new objects have among the devices: a deleted object has no row to ask for it.
    func noteIdentities() throws {
        let context = context
        try context.performAndWait {
            let objects = newObjects.filter { links[$0.key].map { $0.global == nil } ?? false }
            newObjects = [:]
            guard !objects.isEmpty else { return }
            let found = try sync.identities(of: Array(objects.values))
            var changes: [HubKey: HubLink?] = [:]
            for (key, id) in objects {
                guard var link = links[key], let global = found[id] else { continue }
                link.global = global
                changes[key] = .some(link)
            }
            if !changes.isEmpty { try save(changes) }
        }
    }

    // MARK: Turns

    /// Notes what is about to be written into the served store, in the context's queue.
    func begin(_ key: String, _ accepted: [HubAcceptance]) throws {
        let row = NSEntityDescription.insertNewObject(forEntityName: "HubTurn", into: context)
        row.setValue(key, forKey: "key")
        row.setValue(try JSONEncoder().encode(accepted), forKey: "content")
        try context.save()
    }

    /// The changes that a process was about to write when it died.
    func begunTurns() throws -> [(key: String, accepted: [HubAcceptance], row: NSManagedObject)] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "HubTurn")).compactMap { row in
            guard let key = row.value(forKey: "key") as? String, let content = row.value(forKey: "content") as? Data
            else { return nil }
            return (key, try JSONDecoder().decode([HubAcceptance].self, from: content), row)
        }
    }

    /// Ends turns: the changes were written, refused, or are planned anew.
    func end(_ key: String) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "HubTurn")
        request.predicate = NSPredicate(format: "key == %@", key)
        for row in try context.fetch(request) { context.delete(row) }
    }

    // MARK: Notices

    /// Adds notices to the next save.
    func add(_ notices: [Data]) {
        for notice in notices {
            let row = NSEntityDescription.insertNewObject(forEntityName: "HubNotice", into: context)
            row.setValue(Int64(Date().timeIntervalSinceReferenceDate * 1_000_000), forKey: "number")
            row.setValue(notice, forKey: "content")
        }
    }

    /// Hands the notices to `Sync`, which tells the devices.
    ///
    /// - Returns: whether there were any.
    func announceNotices() throws -> Bool {
        let context = context
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "HubNotice")
            request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
            let rows = try context.fetch(request)
            if rows.isEmpty { return false }
            try sync.announce(rows.compactMap { $0.value(forKey: "content") as? Data })
            // A process that dies here announces them again; devices note each once.
            for row in rows { context.delete(row) }
            try context.save()
            return true
        }
    }

    // MARK: State

    /// When the last pass began.
    var lastPass: Date? {
        let rows = try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "HubState"))
        return rows?.first?.value(forKey: "lastPass") as? Date
    }

    /// Sets the time of the last pass in the next save.
    func setLastPass(_ date: Date) throws {
        let row =
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "HubState")).first
            ?? NSEntityDescription.insertNewObject(forEntityName: "HubState", into: context)
        row.setValue(date, forKey: "lastPass")
    }
}

/// What a replica and the served store agreed on about one object.
struct HubLink: Hashable, Sendable {
    var base: HubRecord
    /// The object's ID among the account's devices.
    var global: UUID?
}

/// A change of a device that was dealt with: it is no change against the base any more.
struct HubAcceptance: Codable, Sendable {
    var key: HubKey
    var entity: String
    /// The values of the replica; `nil` for an object that a device deleted.
    var values: [String: HubValue]?
}

/// An account as rules see it.
struct HubAccess: Hashable, Sendable {
    var account: UUID
    var isAdministrator: Bool
    var groups: [UUID: String]
}
