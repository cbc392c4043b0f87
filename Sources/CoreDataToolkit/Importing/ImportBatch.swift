import CoreData
import Foundation

/// The objects of one import batch, in a context.
struct ImportBatch {
    /// A relationship to objects that are neither in the store nor in the batch.
    struct Unresolved {
        let owner: NSManagedObject
        let relationship: NSRelationshipDescription
        /// All its destination objects.
        let targets: [ObjectReference]
        let missing: ObjectReference

        /// Whether its owner cannot be saved without it.
        var isRequired: Bool {
            guard owner.isInserted else { return false }
            if relationship.minCount > 1 { return true }
            return !relationship.isOptional && (!relationship.isToMany || relationship.minCount > 0)
        }

        var message: String {
            """
            \(owner.entity.name ?? "").\(relationship.name): leads to \(missing.text), which is neither in the file \
            nor in the store
            """
        }
    }

    private let uniques: UniqueAttributes
    private let context: NSManagedObjectContext
    /// Whether existing objects are not changed.
    var keepsExisting = false
    /// The found or created objects, by identifying values.
    private(set) var objects: [ObjectKey: NSManagedObject] = [:]
    /// The found or created objects, by the file's IDs.
    private(set) var referenced: [ObjectReference: NSManagedObject] = [:]
    private(set) var unresolved: [Unresolved] = []
    private var created: [ObjectIdentifier: String] = [:]
    private var updated: [ObjectIdentifier: String] = [:]
    private var linked: [String: Int] = [:]

    init(
        _ drafts: [ObjectDraft], known: KnownObjects, uniques: UniqueAttributes, context: NSManagedObjectContext
    ) throws {
        self.uniques = uniques
        self.context = context
        var wanted: [String: (entity: NSEntityDescription, drafts: [ObjectKey: ObjectDraft])] = [:]
        var own: Set<ObjectReference> = []
        for draft in drafts {
            draft.forEach { draft in
                if let reference = draft.reference {
                    if let id = known.byReference[reference] {
                        referenced[reference] = context.object(with: id)
                    } else if reference.store == nil || reference.store == known.store {
                        own.insert(reference)
                    }
                }
                guard let key = draft.key else { return }
                if let id = known.byKey[key] {
                    // A row that is only linked to need not be read.
                    objects[key] = context.object(with: id)
                } else {
                    wanted[key.entity, default: (draft.entity, [:])].drafts[key] = draft
                }
            }
        }
        try find(own, of: known.store)
        for (entity, drafts) in wanted.values { try find(drafts, of: entity) }
        // Create the objects of all records before setting relationships between them. An error is reported when its
        // record is applied.
        for draft in drafts where draft.reference != nil { _ = try? object(for: draft, nil) }
    }

