import CoreData
import Foundation

/// Writes drafts to a store, a batch at a time: all of a batch or nothing.
///
/// A batch runs one fetch for each entity whose objects it has to find, one save, and then lets all its objects go;
/// what it found is remembered by ID, so that the unit of ten thousand items is looked up once.
final class Importer {
    /// A draft and where it came from.
    struct Entry {
        let draft: ObjectDraft
        let number: Int
        let line: Int
    }

    /// Why an entry cannot be saved.
    struct Rejection {
        let entry: Entry
        let message: String
    }

    private let context: NSManagedObjectContext
    private let plan: ImportPlan
    private var known: [ObjectKey: NSManagedObjectID] = [:]
    /// How many found objects to remember at most.
    private static let memory = 100_000

    init(_ context: NSManagedObjectContext, plan: ImportPlan) {
        self.context = context
        self.plan = plan
    }

    /// Saves all entries, or none where one is rejected.
    ///
    /// - Throws: an error of the save that is no entry's own.
    func save(_ entries: [Entry]) throws -> (counts: [String: ImportSummary.Counts], rejections: [Rejection]) {
        try context.performAndWait {
            defer { context.reset() }
            var batch = try Batch(entries.map(\.draft), known: known, plan: plan, context: context)
            var owners: [(object: NSManagedObject, entry: Entry)] = []
            var rejections: [Rejection] = []
            for entry in entries {
                do {
                    owners += try batch.apply(entry.draft).map { ($0, entry) }
                } catch let failure as ToolFailure {
                    rejections.append(Rejection(entry: entry, message: failure.message))
                }
            }
            rejections += Self.invalid(owners)
            guard rejections.isEmpty else { return ([:], rejections) }
            let counts = batch.counts()
            do {
                if context.hasChanges { try context.save() }
            } catch {
                rejections = Self.rejections(error, owners)
                guard !rejections.isEmpty else { throw error }
                return ([:], rejections)
            }
            if known.count > Self.memory { known = [:] }
            known.merge(batch.objects.mapValues(\.objectID)) { $1 }
            return (counts, [])
        }
    }

    /// The entries whose objects the model does not allow, found before the save so that each is named.
    private static func invalid(_ owners: [(object: NSManagedObject, entry: Entry)]) -> [Rejection] {
        var seen: Set<ObjectIdentifier> = []
        return owners.compactMap { object, entry in
            guard seen.insert(ObjectIdentifier(object)).inserted else { return nil }
            do {
                if object.isInserted {
                    try object.validateForInsert()
                } else if object.isUpdated {
                    try object.validateForUpdate()
                }
                return nil
            } catch { return Rejection(entry: entry, message: ErrorText.describe(error)) }
        }
    }

    /// The entries whose objects the save complained about.
    private static func rejections(
        _ error: any Error, _ owners: [(object: NSManagedObject, entry: Entry)]
    ) -> [Rejection] {
        let info = (error as NSError).userInfo
        let errors = info[NSDetailedErrorsKey] as? [any Error] ?? [error]
        return errors.flatMap { error -> [Rejection] in
            let info = (error as NSError).userInfo
            var affected = info[NSAffectedObjectsErrorKey] as? [NSManagedObject] ?? []
            if let object = info[NSValidationObjectErrorKey] as? NSManagedObject { affected.append(object) }
            return owners.filter { owner in affected.contains { $0 === owner.object } }
                .map { Rejection(entry: $0.entry, message: ErrorText.describe(error)) }
        }
    }
}

/// The objects of one batch, in a context.
private struct Batch {
    private let plan: ImportPlan
    private let context: NSManagedObjectContext
    /// Found or made, by what tells them apart.
    private(set) var objects: [ObjectKey: NSManagedObject] = [:]
    private var created: [ObjectIdentifier: String] = [:]
    private var updated: [ObjectIdentifier: String] = [:]
    private var linked: [String: Int] = [:]

    init(
        _ drafts: [ObjectDraft], known: [ObjectKey: NSManagedObjectID], plan: ImportPlan,
        context: NSManagedObjectContext
    ) throws {
        self.plan = plan
        self.context = context
        var wanted: [String: (entity: NSEntityDescription, drafts: [ObjectKey: ObjectDraft])] = [:]
        for draft in drafts {
            draft.forEach { draft in
                guard let key = draft.key else { return }
                if let id = known[key] {
                    // A row that only gets linked to need not be read.
                    objects[key] = context.object(with: id)
                } else {
                    wanted[key.entity, default: (draft.entity, [:])].drafts[key] = draft
                }
            }
        }
        for (entity, drafts) in wanted.values { try find(drafts, of: entity) }
    }

