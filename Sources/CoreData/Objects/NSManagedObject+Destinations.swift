import CoreDataModel
import Foundation

// Destinations without a row: deleted objects, objects whose rows were deleted, objects in no context.
extension NSManagedObject {
    /// Whether a relationship of an object of that home can be saved that leads here.
    @inline(__always)
    final func isReferable(from home: ObjectHome) -> Bool {
        self.home.registryAddress == home.registryAddress && flags.isDisjoint(with: [.deleted, .inaccessible])
    }

    /// Notes that this object and the other are now related, and that one of them cannot be saved.
    @inline(never)
    final func noteDangling(_ object: NSManagedObject) {
        home.registry?.mayHaveDangling = true
        object.home.registry?.mayHaveDangling = true
    }

    /// Releases the destinations of a deleted object after its delete rules were applied. Its row refers to them until
    /// it is deleted.
    final func leaveDestinations() {
        for step in home.deleteSteps {
            let relation = Int(home.facts[step.slot].relation)
            if let members = relations.uncountedMembers(relation) {
                members._withUnsafeGuaranteedRef { $0.leave() }
            } else if relations.uncountedToOne(relation) != nil {
                relations.setToOne(relation, nil, of: home.relationCount)
            }
        }
    }

    /// Whether one of its changed relationships may refer to an object that cannot be saved.
    final var mayDangle: Bool {
        guard !relations.isEmpty, let registry = home.uncountedRegistry else { return false }
        return home.hasOneWayToOne || registry._withUnsafeGuaranteedRef { $0.mayHaveDangling }
    }

    /// Whether the only change is that another object's change removed this one from relationships.
    final var hasOnlyLost: Bool {
        if let values, !values.live.isEmpty { return false }
        return relations.allSatisfy { relation in
            switch relation {
            case .unread: true
            case .toOne(let target): target == nil
            case .toMany(let members): members.added.isEmpty && !members.isReordered
            }
        }
    }

    /// Checks changed relationships for destinations that cannot be saved. Unchanged relationships are not checked.
    final func validateDestinations(_ errors: inout [any Error]) {
        let home = home
        for relation in relations.indices {
            if let members = relations.uncountedMembers(relation) {
                let dangling = members._withUnsafeGuaranteedRef { $0.added { $0.isReferable(from: home) } }
                if !dangling.isEmpty { note(dangling, runtime.relationSlots[relation], &errors) }
            } else if let target = relations.uncountedToOne(relation) {
                let slot = runtime.relationSlots[relation]
                let isOneWay = home.facts[slot].inverse < 0
                if !isOneWay, target._withUnsafeGuaranteedRef({ $0.isReferable(from: home) }) { continue }
                validateToOne(target.takeUnretainedValue(), slot, isOneWay: isOneWay, &errors)
            }
        }
    }

    private final func validateToOne(
        _ target: NSManagedObject, _ slot: Int, isOneWay: Bool, _ errors: inout [any Error]
    ) {
        guard isChanged(slot) else { return }
        if isOneWay { target.findOutWhetherGone() }
        if !target.isReferable(from: home) { note([target], slot, &errors) }
    }

    private final func note(_ dangling: [NSManagedObject], _ slot: Int, _ errors: inout [any Error]) {
        let info = runtime.slots[slot]
        if !info.property.isTransient { errors.append(ValidationErrors.dangling(info.name, of: self, to: dangling)) }
    }

    /// Looks up the row of a destination of a one-way relationship. Such a relationship changes nothing of its
    /// destination, so no save would find that another context deleted it.
    private final func findOutWhetherGone() {
        guard isStored, !isDeleted, !flags.contains(.inaccessible), let context = managedObjectContext,
            let store = home.store, store.isAttached
        else { return }
        do {
            // While the object has a row, memory has one too, unless a save deleted it.
            if try store.source.row(primaryKey, root: home.root, staleness: -1) == nil { context.lose(self, slot: -1) }
        } catch { context.noteReadFailure(error, "\(objectID)") }
    }
}
