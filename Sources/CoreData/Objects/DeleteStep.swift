import CoreDataModel

/// A relationship whose delete rule has an effect.
struct DeleteStep: Sendable {
    let slot: Int
    let isToMany: Bool
    /// Whether the destinations are deleted too; else they lose the object.
    let cascades: Bool
    let inverse: Int

    init?(_ index: Int, _ slot: EntityRuntime.Slot) {
        guard let relationship = slot.relationship else { return nil }
        switch relationship.deleteRule {
        case .noAction, .deny: return nil
        case .nullify where relationship.inverseSlot == nil: return nil
        case .nullify, .cascade: break
        }
        self.slot = index
        isToMany = slot.isToMany
        cascades = relationship.deleteRule == .cascade
        inverse = relationship.inverseSlot ?? -1
    }
}
