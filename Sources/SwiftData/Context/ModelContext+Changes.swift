import CoreData
import Foundation

extension ModelContext {
    // MARK: What has changed

    /// The models that the next save inserts, in the order in which they were inserted.
    public var insertedModelsArray: [any PersistentModel] {
        managedObjectContext.pendingInsertions.map { model(for: $0) }
    }

    /// The models that the next save updates: one that is new or deleted is not among them.
    public var changedModelsArray: [any PersistentModel] {
        managedObjectContext.pendingUpdates.map { model(for: $0) }
    }

    /// The models that the next save deletes.
    public var deletedModelsArray: [any PersistentModel] {
        managedObjectContext.pendingDeletions.map { model(for: $0) }
    }

    /// Whether anything was inserted, changed or deleted since the last save; also by a value set to itself.
    public var hasChanges: Bool { managedObjectContext.hasChanges }

    /// Ends the event: applies delete rules, and registers the changes with the undo manager.
    public func processPendingChanges() { managedObjectContext.processPendingChanges() }

    // MARK: Inserting and deleting

    /// Inserts a model, and all models that its relationships refer to. A model of this context stays; the deletion of
    /// a model since the last save is undone.
    public func insert<T: PersistentModel>(_ model: T) {
        if let object = model.modelObject {
            _ = known(object)
            return
        }
        // An insertion may run within another one, which has the list then.
        var new = newModels
        newModels = []
        _ = object(for: model, &new)
        var next = 0
        while next < new.count {
            fill(new[next], &new)
            next += 1
        }
        // The memory is kept for the next insertion, unless there is much of it.
        if new.count > 1000 { new = [] }
        while new.popLast() != nil {}
        newModels = new
    }

    /// Deletes a model at the next save, and what its relationships' delete rules say. One that was never saved leaves
    /// the context at once.
    public func delete<T: PersistentModel>(_ model: T) {
        guard let object = model.modelObject, let context = object.managedObjectContext else {
            return
        }
        guard context === managedObjectContext else {
            return note(wrongContext("Deleting", object, context))
        }
        let wasInserted = object.isInserted
        managedObjectContext.delete(object)
        if wasInserted { managedObjectContext.processPendingChanges() }
    }

    /// A model that has just got its object, and the values to be set there.
    struct NewModel {
        let object: ModelObject
        let plan: EntityPlan
        let values: TakenValues
    }

    /// Returns the model's object, made if no context has one; `nil` if it cannot be made.
    private func object(for model: any PersistentModel, _ new: inout [NewModel]) -> ModelObject? {
        if let object = model.modelObject { return known(object) }
        guard let entity = entity(of: type(of: model)) else {
            note(
                SwiftDataError(
                    .unknownSchema,
                    "\(type(of: model)) cannot be inserted: the container's schema does not have it. Add it to the schema."
                ))
            return nil
        }
        let object = ModelObject(entity: entity, insertInto: managedObjectContext)
        let plan = plan(of: object)
        model._attach(object, self)
        object.take(model)
        new.append(NewModel(object: object, plan: plan, values: takenValues()))
        return object
    }

    /// An object that some context has or had.
    private func known(_ object: ModelObject) -> ModelObject? {
        if let context = object.managedObjectContext {
            guard context === managedObjectContext else {
                note(wrongContext("Inserting", object, context))
                return nil
            }
            if object.isDeleted { managedObjectContext.insert(object) }
            return object
        }
        guard object.objectID.isTemporaryID else {
            note(
                SwiftDataError(
                    .missingModelContext,
                    "\(object.objectID) cannot be inserted: it was deleted. Insert a new instance."))
            return nil
        }
        managedObjectContext.insert(object)
        return object
    }

    private func fill(_ model: NewModel, _ new: inout [NewModel]) {
        if let values = model.values.first { fill(model, values, &new) }
        for values in model.values.others { fill(model, values, &new) }
    }

