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

    /// Adds the entry of a planned object, of which no copy is made.
    ///
    /// - Returns: whether the object's entry was added.
    mutating func add(_ index: Int) throws -> Bool {
        let (id, key, entity) = (
            session.plan.objects[index].id, session.plan.objects[index].key, session.plan.objects[index].entity
        )
        guard key != 0, session.plan.objects[index].waiting.isEmpty, session.entries.index(forKey: id) == nil,
            let object = session.objects[id], session.created[ObjectIdentifier(object)] != nil
        else { return false }
        let state = session.plan.objects[index].state
        guard let created = state.created, state.isPlain(entity, created) else { return false }
        let (root, values) = try common(entity)
        guard EntryPlace.fits(root: root, key: key) else { return false }
        digests.removeAll(keepingCapacity: true)
        for (number, property) in state.properties.values.enumerated() {
            guard case .last(created, let expected) = property else { return false }
            if values.isToOne(number) {
                let id = try values.destinationObject(number, of: object).flatMap { try identifier(of: $0) }
                digests.append(ValueDigests.digest(id.map { .reference($0) } ?? .null).littleEndian)
            } else {
                let value = try values.value(number, of: object)
                guard value == expected else { return false }
                digests.append(ValueDigests.digest(value).littleEndian)
            }
        }
        let prefix = prefix(of: state, entity, created)
        entries.append(id, EntryPlace.make(root: root, key: key), prefix, digests)
        return true
    }

    private mutating func common(_ entity: SyncEntity) throws -> (root: Int32, values: StoredValues) {
        if let last, last.entity === entity { return (last.root, last.values) }
        let root = Int32(session.sidecar.number(of: entity.root))
        let values = try session.values(for: entity)
        last = (entity, root, values)
        return (root, values)
    }

    private mutating func prefix(of state: ObjectState, _ entity: SyncEntity, _ created: Stamp) -> [UInt8] {
        let kind = Kind(entity: ObjectIdentifier(entity), created: created)
        if let lastPrefix, lastPrefix.kind == kind { return lastPrefix.prefix }
        let prefix =
            prefixes[kind]
            ?? EncodedEntry.prefix(session.sidecar.encoded(state.leftToStore), entity)
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

extension ObjectState {
    /// Whether the state has all values and nothing else, and the stamps of a new object.
    fileprivate func isPlain(_ entity: SyncEntity, _ created: Stamp) -> Bool {
        born == created && self.entity.stamp == created && self.entity.name == entity.name && deleted == nil
            && edges.isEmpty && aliases.isEmpty && hasAllValues(of: entity)
    }
}
