import CoreData
import CoreDataSyncEngine
import Foundation

// What waits: files to be sent, parked states, the journal; and the other devices.
extension Sidecar {
    // MARK: Writing

    func writeQueues(_ change: SidecarChange, _ context: NSManagedObjectContext) throws {
        func objects<T: NSManagedObject>(_ entity: String, _ type: T.Type, _ key: String, _ values: [Any]) throws -> [T]
        {
            guard !values.isEmpty else { return [] }
            let request = NSFetchRequest<T>(entityName: entity)
            request.predicate = NSPredicate(format: "%K IN %@", key, values)
            return try context.fetch(request)
        }
        let names = change.outgoing.map(\.name.description)
        let sent = Set(change.sent.map(\.description))
        let known = try objects("Outgoing", OutgoingObject.self, "name", Array(sent.union(names)))
        var rows = Dictionary(known.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (file, name) in zip(change.outgoing, names) where rows[name] == nil || sent.contains(name) {
            let row = rows[name] ?? OutgoingObject(context: context)
            (row.name, row.number, row.bytes) = (name, Int64(clamping: file.number), file.bytes)
            rows[name] = row
        }
        for row in known where sent.subtracting(names).contains(row.name) { context.delete(row) }

        for row in try objects("Parked", ParkedObject.self, "identifier", change.unparked.map(\.uuid)) {
            context.delete(row)
        }
        let gone = Set(change.unparked)
        let parkedIDs = change.parked.map(\.state.id.uuid)
        var parked = Dictionary(
            try objects("Parked", ParkedObject.self, "identifier", parkedIDs)
                .filter { !gone.contains(GlobalID($0.identifier)) }.map { ($0.identifier, $0) },
            uniquingKeysWith: { first, _ in first })
        for state in change.parked {
            let id = state.state.id.uuid
            let row = parked[id] ?? ParkedObject(context: context)
            (row.identifier, row.state) = (id, coder.encode(state.state))
            (row.waitsFor, row.reason) = (state.waitsFor?.uuid, state.reason)
            parked[id] = row
        }

        for conflict in change.conflicts {
            let row = ConflictObject(context: context)
            (row.serial, row.identifier) = (conflict.serial, conflict.object.uuid)
            (row.entityName, row.property) = (conflict.entityName, conflict.property)
            (row.losing, row.winning) = (Self.bytes(conflict.losing), Self.bytes(conflict.winning))
            (row.date, row.reason) = (Int64(clamping: conflict.date), conflict.reason)
        }
        for row in try objects("Conflict", ConflictObject.self, "serial", change.removedConflicts) {
            context.delete(row)
        }

        let devices = change.peers.map(\.device.uuid) + change.removedPeers.map(\.uuid)
        var peers = Dictionary(
            try objects("Peer", PeerObject.self, "device", devices).map { ($0.device, $0) },
            uniquingKeysWith: { first, _ in first })
        for device in change.removedPeers {
            if let row = peers.removeValue(forKey: device.uuid) { context.delete(row) }
        }
        for peer in change.peers {
            let row = peers[peer.device.uuid] ?? PeerObject(context: context)
            (row.device, row.name, row.received) = (peer.device.uuid, peer.name, peer.received.bytes)
            (row.hello, row.lease) = (Int64(clamping: peer.hello), Int64(clamping: peer.lease))
            (row.seen, row.hasLeft) = (Int64(clamping: peer.seen), peer.hasLeft)
            peers[peer.device.uuid] = row
        }
    }

    // MARK: Reading

    /// The names of files to be sent, blobs before the segments that name them.
    package func outgoingNames() throws -> [FileName] {
        try perform { context in
            let request = NSFetchRequest<OutgoingObject>(entityName: "Outgoing")
            request.sortDescriptors = [
                NSSortDescriptor(key: "number", ascending: true), NSSortDescriptor(key: "name", ascending: true),
            ]
            return try context.fetch(request, \OutgoingObject.name, \OutgoingObject.number).compactMap {
                FileName($0.0)
            }
        }
    }

    /// A file to be sent; `nil` where none of that name waits.
    package func outgoing(_ name: FileName) throws -> OutgoingFile? {
        try perform { context in
            let request = NSFetchRequest<OutgoingObject>(entityName: "Outgoing")
            request.predicate = NSPredicate(format: "name == %@", name.description)
            return try context.fetch(request).first.map {
                OutgoingFile(name: name, number: UInt64(clamping: $0.number), bytes: $0.bytes)
            }
        }
    }

    /// The parked states that wait for one of these objects.
    package func parked(waitingFor ids: [GlobalID]) throws -> [ParkedState] {
        // Mostly none is parked: to make a predicate of thousands of IDs takes longer than to ask.
        let isEmpty = try perform { try $0.count(for: NSFetchRequest<ParkedObject>(entityName: "Parked")) == 0 }
        if ids.isEmpty || isEmpty { return [] }
        let wanted = Set(ids)
        var result: [ParkedState] = []
        for start in stride(from: 0, to: ids.count, by: Self.portion) {
            let some = ids[start..<min(ids.count, start + Self.portion)] + (start == 0 ? [ParkedState.several] : [])
            result += try parked(NSPredicate(format: "waitsFor IN %@", some.map(\.uuid)))
        }
        return result.filter { $0.waits(for: wanted) }
    }

    /// The IDs of all parked states.
    package func parkedIdentifiers() throws -> Set<GlobalID> {
        try perform { context in
            let request = NSFetchRequest<ParkedObject>(entityName: "Parked")
            return Set(try context.fetch(request, \ParkedObject.identifier).map { GlobalID($0) })
        }
    }

    /// The parked states of these objects.
    package func parked(of ids: [GlobalID]) throws -> [ParkedState] {
        guard !ids.isEmpty else { return [] }
        return try parked(NSPredicate(format: "identifier IN %@", ids.map(\.uuid)))
    }

    package func parked() throws -> [ParkedState] { try parked(nil) }

    private func parked(_ predicate: NSPredicate?) throws -> [ParkedState] {
        try perform { context in
            let request = NSFetchRequest<ParkedObject>(entityName: "Parked")
            request.predicate = predicate
            request.sortDescriptors = [NSSortDescriptor(key: "identifier", ascending: true)]
            return try context.fetch(request).map {
                ParkedState(
                    state: try coder.decode($0.state, id: GlobalID($0.identifier)),
                    waitsFor: $0.waitsFor.map { GlobalID($0) }, reason: $0.reason)
            }
        }
    }

    /// The journal, the latest first.
    package func conflicts(limit: Int = 0) throws -> [SidecarConflict] { try conflicts(nil, limit: limit) }

    /// What the journal has of some objects.
    package func conflicts(of ids: Set<GlobalID>) throws -> [SidecarConflict] {
        ids.isEmpty ? [] : try conflicts(NSPredicate(format: "identifier IN %@", ids.map(\.uuid)), limit: 0)
    }

    private func conflicts(_ predicate: NSPredicate?, limit: Int) throws -> [SidecarConflict] {
        try perform { context in
            let request = NSFetchRequest<ConflictObject>(entityName: "Conflict")
            request.predicate = predicate
            request.sortDescriptors = [
                NSSortDescriptor(key: "date", ascending: false), NSSortDescriptor(key: "serial", ascending: true),
            ]
            request.fetchLimit = limit
            return try context.fetch(request).map {
                SidecarConflict(
                    serial: $0.serial, object: GlobalID($0.identifier), entityName: $0.entityName,
                    property: $0.property, losing: try Self.side($0.losing), winning: try Self.side($0.winning),
                    date: UInt64(clamping: $0.date), reason: $0.reason)
            }
        }
    }

    /// Removes old conflicts, the oldest first.
    ///
    /// - Parameters:
    ///   - limit: the number of conflicts that stay at most.
    ///   - date: conflicts from before it do not stay, in milliseconds since 2001.
    /// - Returns: the number of conflicts that were removed.
    @discardableResult
    package func removeConflicts(keeping limit: Int, since date: UInt64) throws -> Int {
        var count = 0
        while true {
            let serials: [UUID] = try perform { context in
                let request = NSFetchRequest<ConflictObject>(entityName: "Conflict")
                let total = try context.count(for: request)
                request.predicate = NSPredicate(format: "date < %lld", Int64(clamping: date))
                let old = try context.count(for: request)
                let excess = max(old, total - max(0, limit))
                guard excess > 0 else { return [] }
                request.predicate = nil
                request.sortDescriptors = [
                    NSSortDescriptor(key: "date", ascending: true), NSSortDescriptor(key: "serial", ascending: false),
                ]
                request.fetchLimit = min(excess, Self.portion)
                return try context.fetch(request, \ConflictObject.serial, \ConflictObject.date).map(\.0)
            }
            guard !serials.isEmpty else { return count }
            var change = SidecarChange()
            change.removedConflicts = serials
            try write(change)
            count += serials.count
        }
    }

    /// The other devices that are known, by ID.
    package func peers() throws -> [SidecarPeer] {
        try perform { context in
            let request = NSFetchRequest<PeerObject>(entityName: "Peer")
            request.sortDescriptors = [NSSortDescriptor(key: "device", ascending: true)]
            return try context.fetch(request).map {
                SidecarPeer(
                    device: DeviceID($0.device), name: $0.name, received: try VersionVector(bytes: $0.received),
                    hello: UInt64(clamping: $0.hello), lease: UInt64(clamping: $0.lease),
                    seen: UInt64(clamping: $0.seen), hasLeft: $0.hasLeft)
            }
        }
    }

    private static func bytes(_ side: SidecarConflict.Side) -> Data {
        var writer = ByteWriter()
        writer.fixed64(side.stamp.ticks)
        writer.identifier(side.stamp.device)
        writer.data(side.value.bytes)
        return writer.asData
    }

    private static func side(_ bytes: Data) throws -> SidecarConflict.Side {
        var reader = ByteReader(bytes)
        let stamp = Stamp(ticks: try reader.fixed64(), device: try reader.identifier())
        return SidecarConflict.Side(stamp: stamp, value: try SyncValue(bytes: try reader.data()))
    }
}
