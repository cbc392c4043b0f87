import CoreDataSyncEngine
import Foundation

/// What the sidecar knows of one object.
package struct SidecarEntry: Hashable, Sendable {
    package let id: GlobalID
    /// The topmost ancestor of the object's entity; `key` is unique among its objects.
    package var root: String
    /// The primary key in the store; 0 for an object that has no row there.
    package var key: Int64
    /// The primary key that a deleted object had: a store that is restored from a backup has its row again.
    package var formerKey: Int64 = 0
    /// The state; values that are in the store are `.stored`.
    package var state: ObjectState
    /// The digests of the values in the store; `nil` where they are not known. See ``ValueDigests``.
    package var digests: Data?

    /// The name of the object's entity.
    package var entityName: String { state.entity.name }

    package init(id: GlobalID, root: String, key: Int64, state: ObjectState, digests: Data? = nil) {
        (self.id, self.root, self.key, self.state, self.digests) = (id, root, key, state, digests)
    }
}

/// An entry as its row has it.
struct EncodedEntry: Hashable, Sendable {
    let id: GlobalID
    let place: Int64
    let content: Data

    init(id: GlobalID, place: Int64, content: Data) { (self.id, self.place, self.content) = (id, place, content) }

    /// The content of a state's bytes and of digests.
    static func content(_ state: Data, _ digests: [UInt8]) -> Data {
        var writer = ByteWriter(reserving: state.count + digests.count + 2)
        writer.data(state)
        writer.raw(digests)
        return writer.asData
    }

    /// The content of a state's bytes up to the digests of values.
    static func prefix(_ state: Data, _ entity: SyncEntity) -> [UInt8] {
        var writer = ByteWriter(reserving: state.count + 6)
        writer.data(state)
        writer.fixed32(entity.signature)
        return writer.bytes
    }

    /// The state's bytes and the digests of a content.
    static func parts(_ content: Data) throws(FileFault) -> (state: Data, digests: Data?) {
        var reader = ByteReader(content)
        let state = try reader.data()
        return (state, reader.isAtEnd ? nil : try reader.raw(reader.remaining))
    }
}

extension EncodedEntry {
    func write(to writer: inout ByteWriter) {
        writer.identifier(id)
        writer.signed(place)
        writer.data(content)
    }

    init(from reader: inout ByteReader) throws(FileFault) {
        self.init(id: try reader.identifier(), place: try reader.signed(), content: try reader.data())
    }
}

/// Part of a state that cannot be applied yet, with its values.
package struct ParkedState: Hashable, Sendable {
    package var state: ObjectState
    /// The object that has to arrive before; `nil` where something else is missing.
    package var waitsFor: GlobalID?
    package var reason: String

    /// Stands for several objects, of which each may let a part be applied.
    package static let several = GlobalID(high: .max, low: .max)

    package init(state: ObjectState, waitsFor: GlobalID?, reason: String) {
        (self.state, self.waitsFor, self.reason) = (state, waitsFor, reason)
    }

    /// Whether the state waits for one of several objects, or for this one.
    func waits(for ids: Set<GlobalID>) -> Bool {
        guard waitsFor == Self.several else { return waitsFor.map(ids.contains) ?? false }
        return state.destinations.contains(where: ids.contains)
    }
}

/// A file that waits to be sent.
package struct OutgoingFile: Hashable, Sendable {
    /// The name in the place: a segment or a blob.
    package var name: FileName
    /// The number of the segment; of a blob that of the first segment that names it.
    package var number: UInt64
    package var bytes: Data

    package init(name: FileName, number: UInt64, bytes: Data) {
        (self.name, self.number, self.bytes) = (name, number, bytes)
    }
}

/// Another device, as this one knows it.
package struct SidecarPeer: Hashable, Sendable {
    package var device: DeviceID
    package var name: String
    /// The segments of this device that the other one says it has received.
    package var received: VersionVector
    /// The number of its last hello.
    package var hello: UInt64
    /// How long its hello holds, in milliseconds.
    package var lease: UInt64
    /// When it wrote its last hello, in milliseconds since 2001.
    package var seen: UInt64
    package var hasLeft: Bool

    /// When its lease ends; `nil` if never.
    package var leaseEnd: UInt64? {
        let (end, isEndless) = seen.addingReportingOverflow(lease)
        return isEndless ? nil : end
    }

    package init(
        device: DeviceID, name: String, received: VersionVector, hello: UInt64, lease: UInt64, seen: UInt64,
        hasLeft: Bool
    ) {
        (self.device, self.name, self.received, self.hello) = (device, name, received, hello)
        (self.lease, self.seen, self.hasLeft) = (lease, seen, hasLeft)
    }
}

/// A value that lost against one that was written without knowledge of it.
package struct SidecarConflict: Hashable, Sendable {
    package struct Side: Hashable, Sendable {
        package var stamp: Stamp
        package var value: SyncValue

        package init(stamp: Stamp, value: SyncValue) { (self.stamp, self.value) = (stamp, value) }
    }

    package var serial: UUID
    package var object: GlobalID
    package var entityName: String
    package var property: String
    package var losing: Side
    package var winning: Side
    /// When this device found it, in milliseconds since 2001.
    package var date: UInt64
    package var reason: String

    package init(
        serial: UUID, object: GlobalID, entityName: String, property: String, losing: Side, winning: Side, date: UInt64,
        reason: String
    ) {
        (self.serial, self.object, self.entityName, self.property) = (serial, object, entityName, property)
        (self.losing, self.winning, self.date, self.reason) = (losing, winning, date, reason)
    }
}

/// What one transaction of the sidecar changes.
package struct SidecarChange: Sendable {
    /// Entries to add, or to replace those with the same ID.
    package var entries: [SidecarEntry] = []
    package var removedEntries: [GlobalID] = []
    package var settings: SidecarSettings?
    /// Files to be sent. A name that waits already stays as it is, unless it is in `sent`, too: then the file replaces
    /// the former one.
    package var outgoing: [OutgoingFile] = []
    /// The names of files that were sent, or are to be sent no more.
    package var sent: [FileName] = []
    /// Parked states to add, or to replace those of the same objects.
    package var parked: [ParkedState] = []
    package var unparked: [GlobalID] = []
    package var conflicts: [SidecarConflict] = []
    package var removedConflicts: [UUID] = []
    package var peers: [SidecarPeer] = []
    package var removedPeers: [DeviceID] = []
    /// Entries of objects that have none, none of them in ``entries``.
    var newEntries = NewEntries()

    package init() {}
}

/// How much the sidecar holds.
package struct SidecarCounts: Hashable, Sendable {
    package var entries = 0
    package var outgoing = 0
    package var parked = 0
    package var conflicts = 0
    package var peers = 0
}

extension ObjectState {
    /// The objects that the state refers to.
    var destinations: [GlobalID] {
        let references = properties.values.compactMap { property -> GlobalID? in
            if case .last(_, .reference(let id)) = property { id } else { nil }
        }
        return references + edges.keys.map(\.destination)
    }
}