    private func fill(_ model: NewModel, _ values: PendingValues, _ new: inout [NewModel]) {
        if values.isByName {
            for property in model.plan.properties {
                if let value = values.value(property.declaration) { fill(model, property, value, &new) }
            }
            return
        }
        // No property of the model is set in its old values any more.
        let ordered = values.ordered
        let level = model.plan.level(values.type)
        for (position, step) in level.steps.enumerated() where step.index < ordered.count {
            switch ordered[step.index] {
            case .absent: continue
            case .integer(let value) where step.kind == .plain: Int._write(value, model.object, step.slot)
            case .real(let value) where step.kind == .plain: Double._write(value, model.object, step.slot)
            case .boolean(let value) where step.kind == .plain: Bool._write(value, model.object, step.slot)
            case .text(let value) where step.kind == .plain: String._write(value, model.object, step.slot)
            case .date(let value) where step.kind == .plain: Date._write(value, model.object, step.slot)
            case .model(let target) where step.kind == .toOne:
                if let target = object(for: target, &new) { model.object.setRelatedObject(target, step.slot) }
            case let value: fill(model, level.properties[position], value.any as Any, &new)
            }
        }
    }

    private func fill(_ model: NewModel, _ property: EntityPlan.Property, _ value: Any, _ new: inout [NewModel]) {
        if let writer = property.plainWriter {
            writer(value, model.object)
        } else if let targets = property.targets {
            // An empty relationship is the value of a new object. Setting it would undo the other side's changes.
            let objects = targets(value).compactMap { object(for: $0, &new) }
            if !objects.isEmpty { relate(model.object, property, objects) }
        } else {
            write(value, property, model.object)
        }
    }

    // MARK: Setting

    /// Sets an attribute by its form.
    func write(_ value: Any, _ property: EntityPlan.Property, _ object: ModelObject) {
        guard let form = property.declaration.attributeForm else { return }
        do { object.setPropertyValue(try form.encode(value), property.slot) } catch {
            note(
                SwiftDataError(
                    .modelValidationFailure,
                    "'\(property.declaration.name)' of \(object.objectID) cannot be set: its value cannot be stored.",
                    underlying: error))
        }
    }

    /// Sets a to-one if nothing must be inserted or reported for it; returns whether it did.
    func relate(_ object: ModelObject, _ target: ModelObject?, isNil: Bool, _ slot: Int) -> Bool {
        guard slot >= 0, object.managedObjectContext === managedObjectContext,
            isNil || target?.managedObjectContext === managedObjectContext
        else { return false }
        object.setRelatedObject(target, slot)
        return true
    }

    /// Sets a relationship; models that no context has are inserted.
    func relate(_ object: ModelObject, _ targets: [any PersistentModel], _ slot: Int) {
        guard slot >= 0, object.managedObjectContext != nil, let property = plan(of: object).property(at: slot) else {
            return
        }
        var objects: [ModelObject] = []
        objects.reserveCapacity(targets.count)
        for target in targets {
            if target.modelObject == nil { insert(target) }
            guard let found = target.modelObject else { continue }
            if found.managedObjectContext === managedObjectContext {
                objects.append(found)
            } else if let other = found.managedObjectContext {
                return note(
                    wrongContext("Setting '\(property.declaration.name)' of \(object.objectID) to", found, other))
            } else {
                note(
                    SwiftDataError(
                        .missingModelContext,
                        "'\(property.declaration.name)' of \(object.objectID) cannot lead to \(found.objectID), "
                            + "which is in no context any more."))
            }
        }
        relate(object, property, objects)
    }

    private func relate(_ object: ModelObject, _ property: EntityPlan.Property, _ objects: [ModelObject]) {
        if property.isToMany {
            object.setRelatedObjects(objects, property.slot)
        } else {
            object.setRelatedObject(objects.first, property.slot)
        }
    }

    private func wrongContext(
        _ what: String, _ object: ModelObject, _ other: NSManagedObjectContext
    ) -> SwiftDataError {
        SwiftDataError(
            .missingModelContext,
            """
            \(what) \(object.objectID) is not possible here: it is in another context. Pass its persistentModelID, and use \
            model(for:) of this context.
            """)
    }
}
