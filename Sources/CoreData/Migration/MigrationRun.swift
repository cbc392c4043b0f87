import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// One migration, object by object: the passes of ``NSMigrationManager``.
///
/// ```
///  for each mapping: objects made ──▶ for each: related ──▶ for each: the policy's own checks ──▶ all objects validated
///           └─ every few hundred objects: saved without validation, turned into faults, associations kept as keys
/// ```
/// If the new store is no database or existed before, there are no portions, and everything is saved at the end. The
/// same happens from the moment when a portion cannot be saved: later changes may correct it, and the last save reports
/// the error.
final class MigrationRun {
    private unowned let manager: NSMigrationManager
    let mappings: [NSEntityMapping]
    let source: NSManagedObjectContext
    let destination: NSManagedObjectContext
    private let stores: (source: AttachedStore, destination: AttachedStore)
    private var policies: [String: NSEntityMigrationPolicy] = [:]
    private var associations: [String: MigrationAssociations] = [:]
    private var savesPortions: Bool
    /// What portions have saved, to be validated in the end.
    private var saved = KeyRuns()

    /// The plain form of the mappings that were used; computed again for each pass over a mapping, since its policy may
    /// have changed it.
    var plain: [ObjectIdentifier: PlainMappings] = [:]
    var pairs: [PairKey: Bool] = [:]
    /// Whether the manager's class overrides nothing that concerns associations.
    let isPlainManager: Bool
    let isInferred: Bool
    /// Whether no other code sees the objects of a portion between being related and being saved.
    var neverLooks: Bool { savesPortions && isPlainManager && hasPlainPolicies }
    private let hasPlainPolicies: Bool

    /// The number of objects that other code, for example a policy, holds after their portion.
    private var heldCount = 0

    /// How many objects are in memory at a time, about.
    private static let portionSize = 512

    /// - Throws: an error if a policy's class is not in the program.
    init(
        _ manager: NSMigrationManager, _ mappings: [NSEntityMapping], from source: NSPersistentStoreCoordinator,
        to destination: NSPersistentStoreCoordinator, savesPortions: Bool
    ) throws {
        self.manager = manager
        self.mappings = mappings
        self.source = NSManagedObjectContext(.privateQueue)
        self.destination = NSManagedObjectContext(.privateQueue)
        self.source.persistentStoreCoordinator = source
        self.destination.persistentStoreCoordinator = destination
        self.savesPortions = savesPortions
        isPlainManager = type(of: manager) == NSMigrationManager.self
        isInferred = manager.mappingModel?.isInferred == true
        guard let old = source.attachedStores.first, let new = destination.attachedStores.first else {
            throw CoreDataErrors.make(NSMigrationError, "A migration needs two stores.")
        }
        stores = (old, new)
        for mapping in mappings { policies[mapping.name] = try Self.policy(of: mapping) }
        hasPlainPolicies = policies.values.allSatisfy { type(of: $0) == NSEntityMigrationPolicy.self }
    }

