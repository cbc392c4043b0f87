import CoreDataModel
import CoreDataPrimitives
import CoreDataStore

// Prefetching: relationships are read for all objects at once, not one by one when they are asked for.
extension NSManagedObjectContext {
    /// Reads the relationships on the paths of a request for the entity.
    ///
    /// - Throws: for a path of which a step is no relationship of any entity that it may start from, whatever objects
    ///   there are.
    final func prefetch(_ paths: [String], of objects: [NSManagedObject], of entity: EntityRuntime) throws {
        for path in paths {
            let keys = path.split(separator: ".").map(String.init)
            try check(keys, from: entity)
            try prefetch(keys[...], of: objects)
        }
    }

    private func check(_ keys: [String], from entity: EntityRuntime) throws {
        guard let entities = coordinator?.runtime.entities else { return }
        var (name, homes) = (entity.name, entity.compiled.subtree)
        for key in keys {
            let slots = homes.compactMap { home in
                entities[home].slot(forKey: key).map { entities[home].slots[$0] }.flatMap {
                    $0.relationship == nil ? nil : $0
                }
            }
            guard let first = slots.first?.relationship else {
                throw CoreDataErrors.invalidRequest(
                    "prefetched key path '\(keys.joined(separator: "."))': '\(key)' is no relationship of entity '\(name)' or of its subentities."
                )
            }
            name = entities[first.destination].name
            homes = Set(slots.flatMap(\.destinationSubtree)).sorted()
        }
    }

    /// Reads the relationships on the path: one statement per step, for each entity that the step starts from.
    ///
    /// A relationship that the context already knows is followed without a statement, unless rows of its destinations
    /// are not in memory.
    final func prefetch(_ path: ArraySlice<String>, of objects: [NSManagedObject]) throws {
        guard let key = path.first, !objects.isEmpty else { return }
        // Most often all have been read, and are of one entity.
        let home = ObjectIdentifier(objects[0].home)
        var (areRead, haveOneHome) = (true, true)
        objects.forEachHeld { object in
            if !object.hasCurrentRow { areRead = false }
            if ObjectIdentifier(object.home) != home { haveOneHome = false }
        }
        if !areRead { try readRows(of: objects.filter { $0.isFault }) }
        let groups =
            haveOneHome
            ? [objects]
            : Dictionary(grouping: objects) { ObjectIdentifier($0.home) }.values.sorted {
                $0[0].runtime.ordinal < $1[0].runtime.ordinal
            }
        let rest = path.dropFirst()
        var destinations: [NSManagedObject] = []
        for members in groups {
            // Of several subentities one may have the relationship, and another not.
            guard let runtime = members.first?.runtime, let slot = runtime.slot(forKey: key),
                let relationship = runtime.slots[slot].relationship
            else { continue }
            if !relationship.isToMany {
                destinations += try toOneDestinations(slot, of: members)
            } else {
                try readMembers(slot, of: members)
                if !rest.isEmpty { destinations += knownMembers(slot, of: members) }
            }
        }
        if groups.count > 1 { destinations = Self.withoutDuplicates(destinations) }
        if !destinations.allHeldSatisfy({ $0.hasCurrentRow }) {
            try readRows(of: destinations.filter { $0.isFault })
        }
        try prefetch(rest, of: destinations)
    }

    private static func withoutDuplicates(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        var known: Set<ObjectReference> = []
        return objects.filter { known.insert(ObjectReference($0)).inserted }
    }

    // MARK: To-one

    /// Reads the objects that a to-one of objects of one home points at; returns them.
    final func prefetchToOne(_ slot: Int, of objects: [NSManagedObject]) throws -> [NSManagedObject] {
        let targets = try toOneDestinations(slot, of: objects)
        if !targets.allHeldSatisfy({ $0.hasCurrentRow }) { try readRows(of: targets.filter { $0.isFault }) }
        return targets
    }

