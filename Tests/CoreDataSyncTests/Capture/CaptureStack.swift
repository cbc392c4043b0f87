import CoreData
import Foundation
import Synchronization

@testable import CoreDataSync
@testable import CoreDataSyncEngine

/// A store with its sidecar, and a clock that goes on by a second for each capture.
final class CaptureStack {
    typealias M = ModelMaking

    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let rules: SyncRules
    let sidecar: Sidecar
    private(set) var capture: Capture
    private let time = Clock()
    private var numbers = 0

    final class Clock: Sendable {
        private let milliseconds = Atomic<UInt64>(800_000_000_000)
        func next() -> UInt64 { milliseconds.add(1_000, ordering: .relaxed).newValue }
    }

    init(
        _ model: NSManagedObjectModel = CaptureStack.shop(), type: String = NSInMemoryStoreType, url: URL? = nil,
        history: Bool = true, attach: Bool = true
    ) throws {
        self.model = model
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url,
            options: history ? [NSPersistentHistoryTrackingKey: true as NSNumber] : nil)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        rules = try SyncRules(model: model)
        sidecar = try url.map { try Sidecar.open(beside: $0) } ?? Sidecar.inMemory()
        let time = time
        capture = try Capture(coordinator: coordinator, sidecar: sidecar, rules: rules) { time.next() }
        if attach { _ = try capture.compareAll(seed: .even) }
    }

    /// Changes objects and saves them.
    @discardableResult
    func save<R>(author: String? = nil, _ body: (NSManagedObjectContext) throws -> R) throws -> R {
        try context.performAndWait {
            context.transactionAuthor = author
            let result = try body(context)
            try context.save()
            return result
        }
    }

    func new(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// Captures, and returns what was put into segments, by ID.
    @discardableResult
    func run(_ intended: IntendedChanges? = nil, limit: Int = 5_000) throws -> Captured {
        try captured(try capture.run(intended: intended, limit: limit))
    }

    func compare(_ seed: SeedAge? = nil) throws -> Captured { try captured(try capture.compareAll(seed: seed)) }

    private func captured(_ result: CaptureResult) throws -> Captured {
        let segments = try result.segments.map { number in
            guard let file = try sidecar.outgoing(.segment(number)) else { throw CocoaError(.fileNoSuchFile) }
            return try Segment(bytes: file.bytes)
        }
        return Captured(result: result, states: segments.flatMap(\.states), segments: segments)
    }

    struct Captured {
        let result: CaptureResult
        let states: [ObjectState]
        let segments: [Segment]

        subscript(id: GlobalID?) -> ObjectState? { states.first { $0.id == id } }
    }

    func key(_ object: NSManagedObject) -> ObjectKey {
        context.performAndWait {
            ObjectKey(root: rules[object.entity.name ?? ""]?.root ?? "", key: object.objectID.key)
        }
    }

    func entry(_ object: NSManagedObject) throws -> SidecarEntry? {
        let key = key(object)
        return try sidecar.entries(root: key.root, keys: [key.key]).first
    }

    func id(_ object: NSManagedObject) throws -> GlobalID? { try entry(object)?.id }

    // MARK: Model

    static func shop() -> NSManagedObjectModel {
        let item = M.entity(
            "Item", M.attribute("name"), M.attribute("note"),
            M.attribute("count", .integer32AttributeType, info: ["sync.merge": "sum"]),
            M.attribute("best", .doubleAttributeType, info: ["sync.merge": "max"]),
            M.attribute("first", .dateAttributeType, info: ["sync.merge": "min"]),
            M.attribute("photo", .binaryDataAttributeType), M.attribute("colours", .transformableAttributeType),
            M.composite("address", M.attribute("city"), M.attribute("zip")), M.toOne("unit"), M.toOne("label"),
            M.toOne("list"), M.toMany("tags"), M.toMany("keywords"))
        let drink = M.entity("Drink", parent: item, M.attribute("strength", .doubleAttributeType))
        let unit = M.entity(
            "Unit", info: ["sync.key": "name"], M.attribute("name"), M.attribute("size", .doubleAttributeType),
            M.toMany("items"))
        let tag = M.entity("Tag", M.attribute("name"), M.toMany("items"))
        let label = M.entity("Label", M.attribute("text"), M.toOne("item"))
        let list = M.entity("List", M.attribute("name"), M.toMany("items", ordered: true))
        let song = M.entity("Song", M.attribute("name"), M.toMany("playlists", ordered: true))
        let playlist = M.entity("Playlist", M.attribute("name"), M.toMany("songs", ordered: true))
        let account = M.entity(
            "Account", info: ["sync.id": "uid"], M.attribute("uid", .UUIDAttributeType), M.attribute("name"))
        M.connect(item, "unit", unit, "items")
        M.connect(item, "label", label, "item")
        M.connect(item, "list", list, "items")
        M.connect(item, "tags", tag, "items")
        M.connect(item, "keywords", tag)
        M.connect(playlist, "songs", song, "playlists")
        return M.model(item, drink, unit, tag, label, list, song, playlist, account)
    }
}

extension ObjectState {
    /// The values of the state's properties, without their stamps.
    var shown: [String: SyncValue] {
        properties.reduce(into: [:]) { $0[$1.key] = $1.value.value }
    }

    func edge(_ relationship: String, _ destination: GlobalID?) -> EdgeState? {
        destination.flatMap { edges[Edge(relationship, $0)] }
    }
}