    private static func policy(of mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy {
        guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty else { return NSEntityMigrationPolicy() }
        guard let type = MigrationPolicyClasses.find(named: name) else {
            throw CoreDataErrors.policy(
                "No class named '\(name)' for the mapping '\(mapping.name ?? "")' is in the program.")
        }
        return type.init()
    }

    // MARK: Associations

    func associate(_ old: NSManagedObject, _ new: NSManagedObject, by mapping: String) {
        associations[mapping, default: MigrationAssociations()].add(old, new)
    }

    /// What the object has become by that mapping, or by whichever. What became of the object by the mapping of that
    /// name, or by the first that made an object of that entity of it: several may have made others.
    func destinations(
        of object: NSManagedObject, by mapping: String?, ofKind entity: NSEntityDescription? = nil
    ) -> [NSManagedObject] {
        for name in mapping.map({ [$0] }) ?? associations.keys.sorted() {
            let found = (associations[name]?.destinations(of: object) ?? [])
                .map { self.object($0, isSource: false) }
                .filter { found in entity.map { found.entity.isKindOf(entity: $0) } ?? true }
            if !found.isEmpty { return found }
        }
        return []
    }

    func sources(of object: NSManagedObject, by mapping: String) -> [NSManagedObject] {
        (associations[mapping]?.sources(of: object) ?? []).map { self.object($0, isSource: true) }
    }

    func allDestinations(by mapping: String) -> [NSManagedObject] {
        (associations[mapping]?.allDestinations ?? []).map { object($0, isSource: false) }
    }

    func allSources(by mapping: String) -> [NSManagedObject] {
        (associations[mapping]?.allSources ?? []).map { object($0, isSource: true) }
    }

    private func object(_ found: MigrationAssociations.Found, isSource: Bool) -> NSManagedObject {
        switch found {
        case .object(let object): return object
        case .key(let key):
            let (context, store) = isSource ? (source, stores.source) : (destination, stores.destination)
            return context.object(for: RowKey(entity: Int(key.entity), primaryKey: key.primaryKey), in: store)
        }
    }

    // MARK: Passes

    func run() throws {
        try source.performAndWait {
            try destination.performAndWait {
                try pass(0) { try createInstances($0, $1) }
                try pass(1) { try createRelationships($0, $1) }
                try pass(2) { mapping, policy in
                    try asking(policy, mapping, "performCustomValidation(forMapping:manager:)") {
                        try policy.performCustomValidation(forMapping: mapping, manager: manager)
                    }
                    try asking(policy, mapping, "end(_:manager:)") { try policy.end(mapping, manager: manager) }
                    finishPortion()
                }
                try finish()
            }
        }
    }

    /// Adds the mapping's name to an error of the program's own policy.
    private func asking<R>(
        _ policy: NSEntityMigrationPolicy, _ mapping: NSEntityMapping, _ method: String, _ body: () throws -> R
    ) throws -> R {
        do { return try body() } catch {
            if manager.isCancelled { throw error }
            throw CoreDataErrors.policy(error, of: policy, mapping, in: method)
        }
    }

    private func pass(_ number: Int, _ body: (NSEntityMapping, NSEntityMigrationPolicy) throws -> Void) throws {
        for (index, mapping) in mappings.enumerated() {
            try manager.step((Double(number) + Double(index) / Double(mappings.count)) / 3)
            manager.begin(mapping)
            plain = [:]
            guard let policy = policies[mapping.name] else { continue }
            try body(mapping, policy)
        }
    }

    private func createInstances(_ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy) throws {
        try asking(policy, mapping, "begin(_:with:)") { try policy.begin(mapping, with: manager) }
        if mapping.mappingType != .addEntityMappingType, mapping.mappingType != .removeEntityMappingType,
            let entity = manager.sourceEntity(for: mapping)
        {
            let keys = try keys(for: mapping, entity)
            for start in stride(from: 0, to: keys.count, by: Self.portionSize) {
                let portion = keys.keys(start..<min(keys.count, start + Self.portionSize))
                try inMemory(portion.map { .key($0) }, isSource: true) { objects in
                    for object in objects {
                        try manager.step()
                        try asking(policy, mapping, "createDestinationInstances(forSource:in:manager:)") {
                            try policy.createDestinationInstances(forSource: object, in: mapping, manager: manager)
                        }
                        if hasMany { finishPortion() }
                    }
                }
                finishPortion()
            }
        }
        try asking(policy, mapping, "endInstanceCreation(forMapping:manager:)") {
            try policy.endInstanceCreation(forMapping: mapping, manager: manager)
        }
        finishPortion()
    }

    private func createRelationships(_ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy) throws {
        // Associations that policies add meanwhile are not visited in this pass.
        let made = (associations[mapping.name]?.count ?? 0)
        var start = 0
        while start < made {
            let end = min(made, start + Self.portionSize)
            let pairs = associations[mapping.name]?.pairs(start..<end) ?? []
            try inMemory(pairs.map(\.source), isSource: true) { _ in
                try inMemory(pairs.map(\.destination), isSource: false) { objects in
                    for object in objects {
                        try manager.step()
                        try asking(policy, mapping, "createRelationships(forDestination:in:manager:)") {
                            try policy.createRelationships(forDestination: object, in: mapping, manager: manager)
                        }
                        if hasMany { finishPortion() }
                    }
                }
            }
            finishPortion()
            start = end
        }
        try asking(policy, mapping, "endRelationshipCreation(forMapping:manager:)") {
            try policy.endRelationshipCreation(forMapping: mapping, manager: manager)
        }
        finishPortion()
    }
}

// MARK: - Portions
extension MigrationRun {
    private func keys(for mapping: NSEntityMapping, _ entity: NSEntityDescription) throws -> KeyRuns {
        guard let model = source.persistentStoreCoordinator?.runtime,
            let runtime = model.entity(named: entity.name ?? "")
        else {
            return KeyRuns()
        }
        return try MappingSource(mapping, runtime, in: stores.source, of: model).keys()
    }