    /// The objects that a to-one of objects of one home points at, each once; they may be faults.
    private func toOneDestinations(_ slot: Int, of objects: [NSManagedObject]) throws -> [NSManagedObject] {
        guard let home = objects.first?.home else { return [] }
        if let store = home.store, store.readsRowsLater, store.readsManyRowsAtOnce {
            try CoreDataErrors.converting { try askDestinations(of: objects, slot: slot) }
        }
        var targets: [NSManagedObject] = []
        objects.forEachPortion { portion in
            registry.takeDestinations(of: objects, in: portion, home, slot)
            objects.forEachHeld(in: portion) { object in
                guard object.hasRow || object.values != nil else { return }
                object.uncountedToOne(slot)?._withUnsafeGuaranteedRef { $0.collect(into: &targets) }
            }
        }
        targets.forEachHeld { $0.flags.remove(.collected) }
        return targets
    }

    // MARK: To-many

    /// Reads the members of a to-many of objects of one home if they are not known, and the rows of known members that
    /// are faults without one.
    ///
    /// One statement reads both. Only members that were added here and whose rows are not in memory need another one.
    final func readMembers(_ slot: Int, of owners: [NSManagedObject]) throws {
        var unknown: [NSManagedObject] = []
        // Owners with known members, and the members whose rows are missing.
        var incomplete: [NSManagedObject] = []
        var unread: Set<ObjectReference> = []
        owners.forEachHeld { owner in
            let members = owner.members(slot)
            guard members.isKnown else {
                if owner.isStored { unknown.append(owner) }
                return
            }
            var isComplete = true
            members.members.forEachHeld { member in
                guard member.isUnreadFault else { return }
                isComplete = false
                unread.insert(ObjectReference(member))
            }
            if !isComplete, owner.isStored { incomplete.append(owner) }
        }
        guard let first = unknown.first, let store = store(at: first.storeIndex) else {
            return try readRows(of: unread.map(\.object))
        }
        let asked = unknown + incomplete
        let found = try CoreDataErrors.converting {
            try store.source.destinationRows(
                entity: first.runtime.ordinal, slot: slot, owners: asked.map(\.primaryKey))
        }
        adoptPermanentKeys()
        know(found, slot, of: unknown, in: store)
        guard !unread.isEmpty else { return }
        // Known members stay unchanged: they only get rows.
        let wanted = Set(unread.lazy.map(\.object).filter(\.isUnreadFault).map(\.primaryKey))
        let owners = Set(incomplete.lazy.map(\.primaryKey))
        for list in found where owners.contains(list.owner) {
            _ = objects(for: list.rows.filter { wanted.contains($0.primaryKey) }, in: store)
        }
        try readRows(of: unread.map(\.object).filter(\.isUnreadFault))
    }

    /// Returns the known members of a to-many of objects of one home, each once.
    private func knownMembers(_ slot: Int, of owners: [NSManagedObject]) -> [NSManagedObject] {
        var found: [NSManagedObject] = []
        owners.forEachHeld { owner in
            owner.members(slot).members.forEachHeld { member in
                // Nothing can be read of a member whose row was deleted.
                if member.hasRow || member.values != nil { member.collect(into: &found) }
            }
        }
        found.forEachHeld { $0.flags.remove(.collected) }
        return found
    }

    /// Gives objects the members of a relationship that was read for all of them.
    final func know(
        _ found: [(owner: Int64, rows: [RowSnapshot])], _ slot: Int, of owners: [NSManagedObject],
        in store: AttachedStore
    ) {
        let rows = Dictionary(found.map { ($0.owner, $0.rows) }, uniquingKeysWith: { first, _ in first })
        for object in owners {
            let targets = self.objects(for: rows[object.primaryKey] ?? [], in: store)
            object.members(slot).know(targets)
            giveUpMembersLedElsewhere(targets, of: object, slot)
            noteSiblings(targets, in: store)
        }
    }
}

extension NSManagedObject {
    /// Whether the object is a fault whose row must be read from the store.
    fileprivate final var isUnreadFault: Bool { isFault && isStored && !hasCurrentRow }

    /// Appends the object to a list that has each object once. The maker of the list clears the objects' flags.
    @inline(__always)
    fileprivate final func collect(into objects: inout [NSManagedObject]) {
        guard !flags.contains(.collected) else { return }
        flags.insert(.collected)
        objects.append(self)
    }
}
