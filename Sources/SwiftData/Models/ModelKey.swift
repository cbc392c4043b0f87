import CoreData
import Synchronization

/// A property by name, that remembers where objects keep it. The accessors that the macro writes have one for each property.
///
/// See `PropertyKey` of module `CoreData`: one comparison finds the place.
public final class _ModelKey: Sendable {
    /// The property's name.
    public let name: String
    /// The identifier of the entity met last in the upper half, the slot with a mark for plain values in the lower.
    private let cache = Atomic<UInt64>(0)
    private static let plainMark: UInt64 = 0x8000_0000

    /// The key of the property of that name.
    public init(_ name: String) { self.name = name }

    /// The slot, if its values are read and written as their own type; -1 otherwise.
    @usableFromInline
    func plainSlot(in object: ModelObject, _ holder: AnyObject?) -> Int {
        let cached = cache.load(ordering: .relaxed)
        if cached >> 32 == UInt64(object.entityIdentifier) {
            return cached & Self.plainMark == 0 ? -1 : Int(cached & 0x7FFF_FFFF)
        }
        let found = find(in: object, holder)
        return found.isPlain ? found.slot : -1
    }

    /// The slot; -1 where the entity has no such property.
    func slot(in object: ModelObject, _ context: ModelContext) -> Int {
        let cached = cache.load(ordering: .relaxed)
        if cached >> 32 == UInt64(object.entityIdentifier) { return Int(cached & 0x7FFF_FFFF) }
        return find(in: object, context).slot
    }

    private func find(in object: ModelObject, _ holder: AnyObject?) -> (slot: Int, isPlain: Bool) {
        guard let slot = object.propertySlot(named: name) else { return (-1, false) }
        let plan = (holder as? ModelContext)?.plan(of: object)
        let isPlain = object.hasPlainValues(slot) && plan?.property(at: slot)?.isPlain ?? false
        cache.store(
            UInt64(object.entityIdentifier) << 32 | (isPlain ? Self.plainMark : 0) | UInt64(slot), ordering: .relaxed)
        return (slot, isPlain)
    }
}