    /// One fetch: those that have one of the values of the first unique attribute.
    private mutating func find(_ drafts: [ObjectKey: ObjectDraft], of entity: NSEntityDescription) throws {
        let names = plan.uniqueAttributes(of: entity)
        guard let first = names.first else { return }
        let values = drafts.values.compactMap { $0.values[first].flatMap { $0 } }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = NSPredicate(format: "%K IN %@", argumentArray: [first, values])
        // Of several that the values fit, the oldest is meant.
        request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
        request.returnsObjectsAsFaults = false
        for object in try context.fetch(request) {
            let parts = names.compactMap { object.value(forKey: $0) }.map(ObjectKey.Part.init)
            let key = ObjectKey(entity: entity.name ?? "", parts: parts)
            if drafts[key] != nil, objects[key] == nil { objects[key] = object }
        }
    }

    /// Makes or changes the objects that the draft describes; returns those, with the draft's own last.
    mutating func apply(_ draft: ObjectDraft, ownedBy owned: NSManagedObject? = nil) throws -> [NSManagedObject] {
        let object = try object(for: draft, owned)
        var touched: [NSManagedObject] = []
        // What an object was found by it has; asking would read the row of one that is only linked to.
        let isFound = draft.key != nil && created[ObjectIdentifier(object)] == nil
        let names = isFound ? plan.uniqueAttributes(of: draft.entity) : []
        for (name, value) in draft.values where !names.contains(name) {
            guard !Self.isSame(object.value(forKey: name), value) else { continue }
            object.setValue(value, forKey: name)
            note(object)
        }
        for (name, link) in draft.links {
            let current = object.value(forKey: name) as? NSManagedObject
            var target: NSManagedObject?
            if let link {
                touched += try apply(link, ownedBy: isOwned(draft.entity, name) ? current : nil)
                target = touched.last
            }
            if target !== current {
                object.setValue(target, forKey: name)
                note(object, isLink: target != nil)
            }
        }
        for (name, members) in draft.lists {
            var targets: [NSManagedObject] = []
            for member in members {
                touched += try apply(member)
                if let target = touched.last, !targets.contains(where: { $0 === target }) { targets.append(target) }
            }
            setMembers(targets, of: name, on: object)
        }
        return touched + [object]
    }

    private mutating func object(for draft: ObjectDraft, _ owned: NSManagedObject?) throws -> NSManagedObject {
        if let key = draft.key, let object = objects[key] { return object }
        if draft.key == nil, let owned { return owned }
        guard !draft.entity.isAbstract else {
            throw ToolFailure(
                "\(draft.entity.name ?? "") is abstract; an object of it can be found, but not made")
        }
        let object = NSManagedObject(entity: draft.entity, insertInto: context)
        created[ObjectIdentifier(object)] = draft.entity.name ?? ""
        if let key = draft.key { objects[key] = object }
        return object
    }

    /// Whether the object behind the relationship is its owner's alone and needs nothing to be found by.
    private func isOwned(_ entity: NSEntityDescription, _ name: String) -> Bool {
        guard let inverse = entity.relationshipsByName[name]?.inverseRelationship else { return false }
        return !inverse.isToMany
    }

    private mutating func setMembers(_ targets: [NSManagedObject], of name: String, on object: NSManagedObject) {
        guard let relationship = object.entity.relationshipsByName[name] else { return }
        let current = PropertyPath.members(of: object, relationship)
        let isSame =
            relationship.isOrdered
            ? current.elementsEqual(targets, by: ===) : Set(current) == Set(targets)
        guard !isSame else { return }
        let newCount = targets.count { target in !current.contains { $0 === target } }
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

    /// Whether storing the new value would change nothing; texts count as equal only byte by byte.
    private static func isSame(_ old: Any?, _ new: Any?) -> Bool {
        switch (old, new) {
        case (nil, nil): true
        case (let old as String, let new as String): old.utf8.elementsEqual(new.utf8)
        case (let old as NSObject, let new as NSObject): old.isEqual(new)
        case (let old as AnyHashable, let new as AnyHashable): old == new
        default: false
        }
    }
}
