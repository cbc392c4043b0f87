import CoreData
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore

extension NSManagedObjectContext {
    /// Makes a new context act as an accessor: it reads and writes only what the rules allow.
    ///
    ///     let context = container.newBackgroundContext()
    ///     try context.restrict(to: rules, as: Accessor(account: annID, groups: [home: "editor"]))
    ///     let items = try context.fetch(request)      // … WHERE t1.ZHOUSEHOLD IN (?) AND …
    ///     try context.save()                          // AccessDenied if a rule refuses a change
    ///
    /// For the context, an object that may not be read does not exist, and a value that may not be read is `nil`: in
    /// fetches, counts, dictionaries, searches, faults, relationships, key paths of predicates and sorts, history. A
    /// save is checked in its transaction, on the rows as they were and as they become. A batch update or delete
    /// changes only objects that the rules allow it to. Child contexts inherit all of it. Code that holds the
    /// coordinator or another context is not restricted.
    ///
    /// Call it before the first use. It cannot be lifted or changed: for another accessor make another context.
    ///
    /// - Throws: ``AccessError`` if a store of the coordinator is no database, or has another model than the rules; an
    ///   error if the context was used before, has a parent or no coordinator.
    ///
    /// Cost: the rules become conditions of each statement. Faults of entities with rules are read from the store, not
    /// from the cache. A save needs up to two statements for each entity and rule. Other contexts pay nothing.
    public nonisolated func restrict(to rules: AccessRules, as accessor: Accessor) throws {
        try restrict(by: AccessRestriction(CompiledAccess(rules.ruleSet, accessor)))
    }

    /// The accessor as which the context acts; `nil` for a context without restriction.
    ///
    ///     guard let account = context.accessor?.account else { … }
    public nonisolated var accessor: Accessor? { access?.accessor }

    private nonisolated var access: CompiledAccess? { (restriction as? AccessRestriction)?.access }

    /// Returns whether the accessor may do that with the object, as it is in the store.
    ///
    ///     let isEditable = try context.may(.update, item)
    ///
    /// The object must be one that the accessor may read. For an object that was not saved yet, the answer is whether
    /// the accessor may create objects of its entity at all. A context without restriction may do everything.
    ///
    /// - Throws: the errors of reading. Cost: at most two statements.
    public nonisolated func may(_ verb: AccessVerb, _ object: NSManagedObject) throws -> Bool {
        try may(verb, object, slot: nil)
    }

    /// Returns whether the accessor may read or update the property of the object, as it is in the store.
    ///
    ///     let showsPrice = try context.may(.read, "price", of: item)
    ///
    /// The rules of the property and of the entity must allow. A property that does not exist is closed.
    ///
    /// - Throws: the errors of reading. Cost: at most two statements.
    public nonisolated func may(_ verb: AccessVerb, _ property: String, of object: NSManagedObject) throws -> Bool {
        guard let access else { return true }
        let entity = object.entity.name.flatMap { access.model.entity(named: $0) }
        guard let slot = entity?.slotByName[property] else { return false }
        return try may(verb, object, slot: slot)
    }

    private nonisolated func may(_ verb: AccessVerb, _ object: NSManagedObject, slot: Int?) throws -> Bool {
        guard let access else { return true }
        guard let entity = object.entity.name.flatMap({ access.model.entity(named: $0) })?.ordinal else { return false }
        let compiler = RuleCompiler(access.rules, access.accessor)
        guard let (store, key) = storedRow(of: object) else {
            let own = slot.flatMap { compiler.ownPredicate(verb, slot: $0, of: entity) } ?? .constant(true)
            for node in [compiler.predicate(.create, entity), own] {
                if case .constant(false) = node { return false }
            }
            return true
        }
        let asked = slot.map { compiler.predicate(verb, slot: $0, of: entity) } ?? compiler.predicate(verb, entity)
        let condition = RuleCompiler.and([compiler.predicate(.read, entity), asked])
        if case .constant(false) = condition { return false }
        return try !store.keys(of: [key], where: condition).isEmpty
    }
}
