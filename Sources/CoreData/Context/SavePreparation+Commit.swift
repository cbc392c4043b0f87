import CoreDataPrimitives
import CoreDataStore

// Gives objects the written rows.
extension SavePreparation {
    func commit(_ changes: ChangeSet, _ outcome: SaveOutcome) {
        inserted.forEachPortion { portion in
            context.becomePermanent(inserted, portion, in: store, temporaryKeys: temporaryKeys)
            var index = portion.lowerBound
            inserted.forEachHeld(in: portion) { object in
                object.takeRow(HeldRow(changes.insertions[index].row))
                object.becomeClean()
                index += 1
            }
        }
        var index = 0
        written.forEachHeld { object in
            object.takeRow(HeldRow(changes.updates[index].new))
            if store.readsRowsLater { object.forgetUnaskedToOnes() }
            index += 1
        }
        updated.forEachHeld { $0.becomeClean() }
        if keepsDerived { readDerivedValues(outcome) }
        store.didSave(outcome, in: context, metadataEdits: changes.metadata == nil ? nil : metadataEdits)
        deleted.forEachHeld { $0.becomeClean() }
    }

    /// Of the changed objects with derived attributes that the store does not tell of.
    private func readDerivedValues(_ outcome: SaveOutcome) {
        var derived: [NSManagedObject] = []
        written.forEachHeld { if !$0.runtime.derivedColumns.isEmpty, !$0.isFault { derived.append($0) } }
        guard !derived.isEmpty else { return }
        let told = Set(outcome.derivedRows)
        let untold = derived.filter {
            !told.contains(RowKey(entity: $0.runtime.ordinal, primaryKey: $0.primaryKey))
        }
        if !untold.isEmpty { context.readDerivedValues(of: untold, in: store) }
    }
}

extension NSManagedObject {
    /// The row holds everything now: forgets what differed from it, keeps transient values and relationships.
    final func becomeClean() {
        if runtime.keepsValues, let values {
            var keepsSome = false
            for (index, slot) in runtime.slots.enumerated() where values[index] != nil {
                if slot.property.isTransient || slot.type == .transformable {
                    keepsSome = true
                } else {
                    values[index] = nil
                }
            }
            values.changed.removeAll()
            values.forgetRare()
            values.event.removeAll()
            if !keepsSome { self.values = nil }
        } else {
            values = nil
        }
        guard home.hasToMany else { return }
        for index in relations.indices {
            guard let members = relations.uncountedMembers(index) else { continue }
            let isKnown = members._withUnsafeGuaranteedRef { members in
                members.commit()
                return members.isKnown
            }
            if !isKnown { relations.forget(index) }
        }
    }
}
