import CoreData
import Foundation

/// Writes drafts to a store in batches, each completely or not at all.
///
/// A batch runs one fetch per entity whose objects it must find, then one save, and then releases all its objects.
/// Found objects are remembered by ID, so that the unit of ten thousand items is looked up once.
///
/// A record may refer to an object whose record follows later. An optional relationship is then set at the end, by
/// ``linkLater()``. For a required one, the batch waits for that record.
final class DraftSaver {
    /// A draft and the location of its record.
    struct Entry {
        let draft: ObjectDraft
        let number: Int
        let line: Int
        /// The file's name in messages.
        let file: String
    }

    /// The reason why an entry cannot be saved.
    struct Rejection {
        let entry: Entry
        let message: String
    }

    /// The result of saving a batch.
    enum Outcome {
        case saved([String: ImportSummary.Counts])
        /// Nothing was saved because of these entries.
        case rejected([Rejection])
        /// Nothing was saved: an object needs another one whose record was not read yet.
        case waiting
    }

    private let context: NSManagedObjectContext
    private let uniques: UniqueAttributes
    private let keepsExisting: Bool
    private var known = KnownObjects()
    /// Relationships with missing objects, by owner.
    private var pending: [PendingLink] = []
    /// The number of relationships that are set together at the end.
    private static let linkCount = 500

    /// - Parameter context: a context that only the saver uses.
    init(_ context: NSManagedObjectContext, uniques: UniqueAttributes, keepsExisting: Bool) {
        self.context = context
        self.uniques = uniques
        self.keepsExisting = keepsExisting
        let store = context.persistentStoreCoordinator?.persistentStores.first
        known.store = store?.identifier?.uppercased() ?? ""
    }

    /// Saves all entries, or none if one is rejected.
    ///
    /// - Parameter isLast: whether there are no more records.
    /// - Throws: an error of the save that concerns no single entry.
    func save(_ entries: [Entry], isLast: Bool) throws -> Outcome {
        try context.performAndWait {
            defer { context.reset() }
            var batch = try ImportBatch(entries.map(\.draft), known: known, uniques: uniques, context: context)
            batch.keepsExisting = keepsExisting
            var owners: [(object: NSManagedObject, entry: Entry)] = []
            var rejections: [Rejection] = []
            for entry in entries {
                let firstUnresolved = batch.unresolved.count
                do {
                    owners += try batch.apply(entry.draft).map { ($0, entry) }
                } catch let failure as ToolkitError {
                    rejections.append(Rejection(entry: entry, message: failure.message))
                }
                if let needed = batch.unresolved[firstUnresolved...].first(where: \.isRequired) {
                    guard isLast else { return .waiting }
                    rejections.append(Rejection(entry: entry, message: needed.message))
                }
            }
            if rejections.isEmpty { rejections += Self.invalid(owners) }
            guard rejections.isEmpty else { return .rejected(rejections) }
            let counts = batch.counts()
            do {
                if context.hasChanges { try context.save() }
            } catch {
                rejections = Self.rejections(error, owners)
                guard !rejections.isEmpty else { throw error }
                return .rejected(rejections)
            }
            known.add(batch)
            pending += batch.unresolved.map(PendingLink.init)
            return .saved(counts)
        }
    }

    /// Sets the relationships to objects whose records followed those of their owners.
    ///
    /// - Returns: the number of relationships set, by entity, and those whose objects are missing.
    func linkLater() throws -> (counts: [String: ImportSummary.Counts], missing: [String]) {
        var counts: [String: ImportSummary.Counts] = [:]
        var missing: [String] = []
        for start in stride(from: 0, to: pending.count, by: Self.linkCount) {
            let part = pending[start..<min(start + Self.linkCount, pending.count)]
            try context.performAndWait {
                defer { context.reset() }
                for link in part {
                    let (count, absent) = try link.set(in: context, known)
                    counts[link.entity, default: .init()].linked += count
                    missing += absent
                }
                if context.hasChanges { try context.save() }
            }
        }
        pending = []
        return (counts, missing)
    }

    /// Returns the entries whose objects are invalid; checked before the save, so that each can be reported.
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
            } catch { return Rejection(entry: entry, message: message(error, of: object)) }
        }
    }

    /// Returns the entries whose objects the save's error names.
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
                .map { Rejection(entry: $0.entry, message: message(error, of: $0.object)) }
        }
    }

    /// Returns the error's message with entity and property: a validation error alone uses the model's localised names.
    private static func message(_ error: any Error, of object: NSManagedObject) -> String {
        let info = (error as NSError).userInfo
        if let details = info[NSDetailedErrorsKey] as? [any Error], !details.isEmpty {
            return details.map { message($0, of: object) }.joined(separator: "\n")
        }
        let text = ErrorMessage.text(of: error)
        guard let key = info[NSValidationKeyErrorKey] as? String else { return text }
        return "\(object.entity.name ?? "").\(key): \(text)"
    }
}

/// Remembers the objects of earlier batches by their keys in the file.
struct KnownObjects {
    /// The store's UUID.
    var store = ""
    private(set) var byKey: [ObjectKey: NSManagedObjectID] = [:]
    private(set) var byReference: [ObjectReference: NSManagedObjectID] = [:]
    /// The maximum number of remembered objects found by key; those with an ID in the file are all remembered.
    private static let memory = 100_000

    fileprivate mutating func add(_ batch: ImportBatch) {
        if byKey.count > Self.memory { byKey = [:] }
        byKey.merge(batch.objects.mapValues(\.objectID)) { $1 }
        byReference.merge(batch.referenced.mapValues(\.objectID)) { $1 }
    }
}

/// A relationship whose objects follow later.
private struct PendingLink {
    private let owner: NSManagedObjectID
    private let relationship: String
    private let targets: [ObjectReference]
    var entity: String { owner.entity.name ?? "" }

    init(_ unresolved: ImportBatch.Unresolved) {
        owner = unresolved.owner.objectID
        relationship = unresolved.relationship.name
        targets = unresolved.targets
    }

    func set(in context: NSManagedObjectContext, _ known: KnownObjects) throws -> (count: Int, missing: [String]) {
        let object = context.object(with: owner)
        guard let description = object.entity.relationshipsByName[relationship] else { return (0, []) }
        let found = targets.compactMap { known.byReference[$0].map(context.object) }
        let missing = targets.filter { known.byReference[$0] == nil }.map { "\(entity).\(relationship) → \($0.text)" }
        let current = PropertyPath.members(of: object, description, sorted: false)
        let isSame = description.isOrdered ? current.elementsEqual(found, by: ===) : Set(current) == Set(found)
        guard !isSame, !found.isEmpty else { return (0, missing) }
        let value: NSObject =
            !description.isToMany
            ? found[0] : description.isOrdered ? NSOrderedSet(array: found) : NSSet(array: found)
        object.setValue(value, forKey: relationship)
        let before = Set(current.map(ObjectIdentifier.init))
        return (found.count { !before.contains(ObjectIdentifier($0)) }, missing)
    }
}
