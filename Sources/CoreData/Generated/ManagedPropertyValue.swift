import CoreDataModel
import CoreDataPrimitives
import Foundation

// How each Swift type is read from and written to an object. Scalars take the short way: no `Any`, no `Value`
// unless the object has changed.

extension NSManagedObject {
    @inline(__always)
    final func readInteger(_ slot: Int) -> Int64? {
        noteRead(slot)
        fireIfNeeded(slot: slot)
        if let live = values?[slot] { return Self.integer(live) }
        if let row = rowView {
            let column = Int(home.facts[slot].column)
            if column < 0 { return Self.integer(committedAttribute(slot)) }
            let word = row.integer(column)
            // The word of NULL is 0; only then is it worth asking.
            return word == 0 && row.isNull(column) ? nil : word
        }
        return Self.integer(committedAttribute(slot))
    }

    private static func integer(_ value: Value) -> Int64? {
        switch value {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value.rounded())
        default: nil
        }
    }

    @inline(__always)
    final func readDouble(_ slot: Int) -> Double? {
        noteRead(slot)
        fireIfNeeded(slot: slot)
        if let live = values?[slot] { return Self.double(live) }
        if let row = rowView {
            let column = Int(home.facts[slot].column)
            if column < 0 { return Self.double(committedAttribute(slot)) }
            let value = row.real(column)
            return value == 0 && row.isNull(column) ? nil : value
        }
        return Self.double(committedAttribute(slot))
    }

    private static func double(_ value: Value) -> Double? {
        switch value {
        case .double(let value), .date(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    final func readString(_ slot: Int) -> String? {
        noteRead(slot)
        fireIfNeeded(slot: slot)
        if let live = values?[slot] {
            if case .string(let text) = live { return text }
            return nil
        }
        if let row = rowView {
            let column = Int(home.facts[slot].column)
            if column >= 0 { return row.text(column) }
        }
        if case .string(let text) = committedAttribute(slot) { return text }
        return nil
    }

    fileprivate final func readValue(_ slot: Int) -> Value {
        noteRead(slot)
        fireIfNeeded(slot: slot)
        return attributeValue(slot)
    }
}

// MARK: Integers and booleans

extension Int16: ManagedPropertyValue {
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> Int16 {
        Int16(truncatingIfNeeded: object.readInteger(slot) ?? 0)
    }
    public static func _write(_ value: Int16, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(.integer(Int64(value)), slot)
    }
}

extension Int32: ManagedPropertyValue {
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> Int32 {
        Int32(truncatingIfNeeded: object.readInteger(slot) ?? 0)
    }
    public static func _write(_ value: Int32, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(.integer(Int64(value)), slot)
    }
}

extension Int64: ManagedPropertyValue {
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> Int64 { object.readInteger(slot) ?? 0 }
    public static func _write(_ value: Int64, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(.integer(value), slot)
    }
}

extension Int: ManagedPropertyValue {
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> Int { Int(object.readInteger(slot) ?? 0) }
    public static func _write(_ value: Int, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(.integer(Int64(value)), slot)
    }
}

extension Bool: ManagedPropertyValue {
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> Bool { (object.readInteger(slot) ?? 0) != 0 }
    public static func _write(_ value: Bool, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(.integer(value ? 1 : 0), slot)
    }
}

/// Optional numbers: nil is no value, while the plain type reads 0.
extension ManagedAttributeValue where Self: FixedWidthInteger {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> Self? {
        object.readInteger(slot).map { Self(truncatingIfNeeded: $0) }
    }
    public static func _writeOptional(_ value: Self?, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(value.map { .integer(Int64(truncatingIfNeeded: $0)) } ?? .null, slot)
    }
    public static var _empty: Self? { 0 }
}

extension Int16: ManagedAttributeValue {}
extension Int32: ManagedAttributeValue {}
extension Int64: ManagedAttributeValue {}
extension Int: ManagedAttributeValue {}

extension Bool: ManagedAttributeValue {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> Bool? {
        object.readInteger(slot).map { $0 != 0 }
    }
    public static func _writeOptional(_ value: Bool?, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(value.map { .integer($0 ? 1 : 0) } ?? .null, slot)
    }
    public static var _empty: Bool? { false }
}

// MARK: Reals

extension Double: ManagedPropertyValue {
    /// Of a date attribute: seconds since 2001.
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> Double { object.readDouble(slot) ?? 0 }
    public static func _write(_ value: Double, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(object.runtime.slots[slot].type == .date ? .date(value) : .double(value), slot)
    }
}

extension Float: ManagedPropertyValue {
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> Float { Float(object.readDouble(slot) ?? 0) }
    public static func _write(_ value: Float, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(.double(Double(value)), slot)
    }
}

extension Double: ManagedAttributeValue {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> Double? { object.readDouble(slot) }
    public static func _writeOptional(_ value: Double?, _ object: NSManagedObject, _ slot: Int) {
        if let value { _write(value, object, slot) } else { object.setAttribute(.null, slot) }
    }
    public static var _empty: Double? { 0 }
}

extension Float: ManagedAttributeValue {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> Float? {
        object.readDouble(slot).map { Float($0) }
    }
    public static func _writeOptional(_ value: Float?, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(value.map { .double(Double($0)) } ?? .null, slot)
    }
    public static var _empty: Float? { 0 }
}

extension CGFloat: ManagedPropertyValue, ManagedAttributeValue {
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> CGFloat {
        CGFloat(Double._read(object, slot))
    }
    public static func _write(_ value: CGFloat, _ object: NSManagedObject, _ slot: Int) {
        Double._write(Double(value), object, slot)
    }
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> CGFloat? {
        object.readDouble(slot).map { CGFloat($0) }
    }
    public static func _writeOptional(_ value: CGFloat?, _ object: NSManagedObject, _ slot: Int) {
        Double._writeOptional(value.map { Double($0) }, object, slot)
    }
    public static var _empty: CGFloat? { 0 }
}

// MARK: Values that can be nil

/// A type whose values are those of one attribute type; its optional is a property type, too.
public protocol ManagedAttributeValue {
    static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> Self?
    static func _writeOptional(_ value: Self?, _ object: NSManagedObject, _ slot: Int)
    /// The value as which nil is read if the property's type cannot be nil; `nil` if there is none.
    static var _empty: Self? { get }
}

extension Optional: ManagedPropertyValue where Wrapped: ManagedAttributeValue {
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> Wrapped? {
        Wrapped._readOptional(object, slot)
    }
    public static func _write(_ value: Wrapped?, _ object: NSManagedObject, _ slot: Int) {
        Wrapped._writeOptional(value, object, slot)
    }
}

extension ManagedPropertyValue where Self: ManagedAttributeValue {
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> Self {
        if let value = _readOptional(object, slot) ?? _empty { return value }
        preconditionFailure(
            "Property '\(object.runtime.slots[slot].name)' of \(object.objectID) is nil; declare it as optional.")
    }
    public static func _write(_ value: Self, _ object: NSManagedObject, _ slot: Int) {
        _writeOptional(value, object, slot)
    }
}

extension String: ManagedAttributeValue, ManagedPropertyValue {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> String? { object.readString(slot) }
    public static func _writeOptional(_ value: String?, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(value.map { .string($0) } ?? .null, slot)
    }
    public static var _empty: String? { "" }
}

extension Date: ManagedAttributeValue, ManagedPropertyValue {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> Date? {
        object.readDouble(slot).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
    public static func _writeOptional(_ value: Date?, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(value.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null, slot)
    }
    public static var _empty: Date? { Date(timeIntervalSinceReferenceDate: 0) }
}

extension Data: ManagedAttributeValue, ManagedPropertyValue {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> Data? {
        if case .data(let data) = object.readValue(slot) { return data }
        return nil
    }
    public static func _writeOptional(_ value: Data?, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(value.map { .data($0) } ?? .null, slot)
    }
    public static var _empty: Data? { Data() }
}

extension UUID: ManagedAttributeValue, ManagedPropertyValue {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> UUID? {
        if case .uuid(let uuid) = object.readValue(slot) { return uuid }
        return nil
    }
    public static func _writeOptional(_ value: UUID?, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(value.map { .uuid($0) } ?? .null, slot)
    }
    public static var _empty: UUID? { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension URL: ManagedAttributeValue, ManagedPropertyValue {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> URL? {
        if case .uri(let text) = object.readValue(slot) { return URL(string: text) }
        return nil
    }
    public static func _writeOptional(_ value: URL?, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(value.map { .uri($0.absoluteString) } ?? .null, slot)
    }
    public static var _empty: URL? { URL(fileURLWithPath: "/") }
}

extension Decimal: ManagedAttributeValue, ManagedPropertyValue {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> Decimal? {
        if case .decimal(let decimal) = object.readValue(slot) { return decimal }
        return nil
    }
    public static func _writeOptional(_ value: Decimal?, _ object: NSManagedObject, _ slot: Int) {
        object.setAttribute(value.map { .decimal($0) } ?? .null, slot)
    }
    public static var _empty: Decimal? { 0 }
}

extension ManagedAttributeValue where Self: NSObject {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> Self? {
        object.anyValue(slot) as? Self ?? object.liveMembers(slot) as? Self
    }
    public static func _writeOptional(_ value: Self?, _ object: NSManagedObject, _ slot: Int) {
        object.setAnyValue(value, slot)
    }
    public static var _empty: Self? { nil }
}

/// A number that is not a scalar (`usesScalarValueType` NO), a decimal, a relationship's destinations: as a copy, or
/// live if the property's type is mutable.
extension NSNumber: ManagedAttributeValue {}
extension NSSet: ManagedAttributeValue {}
extension NSOrderedSet: ManagedAttributeValue {}

// MARK: Relationships

extension NSManagedObject: ManagedAttributeValue {
    public static func _readOptional(_ object: NSManagedObject, _ slot: Int) -> Self? {
        object.noteRead(slot)
        object.fireIfNeeded(slot: slot)
        guard let target = object.toOne(slot) else { return nil }
        // The class itself, by far most often; a cast asks the runtime.
        return type(of: target) == Self.self ? unsafeDowncast(target, to: Self.self) : target as? Self
    }
    public static func _writeOptional(_ value: NSManagedObject?, _ object: NSManagedObject, _ slot: Int) {
        object.setToOne(value, slot)
    }
    public static var _empty: Self? { nil }
}

extension Set: ManagedPropertyValue where Element: NSManagedObject {
    /// Returns a copy of the current members.
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> Set<Element> {
        object.noteRead(slot)
        object.fireIfNeeded(slot: slot)
        return Set(object.knownMembers(slot).members.lazy.compactMap { $0 as? Element })
    }
    public static func _write(_ value: Set<Element>, _ object: NSManagedObject, _ slot: Int) {
        object.setToMany(Array(value), slot)
    }
}

extension Array: ManagedPropertyValue where Element: NSManagedObject {
    /// Returns a copy of the current members, in order.
    public static func _read(_ object: NSManagedObject, _ slot: Int) -> [Element] {
        object.noteRead(slot)
        object.fireIfNeeded(slot: slot)
        return object.knownMembers(slot).members.compactMap { $0 as? Element }
    }
    public static func _write(_ value: [Element], _ object: NSManagedObject, _ slot: Int) {
        object.setToMany(value, slot)
    }
}

// MARK: To-many mutations

extension NSManagedObject {
    /// Adds a member. Implements a generated `addToItems(_:)`.
    public final func add<Value>(_ member: NSManagedObject, to key: PropertyKey<Value>) {
        addMember(member, key.slot(in: self))
    }

    /// Removes a member. Implements a generated `removeFromItems(_:)`.
    public final func remove<Value>(_ member: NSManagedObject, from key: PropertyKey<Value>) {
        removeMember(member, key.slot(in: self))
    }

    /// Inserts a member at a position of an ordered relationship. Implements a generated `insertIntoItems(_:at:)`.
    public final func insert<Value>(_ member: NSManagedObject, into key: PropertyKey<Value>, at index: Int) {
        addMember(member, key.slot(in: self), at: index)
    }

    /// Returns the number of members of a to-many relationship, without copying them.
    public final func count<Value>(of key: PropertyKey<Value>) -> Int {
        let slot = key.slot(in: self)
        noteRead(slot)
        fireIfNeeded(slot: slot)
        return knownMembers(slot).count
    }
}
