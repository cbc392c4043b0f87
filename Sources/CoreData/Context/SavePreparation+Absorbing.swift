import CoreDataModel
import CoreDataPrimitives
import CoreDataStore

// New objects whose unique values an existing row has, under a policy by which the context wins: the store itself sets
// the new values on that row. The result is that of a merge policy, object by object. The policy is used if an observer
// could notice the difference.
extension SavePreparation {
    /// Of each new object the columns that such a row takes; empty where policies are to be asked.
    func absorptions() -> [IndexMask?] {
        guard mayAbsorb, !inserted.isEmpty, !context.isWatched else { return [] }
        var absorptions: [IndexMask?] = []
        var run: (home: ObjectHome, type: NSManagedObject.Type, constraint: IndexMask?)?
        var absorbsAny = false
        var index = 0
        inserted.forEachHeld { object in
            if run?.home !== object.home || run?.type != type(of: object) {
                run = (object.home, type(of: object), constraint(of: object))
            }
            var columns: IndexMask?
            if let constraint = run?.constraint, temporaryKeys[index] < 0, object.isUnknown {
                columns = object.setColumns(besides: constraint)
            }
            // Objects that no row absorbs come first, and most saves have no others.
            if columns != nil, !absorbsAny {
                absorbsAny = true
                absorptions = Array(repeating: nil, count: index)
                absorptions.reserveCapacity(inserted.count)
            }
            if absorbsAny { absorptions.append(columns) }
            index += 1
        }
        return absorptions
    }

    /// Returns the columns of the constraint by which rows absorb objects like this one.
    private func constraint(of object: NSManagedObject) -> IndexMask? {
        let runtime = object.runtime
        guard store.readsTarget, context.storeView.restriction == nil,
            let constraint = store.target.absorbs(entity: runtime.ordinal),
            !ClassOverrides.overridesWhatUpdatesCall(type(of: object)), !object.memberTable.hasValidators,
            // Code that holds the row's object would have to share it.
            !context.registry.hasObjects(in: object.home),
            let model = context.coordinator?.runtime, !model.hasOneWayRelationship(to: runtime.ordinal)
        else { return nil }
        return constraint
    }

    /// The objects that did not come leave the context.
    func dropAbsorbed(_ places: [Int], _ changes: inout ChangeSet) {
        guard !places.isEmpty else { return }
        let absorbed = places.map { inserted[$0] }
        for place in places { inserted[place].take(key: temporaryKeys[place]) }
        absorbed.forEachHeld { $0.flags.subtract([.inserted, .new]) }
        context.detach(absorbed)
        inserted.removeElements(at: places)
        temporaryKeys.removeElements(at: places)
        changes.insertions.removeElements(at: places)
    }
}

extension NSManagedObjectContext {
    /// Whether an observer sees each object that a save changes, or undo could restore it.
    fileprivate final var isWatched: Bool {
        if isKnownElsewhere || undoManager != nil || !observers.followers.isEmpty || registry.observations != nil {
            return true
        }
        if observers.isUnobserved { return false }
        return ContextNotification.objectsDidChange.isWanted || ContextNotification.didSave.isWanted
            || ContextNotification.didSaveObjectIDs.isWanted
    }
}

extension NSManagedObject {
    /// Whether the program has only references to the object: its ID was not requested, and no relationship refers to
    /// it.
    fileprivate final var isUnknown: Bool {
        if hasExtras, cachedID != nil { return false }
        for index in relations.indices where relations.isRead(index) {
            switch relations[index] {
            case .unread, .toOne(nil): continue
            case .toOne: return false
            case .toMany(let members): if !members.members.isEmpty { return false }
            }
        }
        return true
    }

    /// Returns the columns of the attributes that were set and are not the constraint's; `nil` if there are none or if
    /// other properties were set.
    fileprivate final func setColumns(besides constraint: IndexMask) -> IndexMask? {
        guard let changed = values?.changed else { return nil }
        var columns = IndexMask()
        for slot in changed where home.facts[slot].column >= 0 {
            guard home.facts[slot].relation < 0 else { return nil }
            let column = Int(home.facts[slot].column)
            if !constraint.contains(column) { columns.insert(column) }
        }
        for column in runtime.derivedColumns { columns.remove(column) }
        return columns.isEmpty ? nil : columns
    }
}
