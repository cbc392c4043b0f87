import CoreData
import Foundation
import Synchronization
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

/// A device with a store, which a test starts, edits, kills and starts again.
final class SyncingDevice: @unchecked Sendable {
    // Safe because a test uses it from one task.

    typealias M = ModelMaking

    let name: String
    private(set) var model: NSManagedObjectModel
    let place: any SyncPlace
    let url: URL?
    let clock: TestClock
    var options = SyncOptions()
    private(set) var container: NSPersistentContainer
    private(set) var sync: Sync
    private(set) var context: NSManagedObjectContext
    /// Whether the store is opened for reading only by the next start.
    var isReadOnly = false
    private let history: Bool
    private let hook = Hook()
    private let type: String

    init(
        _ name: String, _ place: any SyncPlace, model: NSManagedObjectModel = CaptureStack.shop(), url: URL? = nil,
        type: String? = nil, clock: TestClock = TestClock(), history: Bool = true,
        _ change: (inout SyncOptions) -> Void = { _ in }
    ) throws {
        (self.name, self.place, self.model, self.url) = (name, place, model, url)
        (self.clock, self.history) = (clock, history)
        self.type = type ?? (url == nil ? NSInMemoryStoreType : NSSQLiteStoreType)
        options.now = { SyncTime.date(clock.now) }
        options.checkpoint = { [hook] name in try hook.body.withLock { $0 }(name) }
        change(&options)
        container = try Self.container(model, url, self.type, history)
        context = container.newBackgroundContext()
        sync = try Sync(container, to: place, device: name, options: options)
    }

