import CoreData
import CoreDataSyncEngine
import Foundation

extension Sync {
    /// The values that were given up on this device, newest first.
    public func conflicts() async throws -> [SyncConflict] {
        let store = store
        return try await BlockingWork.run {
            try store.reading {
                let found = try store.sidecar.conflicts()
                let ids = Set(found.map(\.object) + found.compactMap(\.losing.value.reference))
                let entries = try store.rows(of: ids)
                return found.map { SyncConflict($0, entries, store) }.sorted { $0.date > $1.date }
            }
        }
    }

    /// Writes a value that was given up, as an edit of this device that the other devices get.
    ///
    /// If the object does not exist any more, it is created again, with all values that the journal has of it. The
    /// conflict leaves the journal.
    ///
    /// - Throws: 134060 if the conflict is not in the journal any more; the store's error if it refuses the value; 255
    ///   if another process synchronises the store.
    public func restore(_ conflict: SyncConflict) async throws {
        let store = store
        try await BlockingWork.run { try store.exclusively { try store.restore(conflict.id) } }
    }

    /// Removes conflicts from the journal.
    ///
    /// - Throws: 255 if another process synchronises the store.
    public func dismiss(_ conflicts: [SyncConflict]) async throws {
        let store = store
        let ids = conflicts.map(\.id)
        try await BlockingWork.run {
            var change = SidecarChange()
            change.removedConflicts = ids
            try store.exclusively { try store.sidecar.write(change) }
        }
    }
}

extension SyncConflict {
    init(_ conflict: SidecarConflict, _ entries: [GlobalID: SidecarEntry], _ store: SyncedStore) {
        func uri(_ id: GlobalID?) -> URL? {
            guard let entry = id.flatMap({ entries[$0] }) else { return nil }
            return store.applier.objectID(entry.entityName, entry.key)?.uriRepresentation()
        }
        self.init(
            id: conflict.serial, identity: conflict.object.uuid, date: SyncTime.date(conflict.date),
            reason: Reason(rawValue: conflict.reason) ?? .edited,
            entity: conflict.entityName, object: uri(conflict.object),
            property: conflict.property.isEmpty ? nil : conflict.property,
            losing: Self.text(conflict.losing.value),
            winning: conflict.reason == Reason.deleted.rawValue || conflict.winning.value == .stored
                ? nil : Self.text(conflict.winning.value),
            losingObject: uri(conflict.losing.value.reference), device: conflict.losing.stamp.device.uuid)
    }

    /// A value as people read it.
    package static func text(_ value: SyncValue) -> String {
        switch value {
        case .null: "nil"
        case .integer(let number): String(number)
        case .double(let bits): String(Double(bitPattern: bits))
        case .decimal(let text), .string(let text), .uri(let text): text
        case .date(let bits): Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)).formatted(.iso8601)
        case .data(let data): "\(data.count) bytes"
        case .blob(_, let size): "\(size) bytes"
        case .uuid(let id), .reference(let id): id.description
        case .stored: "?"
        }
    }
}

extension SyncValue {
    /// The object that a relationship refers to.
    var reference: GlobalID? { if case .reference(let id) = self { id } else { nil } }
}

extension SyncedStore {
    /// Empties the sidecar: the store is attached anew by the next start.
    func forgetEverything() throws {
        var ids: [GlobalID] = []
        try sidecar.forEachEntry { ids += $0.map(\.id) }
        var change = SidecarChange()
        change.removedEntries = ids
        change.sent = try sidecar.outgoingNames()
        change.unparked = Array(try sidecar.parkedIdentifiers())
        change.removedPeers = try sidecar.peers().map(\.device)
        change.settings = SidecarSettings(device: options.newDevice(), deviceName: sidecar.settings.deviceName)
        try sidecar.write(change)
    }
}
