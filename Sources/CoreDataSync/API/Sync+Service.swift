import CoreData
import CoreDataSyncEngine
import Foundation

/// What a service needs that answers the changes of its accounts' devices: when values were written, and a way to tell
/// a device that its change was not taken.
///
/// No part of the API for apps: the package of the service imports it by `@_spi(Service)`.
@_spi(Service) extension Sync {
    /// Returns the IDs that objects have on all devices; objects that no exchange has seen are left out.
    public func identities(of objects: [NSManagedObjectID]) throws -> [NSManagedObjectID: UUID] {
        try entries(of: objects).mapValues(\.id.uuid)
    }

    /// Returns when devices wrote the present values of an object, by property; the first day of 2001 for values from
    /// before a store was attached.
    public func times(of object: NSManagedObjectID) throws -> [String: Date] {
        guard let entry = try entries(of: [object])[object] else { return [:] }
        var times: [String: Date] = [:]
        for (name, property) in entry.state.properties {
            times[name] = SyncTime.date(property.stamp.isSeed ? 0 : property.stamp.milliseconds)
        }
        return times
    }

    /// Describes that the present value of a property was not taken, for ``announce(_:)``.
    ///
    /// Call it on the queue of the object's context, before the value is replaced.
    ///
    /// - Parameters:
    ///   - member: of a many-to-many relationship, the object that was added or removed.
    ///   - instead: the value that the object gets, as text; `nil` for an object that ceases to exist.
    ///   - reason: why it was not taken.
    ///   - cause: the property whose writer is told; `nil` for the writer of the value itself.
    /// - Returns: `nil` for a property that devices do not exchange.
    public func refusal(
        of property: String, in object: NSManagedObject, member: NSManagedObject? = nil, instead: String?,
        reason: SyncConflict.Reason = .refused, cause: String? = nil
    ) throws -> Data? {
        guard let entry = try entries(of: [object.objectID])[object.objectID],
            let entity = rules[object.entity.name ?? ""]
        else { return nil }
        let found: (stamp: Stamp, value: SyncValue)?
        if let member {
            guard let other = try entries(of: [member.objectID])[member.objectID] else { return nil }
            let edge = entry.state.edges[.init(property, other.id)]
            found = (edge?.added ?? edge?.removed).map { ($0, .reference(other.id)) }
        } else {
            let value = try value(of: property, in: object, entity)
            found = (entry.state.properties[property]?.stamp ?? entry.state.created).map { ($0, value) }
        }
        guard let (stamp, value) = found else { return nil }
        let winning: SyncValue = instead.map { .string($0) } ?? .stored
        let writer = cause.flatMap { entry.state.properties[$0]?.stamp } ?? stamp
        return Data(
            Refusal(
                device: writer.device, object: entry.id, entity: entity.name, property: property,
                reason: reason.rawValue,
                losing: .init(stamp: stamp, value: Self.bounded(value)),
                winning: .init(stamp: later(stamp), value: winning)
            ).bytes)
    }

    /// Describes that the deletion of an object was not taken.
    ///
    /// - Parameter identity: the object's ID on all devices; see ``identities(of:)``.
    public func refusal(ofDeleting identity: UUID) throws -> Data? {
        guard let entry = try store.sidecar.entries(ids: [GlobalID(identity)]).first, let deleted = entry.state.deleted
        else { return nil }
        return Data(
            Refusal(
                device: deleted.device, object: entry.id, entity: entry.entityName, property: "",
                reason: SyncConflict.Reason.refused.rawValue,
                losing: .init(stamp: deleted, value: .null), winning: .init(stamp: later(deleted), value: .null)
            ).bytes)
    }

    /// Sends refusals with the next exchange. The devices that made the changes note them in their journals; a refusal
    /// that is announced again is noted once.
    public func announce(_ refusals: [Data]) throws {
        let decoded = try refusals.map { try Refusal(bytes: [UInt8]($0)) }
        try store.exclusively { try store.announce(decoded) }
    }

    /// Returns the SHA-256 of bytes.
    public static func digest(of bytes: Data) -> Data { Blob.digest(of: bytes) }

    // MARK: Parts

    private func entries(of objects: [NSManagedObjectID]) throws -> [NSManagedObjectID: SidecarEntry] {
        var result: [NSManagedObjectID: SidecarEntry] = [:]
        let stored = objects.filter { !$0.isTemporaryID }
        for (root, ids) in Dictionary(grouping: stored, by: { rules[$0.entity.name ?? ""]?.root ?? "" })
        where !root.isEmpty {
            let byKey = Dictionary(ids.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
            for entry in try store.sidecar.entries(root: root, keys: Array(byKey.keys)) {
                if let id = byKey[entry.key] { result[id] = entry }
            }
        }
        return result
    }

    private func value(of property: String, in object: NSManagedObject, _ entity: SyncEntity) throws -> SyncValue {
        let values = try StoredValues(entity, in: store.coordinator.managedObjectModel)
        guard let number = values.number(of: property) else { return .null }
        guard case .toOne = entity.values[number].kind else { return try values.value(number, of: object) }
        guard let destination = values.destination(number, of: object) else { return .null }
        return try entries(of: [destination])[destination].map { .reference($0.id) } ?? .null
    }

    private func later(_ stamp: Stamp) -> Stamp {
        Stamp(ticks: stamp.ticks &+ 1, device: store.sidecar.settings.device)
    }

    /// A file has room for many refusals.
    private static func bounded(_ value: SyncValue) -> SyncValue {
        guard let bytes = Blob.bytes(of: value), bytes.count > 1 << 20 else { return value }
        return Blob.reference(to: bytes)
    }
}