    private static func container(
        _ model: NSManagedObjectModel, _ url: URL?, _ type: String, _ history: Bool, isReadOnly: Bool = false
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Shop", managedObjectModel: model)
        let description = NSPersistentStoreDescription()
        description.type = type
        description.url = url
        description.isReadOnly = isReadOnly
        if history { description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey) }
        container.persistentStoreDescriptions = [description]
        let failure = Mutex<(any Error)?>(nil)
        container.loadPersistentStores { _, error in failure.withLock { $0 = error } }
        if let error = failure.withLock({ $0 }) { throw error }
        return container
    }

    /// Begins anew with the files that are there, as after the process died. Needs a store in a file.
    func restart() throws {
        try close()
        try open()
    }

    /// Closes the files, as when the app ends.
    func close() throws {
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
        container = NSPersistentContainer(name: "Shop", managedObjectModel: model)
        context = container.newBackgroundContext()
        sync = try Self.nothing(model)
    }

    /// Opens the files that are there, as an app with that version of its model does.
    func open(model newModel: NSManagedObjectModel? = nil) throws {
        model = newModel ?? model
        container = try Self.container(model, url, self.type, history, isReadOnly: isReadOnly)
        context = container.newBackgroundContext()
        sync = try Sync(container, to: place, device: name, options: options)
    }

    /// Holds no file open.
    private static func nothing(_ model: NSManagedObjectModel) throws -> Sync {
        try Sync(container(model, nil, NSInMemoryStoreType, false), to: MemoryPlace(), device: "")
    }

    /// Calls a closure before each step of later exchanges that could be the last one of a process.
    func checkpoint(_ body: @escaping @Sendable (String) throws -> Void) { hook.body.withLock { $0 = body } }

    private final class Hook: Sendable {
        let body = Mutex<@Sendable (String) throws -> Void>({ _ in })
    }

    @discardableResult
    func exchange() async throws -> SyncSummary {
        clock.advance(seconds: 1)
        return try await sync.syncNow()
    }

    // MARK: Editing

    @discardableResult
    func save<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
        clock.advance(seconds: 1)
        return try context.performAndWait {
            context.refreshAllObjects()
            let result = try body(context)
            try context.save()
            return result
        }
    }

    @discardableResult
    func new(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// Deletes an object, in the closure of a save.
    func delete(_ entity: String, _ name: String) throws {
        if let object = try object(entity, name) { context.delete(object) }
    }

    func object(_ entity: String, _ name: String, by attribute: String = "name") throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "%K == %@", attribute, name)
        return try context.fetch(request).first
    }

    /// A value of an object as text; `nil` without the object or the value.
    func text(_ entity: String, _ name: String, _ key: String) throws -> String? {
        try context.performAndWait {
            context.refreshAllObjects()
            if key == "entity.name" { return try object(entity, name)?.entity.name }
            return try object(entity, name)?.value(forKeyPath: key).map { "\($0)" }
        }
    }

    /// The names of the members of a to-many relationship, in its order.
    func names(_ entity: String, _ name: String, _ relationship: String) throws -> [String] {
        try context.performAndWait {
            context.refreshAllObjects()
            let members = try object(entity, name)?.value(forKey: relationship)
            let list = (members as? NSOrderedSet)?.array ?? (members as? NSSet)?.allObjects ?? []
            return list.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
        }
    }

    // MARK: Comparing

    /// Everything that the store has, by IDs that are the same on all devices.
    func contents() throws -> [String: String] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            var result: [String: String] = [:]
            for entity in sync.store.rules.exchanged {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
                request.includesSubentities = false
                for object in try context.fetch(request) {
                    result[try id(object)] = try text(object, entity)
                }
            }
            return result
        }
    }

    private func id(_ object: NSManagedObject) throws -> String {
        let rules = sync.store.rules
        let key = object.objectID.key
        guard let root = rules[object.entity.name ?? ""]?.root,
            let entry = try sync.store.sidecar.entries(root: root, keys: [key]).first
        else { return "unknown \(object.entity.name ?? "") \(key)" }
        // An object with several IDs is named by the smallest one.
        return ([entry.id] + entry.state.aliases).min()?.description ?? ""
    }

    private func text(_ object: NSManagedObject, _ entity: SyncEntity) throws -> String {
        var parts: [String] = [entity.name]
        for property in entity.properties.sorted(by: { $0.name < $1.name }) {
            switch property.kind {
            case .attribute:
                var value: Any? = object
                for key in property.name.split(separator: ".") {
                    value =
                        (value as? NSManagedObject)?.value(forKey: String(key))
                        ?? (value as? [String: Any])?[String(key)]
                }
                parts.append("\(property.name)=\(value.map { "\($0)" } ?? "nil")")
            case .toOne:
                let target = object.value(forKey: property.name) as? NSManagedObject
                parts.append("\(property.name)=\(try target.map(id) ?? "nil")")
            case .pairs, .notExchanged(.otherSide):
                switch object.value(forKey: property.name) {
                case let list as NSOrderedSet:
                    let ids = try list.compactMap { try ($0 as? NSManagedObject).map(id) }
                    parts.append("\(property.name)=\(ids.joined(separator: ","))")
                case let set as NSSet:
                    let ids = try set.compactMap { try ($0 as? NSManagedObject).map(id) }
                    parts.append("\(property.name)={\(ids.sorted().joined(separator: ","))}")
                case let one as NSManagedObject: parts.append("\(property.name)=\(try id(one))")
                default: break
                }
            case .ordering, .notExchanged: break
            }
        }
        return parts.joined(separator: " ")
    }
}

extension SyncingDevice {
    /// The name of the device's folder in the place.
    var folder: String { sync.store.sidecar.settings.device.description }

    /// Changes values of an object, `NSNull` for nil, and saves.
    func set(_ entity: String, _ name: String, _ values: [String: Any]) throws {
        try save { _ in
            let object = try #require(try object(entity, name))
            for (key, value) in values { object.setValue(value is NSNull ? nil : value, forKey: key) }
        }
    }

    /// Forgets the changes of a save that failed.
    func rollBack() { context.performAndWait { context.rollback() } }

    /// The values of the journal, as `property: losing (reason)`.
    func journal() async throws -> [String] {
        try await sync.conflicts().map { "\($0.property ?? ""): \($0.losing) (\($0.reason.rawValue))" }.sorted()
    }
}

/// Exchanges until all devices have everything.
func settle(_ devices: SyncingDevice..., rounds: Int = 3) async throws {
    for _ in 0..<rounds { for device in devices { try await device.exchange() } }
}