    /// Finds the store's own objects that the file refers to by ID: one fetch per entity.
    private mutating func find(_ references: Set<ObjectReference>, of store: String) throws {
        guard let coordinator = context.persistentStoreCoordinator else { return }
        for (entity, members) in Dictionary(grouping: references, by: \.entity) {
            let ids = Set(members.map(\.key)).compactMap { key in
                coordinator.managedObjectID(for: "x-coredata://\(store)/\(entity)/p\(key)")
            }
            guard !ids.isEmpty else { continue }
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "self IN %@", argumentArray: [ids])
            var found: [Int64: NSManagedObject] = [:]
            for object in try context.fetch(request) {
                guard let own = ObjectReference(object.objectID.uriRepresentation().absoluteString) else { continue }
                found[own.key] = object
            }
            for reference in members { referenced[reference] = found[reference.key] }
        }
    }

    /// Runs one fetch for objects with one of the values of the first unique attribute.
    private mutating func find(_ drafts: [ObjectKey: ObjectDraft], of entity: NSEntityDescription) throws {
        let names = uniques.of(entity)
        guard let first = names.first else { return }
        let values = drafts.values.compactMap { $0.values[first].flatMap { $0 } }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = NSPredicate(format: "%K IN %@", argumentArray: [first, values])
        // If several objects have the values, the oldest is used.
        request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
        request.returnsObjectsAsFaults = false
        for object in try context.fetch(request) {
            let parts = names.compactMap { object.value(forKey: $0) }.map(ObjectKey.Part.init)
            let key = ObjectKey(entity: entity.name ?? "", parts: parts)
            if drafts[key] != nil, objects[key] == nil { objects[key] = object }
        }
    }

    // MARK: Applying

    /// Creates or changes the objects of the draft; returns them, with the draft's own object last.
    mutating func apply(_ draft: ObjectDraft, ownedBy owned: NSManagedObject? = nil) throws -> [NSManagedObject] {
        let object = try object(for: draft, owned)
        if keepsExisting, created[ObjectIdentifier(object)] == nil { return [object] }
        var touched: [NSManagedObject] = []
        // A found object already has its identifying values; reading them would fetch the row of an object that is only
        // linked to.
        let isFound = draft.key != nil && draft.reference == nil && created[ObjectIdentifier(object)] == nil
        let names = isFound ? uniques.of(draft.entity) : []
        for (name, value) in draft.values where !names.contains(name) {
            guard !Self.isSame(object.value(forKey: name), value) else { continue }
            object.setValue(value, forKey: name)
            note(object)
        }
        for (name, link) in draft.links.sorted(by: { $0.key < $1.key }) {
            let current = object.value(forKey: name) as? NSManagedObject
            var target: NSManagedObject?
            if let link {
                let resolved = resolve([link], of: name, on: object)
                guard resolved else { continue }
                touched += try apply(link, ownedBy: isOwned(draft.entity, name) ? current : nil)
                target = touched.last
            }
            if target !== current {
                object.setValue(target, forKey: name)
                note(object, isLink: target != nil)
            }
        }
        for (name, members) in draft.lists.sorted(by: { $0.key < $1.key }) {
            guard resolve(members, of: name, on: object) else { continue }
            var targets: [NSManagedObject] = []
            var seen: Set<ObjectIdentifier> = []
            for member in members {
                touched += try apply(member)
                if let target = touched.last, seen.insert(ObjectIdentifier(target)).inserted { targets.append(target) }
            }
            setMembers(targets, of: name, on: object)
        }
        return touched + [object]
    }

    /// Returns whether all objects that are referred to by ID exist; otherwise the relationship is set later.
    private mutating func resolve(_ members: [ObjectDraft], of name: String, on object: NSManagedObject) -> Bool {
        let meant = members.filter(\.isReference).compactMap(\.reference)
        guard let missing = meant.first(where: { referenced[$0] == nil }),
            let relationship = object.entity.relationshipsByName[name]
        else { return true }
        unresolved.append(
            Unresolved(owner: object, relationship: relationship, targets: meant, missing: missing))
        return false
    }

    private mutating func object(for draft: ObjectDraft, _ owned: NSManagedObject?) throws -> NSManagedObject {
        if let reference = draft.reference, let object = referenced[reference] { return object }
        if let key = draft.key, let object = objects[key] {
            if let reference = draft.reference { referenced[reference] = object }
            return object
        }
        if draft.key == nil, draft.reference == nil, let owned { return owned }
        guard !draft.entity.isAbstract else {
            throw ToolkitError(
                "\(draft.entity.name ?? "") is abstract; an object of it can be found, but not made")
        }
        let object = NSManagedObject(entity: draft.entity, insertInto: context)
        created[ObjectIdentifier(object)] = draft.entity.name ?? ""
        if let key = draft.key { objects[key] = object }
        if let reference = draft.reference { referenced[reference] = object }
        return object
    }

    /// Returns whether the relationship's object belongs only to its owner and needs no identifying attributes.
    private func isOwned(_ entity: NSEntityDescription, _ name: String) -> Bool {
        guard let inverse = entity.relationshipsByName[name]?.inverseRelationship else { return false }
        return !inverse.isToMany
    }

    private mutating func setMembers(_ targets: [NSManagedObject], of name: String, on object: NSManagedObject) {
        guard let relationship = object.entity.relationshipsByName[name] else { return }
        let current = PropertyPath.members(of: object, relationship, sorted: false)
        let isSame =
            relationship.isOrdered
            ? current.elementsEqual(targets, by: ===) : Set(current) == Set(targets)
        guard !isSame else { return }
        let before = Set(current.map(ObjectIdentifier.init))
        let newCount = targets.count { !before.contains(ObjectIdentifier($0)) }
        let value: NSObject = relationship.isOrdered ? NSOrderedSet(array: targets) : NSSet(array: targets)
        object.setValue(value, forKey: name)
        note(object, isLink: false)
        linked[object.entity.name ?? "", default: 0] += newCount
    }

    private mutating func note(_ object: NSManagedObject, isLink: Bool = false) {
        let name = object.entity.name ?? ""
        if created[ObjectIdentifier(object)] == nil { updated[ObjectIdentifier(object)] = name }
        if isLink { linked[name, default: 0] += 1 }
    }

    func counts() -> [String: ImportSummary.Counts] {
        var counts: [String: ImportSummary.Counts] = [:]
        for name in created.values { counts[name, default: .init()].created += 1 }
        for name in updated.values { counts[name, default: .init()].updated += 1 }
        for (name, count) in linked { counts[name, default: .init()].linked += count }
        return counts
    }

    /// Returns whether the values are equal, so that nothing must be stored; texts are compared byte by byte.
    static func isSame(_ old: Any?, _ new: Any?) -> Bool {
        switch (old, new) {
        case (nil, nil): true
        case (let old as String, let new as String): old.utf8.elementsEqual(new.utf8)
        case (let old as NSObject, let new as NSObject): old.isEqual(new)
        case (let old as AnyHashable, let new as AnyHashable): old == new
        default: false
        }
    }
}
