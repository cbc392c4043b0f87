import CoreData
import CoreDataSyncEngine
import Foundation

/// Collects the sidecar's entries of new objects of which all values are as one device created them.
///
/// The states of such objects differ in nothing but their IDs, so they are encoded once. Objects that the app's class
/// or a repair changed before the save, and those of which a part waits, are left to the caller.
struct PlainEntries {
    private(set) var entries = NewEntries()
    private let session: ApplySession
    private var prefixes: [Kind: [UInt8]] = [:]
    /// The IDs of destinations; references of many objects lead to a few.
    private var destinations: [ObjectIdentifier: GlobalID] = [:]
    private var digests: [UInt32] = []
    /// What the last entity's objects have in common: its objects come one after another.
    private var last: (entity: SyncEntity, root: Int32, values: StoredValues)?
    private var lastPrefix: (kind: Kind, prefix: [UInt8])?

    private struct Kind: Hashable {
        let entity: ObjectIdentifier
        let created: Stamp
    }

    init(_ session: ApplySession) { self.session = session }

    /// - Returns: whether the object's entry was added.
    mutating func add(_ planned: PlannedObject) throws -> Bool {
        guard session.entries[planned.id] == nil, let created = planned.state.created, planned.key != 0,
            let object = session.objects[planned.id], session.created[ObjectIdentifier(object)] != nil,
            planned.waiting.isEmpty, planned.isPlain(created)
        else { return false }
        let (root, values) = try common(planned.entity)
        guard EntryPlace.fits(root: root, key: planned.key) else { return false }
        digests.removeAll(keepingCapacity: true)
        for (number, property) in planned.entity.values.enumerated() {
            guard let expected = planned.state.properties[property.name]?.value else { return false }
            if case .toOne = property.kind {
                let id = try values.destinationObject(number, of: object).flatMap { try identifier(of: $0) }
                digests.append(ValueDigests.digest(id.map { .reference($0) } ?? .null))
            } else {
                let value = try values.value(number, of: object)
                guard value == expected else { return false }
                digests.append(ValueDigests.digest(value))
            }
        }
        let prefix = prefix(of: planned, created)
        entries.begin(
            planned.id, EntryPlace.make(root: root, key: planned.key), prefix, digests: digests.count)
        for digest in digests { entries.add(digest: digest) }
        return true
    }

    private mutating func common(_ entity: SyncEntity) throws -> (root: Int32, values: StoredValues) {
        if let last, last.entity === entity { return (last.root, last.values) }
        let root = Int32(session.sidecar.number(of: entity.root))
        let values = try session.values(for: entity)
        last = (entity, root, values)
        return (root, values)
    }

    private mutating func prefix(of planned: PlannedObject, _ created: Stamp) -> [UInt8] {
        let kind = Kind(entity: ObjectIdentifier(planned.entity), created: created)
        if let lastPrefix, lastPrefix.kind == kind { return lastPrefix.prefix }
        let prefix =
            prefixes[kind]
            ?? EncodedEntry.prefix(session.sidecar.encoded(planned.state.leftToStore), planned.entity)
        prefixes[kind] = prefix
        lastPrefix = (kind, prefix)
        return prefix
    }

    private mutating func identifier(of object: NSManagedObject) throws -> GlobalID? {
        if let known = destinations[ObjectIdentifier(object)] { return known }
        let id = try session.identifier(of: object)
        destinations[ObjectIdentifier(object)] = id
        return id
    }
}

extension PlannedObject {
    /// Whether the state has all values, each with the stamp of the creation, and nothing else.
    fileprivate func isPlain(_ created: Stamp) -> Bool {
        guard state.born == created, state.entity.stamp == created, state.entity.name == entity.name,
            state.deleted == nil, state.edges.isEmpty, state.aliases.isEmpty,
            state.properties.count == entity.values.count, entity.hasPlainValues
        else { return false }
        return state.properties.values.allSatisfy { if case .last(created, _) = $0 { true } else { false } }
    }
}
