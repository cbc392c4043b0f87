import CoreDataStore

/// Decides for a context whether reading a to-many relationship reads keys or rows.
///
/// ```
///  keys ──a member's row was needed──▶ rows, for the next reads ──▶ keys
/// ```
/// Code that counts members, or adds one, never reads rows. Code that uses members reads keys once, and rows with the
/// relationship from then on; every ninth time keys, to learn whether rows are still needed.
struct MemberReads {
    private static let rowReads = 8
    private var remaining: [Int: Int] = [:]

    /// Names a relationship of an entity.
    static func relationship(_ entity: Int, _ slot: Int) -> Int { entity << 16 | slot }

    /// Whether the read that begins reads keys.
    mutating func beginsWithKeys(_ relationship: Int) -> Bool {
        guard let count = remaining[relationship] else { return true }
        remaining[relationship] = count > 1 ? count - 1 : nil
        return false
    }

    /// Notes that rows of members were needed after only their keys had been read.
    mutating func noteUse(_ relationship: Int) { remaining[relationship] = Self.rowReads }
}

extension NSManagedObjectContext {
    /// The members of a to-many as objects that may have no rows; `nil` where rows are to be read.
    func memberFaults(of object: NSManagedObject, slot: Int, in store: AttachedStore) throws -> [NSManagedObject]? {
        let relationship = MemberReads.relationship(object.runtime.ordinal, slot)
        guard let source = store.source as? any MemberKeySource,
            rowReading.memberReads.beginsWithKeys(relationship)
        else { return nil }
        let owners = siblings(of: object, readingMembersOf: slot, in: store)
        let found = try source.destinationKeys(
            entity: object.runtime.ordinal, slot: slot, owners: owners.map(\.primaryKey))
        let keys = Dictionary(found.map { ($0.owner, $0.keys) }, uniquingKeysWith: { first, _ in first })
        for owner in owners.dropFirst() {
            let members = faults(for: keys[owner.primaryKey] ?? [], in: store)
            owner.members(slot).know(members)
            giveUpMembersLedElsewhere(members, of: owner, slot)
            rowReading.siblings.add(members, membersOf: relationship)
        }
        let members = faults(for: keys[object.primaryKey] ?? [], in: store)
        rowReading.siblings.add(members, membersOf: relationship)
        return members
    }
}
