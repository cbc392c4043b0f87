import CoreDataSync
import CoreDataSyncEngine
import Foundation

/// A value that was given up, for people and programs.
struct ConflictListing: Encodable, Sendable {
    /// When the device found the conflict.
    var date: String
    /// `edited`, `deleted`, `unique`.
    var reason: String
    var entity: String
    /// `Item/p12`; the ID that all devices know for an object that does not exist here.
    var object: String
    var property: String
    var losing: String
    /// `nil` for a deleted object.
    var winning: String?
    /// The device that wrote the losing value: its name, or its ID.
    var device: String

    /// The journal of a sidecar, newest first.
    static func list(_ sidecar: Sidecar, limit: Int) throws -> [Self] {
        let conflicts = try sidecar.conflicts(limit: limit)
        // Entries cannot be read after a process died that was writing many of them: the IDs tell less, but something.
        let entries = (try? sidecar.entries(ids: Array(Set(conflicts.map(\.object))))) ?? []
        let keys = Dictionary(entries.map { ($0.id, $0.key) }, uniquingKeysWith: { first, _ in first })
        let settings = sidecar.settings
        var names = Dictionary(
            try sidecar.peers().map { ($0.device, $0.name) }, uniquingKeysWith: { first, _ in first })
        names[settings.device] = settings.deviceName
        return conflicts.map { conflict in
            let key = keys[conflict.object] ?? 0
            let writer = conflict.losing.stamp.device
            return Self(
                date: HistoryPrinter.text(SyncTime.date(conflict.date)), reason: conflict.reason,
                entity: conflict.entityName,
                object: key == 0 ? conflict.object.description : "\(conflict.entityName)/p\(key)",
                property: conflict.property, losing: SyncConflict.text(conflict.losing.value),
                winning: conflict.reason == SyncConflict.Reason.deleted.rawValue
                    ? nil : SyncConflict.text(conflict.winning.value),
                device: names[writer] ?? writer.description)
        }
    }

    /// A table of conflicts.
    static func lines(_ conflicts: [Self], width: Int?) -> [String] {
        var table = TextTable([
            .init(title: "found"), .init(title: "reason"), .init(title: "object"), .init(title: "property"),
            .init(title: "losing"), .init(title: "by"), .init(title: "winning"),
        ])
        table.rows = conflicts.map {
            [$0.date, $0.reason, $0.object, $0.property, $0.losing, $0.device, $0.winning ?? "(deleted)"]
        }
        return table.lines(width: width)
    }
}
