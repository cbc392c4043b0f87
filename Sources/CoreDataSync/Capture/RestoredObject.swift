import CoreDataSyncEngine
import Foundation

/// An object that the journal created again: it is the one that was deleted, so capture gives it the same ID.
struct RestoredObject: Codable {
    /// The name under which settings keep it, from before the save of the store until the next capture.
    private static let extra = "restored"

    private var identifier: UUID
    var root: String
    var key: Int64

    var id: GlobalID { GlobalID(identifier) }

    init(id: GlobalID, root: String, key: Int64) { (identifier, self.root, self.key) = (id.uuid, root, key) }

    static func all(in settings: SidecarSettings) -> [ObjectKey: GlobalID] {
        Dictionary(
            list(settings).map { (ObjectKey(root: $0.root, key: $0.key), $0.id) }, uniquingKeysWith: { $1 })
    }

    private static func list(_ settings: SidecarSettings) -> [RestoredObject] {
        settings.extras[extra].flatMap { try? JSONDecoder().decode([RestoredObject].self, from: $0) } ?? []
    }

    func write(to settings: inout SidecarSettings) {
        settings.extras[Self.extra] = try? JSONEncoder().encode(Self.list(settings) + [self])
    }

    static func removeAll(from settings: inout SidecarSettings) { settings.extras[extra] = nil }
}