    /// Calls the body with the objects that have a row, and keeps the rows in memory meanwhile.
    private func inMemory(
        _ found: [MigrationAssociations.Found], isSource: Bool, _ body: ([NSManagedObject]) throws -> Void
    ) throws {
        let store = isSource ? stores.source : stores.destination
        var keys: [Int: [Int64]] = [:]
        for case .key(let key) in found { keys[Int(key.root), default: []].append(key.primaryKey) }
        var rows: [RowList] = []
        var gone: Set<MigrationAssociations.Key> = []
        for (root, keys) in keys {
            let held = try CoreDataErrors.converting {
                try store.source.heldRows(keys, root: root, staleness: -1)
            }
            for (key, index) in zip(keys, held.indices) where !held.hasRow(index) {
                gone.insert(MigrationAssociations.Key(root: root, entity: 0, primaryKey: key))
            }
            rows.append(held)
        }
        let objects = found.compactMap { found -> NSManagedObject? in
            if case .key(var key) = found, !gone.isEmpty {
                key.entity = 0
                if gone.contains(key) { return nil }
            }
            return object(found, isSource: isSource)
        }
        try withExtendedLifetime(rows) { try body(objects) }
    }

    /// Whether a portion has become more than it was meant to be: of one object many may be made, or many may be
    /// related to it.
    private var hasMany: Bool {
        savesPortions && registeredCount > heldCount + 8 * Self.portionSize
    }

    private var registeredCount: Int { source.registry.count + destination.registry.count }

    /// Saves the objects so far without validation, and keeps only their keys.
    private func finishPortion() {
        guard savesPortions else { return }
        destination.processPendingChanges()
        let new = destination.pendingChanges.inserted.filter { $0.isInserted && !$0.isDeleted }
        // Numbers that are too large for their attributes can only be reported while they are in memory.
        let changed = new + destination.pendingChanges.updated.filter(\.isUpdated)
        guard !changed.contains(where: { $0.flags.contains(.wideInteger) }) else { return savesPortions = false }
        do { try destination.saveUnvalidated() } catch { return savesPortions = false }
        for object in new where needsValidation(object.runtime.ordinal) {
            saved.append(MigrationAssociations.Key(object))
        }
        for name in associations.keys { associations[name]?.settle() }
        for context in [source, destination] {
            context.refreshAllObjects()
            context.processPendingChanges()
        }
        stores.source.cache.removeAll()
        stores.destination.cache.removeAll()
        heldCount = registeredCount
    }

    /// Validates everything, and saves the objects that are not saved yet.
    private func finish() throws {
        finishPortion()
        // Throws the error for which a portion could not be saved.
        if destination.hasChanges { try save() }
        try validate(saved)
    }

    /// Saves. With an inferred mapping, duplicates are reported with the same error as by a migration inside the
    /// database.
    private func save() throws {
        do { try destination.save() } catch let error as CocoaError
            where error.code == .managedObjectConstraintMerge && manager.mappingModel?.isAsInferred == true
        {
            let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
            guard let conflict = conflicts?.first,
                let entity = conflict.conflictingObjects.first?.entity, let url = stores.destination.store.url
            else { throw error }
            var failure = MigrationFailure.duplicates(
                of: conflict.constraint, entity: Self.owner(of: conflict.constraint, entity).name ?? "")
            failure.underlying = error
            throw CoreDataErrors.migration(failure, url: url, model: manager.destinationModel)
        }
    }

    /// Returns the entity that declares the constraint, which subentities inherit.
    private static func owner(of constraint: [String], _ entity: NSEntityDescription) -> NSEntityDescription {
        var owner = entity
        while let parent = owner.superentity, parent.storedUniquenessConstraints.contains(constraint) { owner = parent }
        return owner
    }

    /// Validates objects that were saved without validation.
    func validate(_ saved: KeyRuns) throws {
        for start in stride(from: 0, to: saved.count, by: Self.portionSize) {
            let portion = saved.keys(start..<min(saved.count, start + Self.portionSize))
            try inMemory(portion.map { .key($0) }, isSource: false) { objects in
                var errors: [any Error] = []
                for object in objects {
                    try manager.step()
                    object.willSave()
                    do { try object.validateMade() } catch { errors.append(error) }
                }
                if let error = CoreDataErrors.combined(errors) { throw error }
                if destination.hasChanges { try destination.save() }
                for object in objects { object.didSave() }
            }
            destination.refreshAllObjects()
            destination.processPendingChanges()
            stores.destination.cache.removeAll()
        }
    }

    /// Returns whether the entity's objects have any checks.
    private func needsValidation(_ entity: Int) -> Bool {
        guard let runtime = destination.persistentStoreCoordinator?.runtime.entities[entity] else { return true }
        return runtime.hasHooksOfNewObjects || !runtime.validation.isEmpty
    }
}

extension EntityRuntime {
    /// Whether the class of the entity's objects overrides a hook for objects that are made, saved or validated.
    var hasHooksOfNewObjects: Bool {
        let type = objectClass
        guard type != NSManagedObject.self else { return false }
        return ClassOverrides.overridesAnyHook(type) || members(of: type).hasValidators
    }
}
