import CoreData
import Synchronization

/// A property by name, that remembers where objects keep it. The accessors that the macro writes have one for each
/// property.
///
/// See `PropertyKey` of module `CoreData`: one comparison finds the place.
public final class _ModelKey: Sendable {
    /// The property's name.
    public let name: String
    /// The upper half has the identifier of the last entity. The lower half has the slot, that of the raw value, and
    /// which of them may be read and written as their own type.
    private let cache = Atomic<UInt64>(0)
    private static let plainMark: UInt64 = 0x8000_0000
    private static let rawMark: UInt64 = 0x4000_0000
    private static let slotMask: UInt64 = 0x7FFF
    private static let rawShift: UInt64 = 15

    /// The key of the property of that name.
    public init(_ name: String) { self.name = name }

    /// The slot, if the object is of the last entity, and values are read and written as their own type; -1 otherwise.
    @usableFromInline
    func plainSlot(of object: ModelObject) -> Int {
        let cached = cache.load(ordering: .relaxed)
        guard cached >> 32 == UInt64(object.entityIdentifier), cached & Self.plainMark != 0 else { return -1 }
        return Int(cached & Self.slotMask)
    }

    /// The slot of an enumeration's raw value, as ``plainSlot(of:)``.
    @usableFromInline
    func rawSlot(of object: ModelObject) -> Int {
        let cached = cache.load(ordering: .relaxed)
        guard cached >> 32 == UInt64(object.entityIdentifier), cached & Self.rawMark != 0 else { return -1 }
        return Int((cached >> Self.rawShift) & Self.slotMask)
    }

    /// The slot, if its values are read and written as their own type; -1 otherwise.
    func plainSlot(in object: ModelObject, _ holder: AnyObject?) -> Int {
        let place = place(in: object, holder)
        return place & Self.plainMark == 0 ? -1 : Int(place & Self.slotMask)
    }

    /// The slot of an enumeration's raw value, if that is read as its own type; -1 otherwise.
    func rawSlot(in object: ModelObject, _ holder: AnyObject?) -> Int {
        let place = place(in: object, holder)
        return place & Self.rawMark == 0 ? -1 : Int((place >> Self.rawShift) & Self.slotMask)
    }

    /// Returns the slot; -1 if the entity has no such property.
    func slot(in object: ModelObject, _ context: ModelContext) -> Int {
        let cached = cache.load(ordering: .relaxed)
        if cached >> 32 == UInt64(object.entityIdentifier) { return Int(cached & Self.slotMask) }
        return object.propertySlot(named: name) == nil ? -1 : Int(find(in: object, context) & Self.slotMask)
    }

    @inline(__always)
    private func place(in object: ModelObject, _ holder: AnyObject?) -> UInt64 {
        let cached = cache.load(ordering: .relaxed)
        return cached >> 32 == UInt64(object.entityIdentifier) ? cached : find(in: object, holder)
    }

    /// Returns the position, which is cached; 0 if the entity has no such property.
    @inline(never)
    private func find(in object: ModelObject, _ holder: AnyObject?) -> UInt64 {
        guard let slot = object.propertySlot(named: name) else { return 0 }
        var place = UInt64(object.entityIdentifier) << 32 | UInt64(slot)
        if let property = (holder as? ModelContext)?.plan(of: object).property(at: slot) {
            if property.isPlain, object.hasPlainValues(slot) {
                place |= Self.plainMark
            } else if property.rawSlot >= 0 {
                place |= Self.rawMark | UInt64(property.rawSlot) << Self.rawShift
            }
        }
        cache.store(place, ordering: .relaxed)
        return place
    }
}
