import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Attributes: reading, setting, noting changes. Generated accessors and key-value coding end here.
extension NSManagedObject {
    /// The attribute's value now; the fault must have been fired.
    final func attributeValue(_ slot: Int) -> Value {
        if let uncountedValues, let live = uncountedValues._withUnsafeGuaranteedRef({ $0[slot] }) { return live }
        return committedAttribute(slot)
    }

    /// The attribute's value as last read or saved; a new object's default.
    final func committedAttribute(_ slot: Int) -> Value {
        let info = runtime.slots[slot]
        if let row {
            // What no row holds, a transient attribute's value, is its default until it is set.
            guard info.column >= 0 else { return info.attribute?.defaultValue ?? .null }
            let value = ManagedObjectValues.decode(row, column: info.column, type: info.type)
            if value.isNull, row.isUnreadable(info.column) { return missingValue(slot, row) }
            // A transformed value is made once, so that it is the same object each time.
            if info.type == .transformable, case .data(let data) = value {
                let object = transformedValue(data, slot)
                liveValues()[slot] = object
                return object
            }
            return value
        }
        if !flags.isDisjoint(with: [.inaccessible, .fault]) { return .null }
        return info.attribute?.defaultValue ?? .null
    }

    /// A value whose file could not be read with its row: read now, if the file is back, else nil.
    ///
    /// Saves leave what they do not change, so nil is not written in its place.
    final func missingValue(_ slot: Int, _ row: RowSnapshot) -> Value {
        let info = runtime.slots[slot]
        guard let store = home.store else { return .null }
        do {
            let data = try row.withBytes(info.column) { try store.source.bytes(ofStored: $0) }
            return info.type == .transformable ? transformedValue(data, slot) : .data(data)
        } catch {
            tellUnreadable(error, slot)
            return .null
        }
    }

    /// What a transformable's bytes stand for; broken ones are told and stay bytes, and the object's other values are as ever.
    final func transformedValue(_ data: Data, _ slot: Int) -> Value {
        let info = runtime.slots[slot]
        let value = Transformation.value(from: data, attribute: info)
        if case .data = value, let error = Transformation.failure(of: data, attribute: info) {
            tellUnreadable(error, slot)
        }
        return value
    }

    private final func tellUnreadable(_ error: any Error, _ slot: Int) {
        let what = "'\(runtime.slots[slot].name)' of \(runtime.name) \(primaryKey)"
        UnreadableValues.tell(error, what, home.registry?.context)
    }

    /// Whether the attribute has a value that cannot be read, and has not been set since.
    final func isUnreadable(_ slot: Int) -> Bool {
        let info = runtime.slots[slot]
        guard info.attribute != nil, values?[slot] == nil, let row, info.column >= 0 else { return false }
        return row.isUnreadable(info.column)
    }

    /// Sets an attribute as an accessor does: fires the fault, notes the old value, marks the object as changed.
    final func setAttribute(_ value: Value, _ slot: Int) {
        checkQueue(nil, slot: slot)
        fireIfNeeded(slot: slot)
        noteWidth(of: value, slot)
        withLiveValues { values in
            noteOldValue(slot, values)
            values.set(value, slot)
            markChanged(slot, values)
        }
    }

    /// Takes note of a number that the attribute is too narrow for, and of one that is none: it is kept as it was set, for
    /// validation to refuse.
    @inline(__always)
    final func noteWidth(of value: Value, _ slot: Int) {
        switch value {
        case .integer(let number):
            guard Int64(Int16(truncatingIfNeeded: number)) != number else { return }
            if !home.kinds[slot].holds(number) { flags.insert(.wideInteger) }
        case .double(let number), .date(let number): if number.isNaN { flags.insert(.wideInteger) }
        case .decimal(let number): if number.isNaN { flags.insert(.wideInteger) }
        default: break
        }
    }

    /// As ``noteWidth(of:_:)``, also of a number that no 64 bits hold, as only key-value coding can give one.
    private final func noteAnyWidth(of value: Value, _ slot: Int) -> Value {
        if case .double = value, home.kinds[slot].plainType == .integer64 { flags.insert(.wideInteger) }
        noteWidth(of: value, slot)
        return value
    }

    /// Puts a value into the object, and notes nothing of it but its width.
    final func setPrimitiveAttribute(_ value: Any?, _ slot: Int) {
        let value = ManagedObjectValues.value(from: value, slot: runtime.slots[slot], entity: runtime)
        liveValues()[slot] = noteAnyWidth(of: value, slot)
    }

    final func liveValues() -> ObjectValues { uncountedLiveValues().takeUnretainedValue() }

    @inline(__always)
    private final func uncountedLiveValues() -> Unmanaged<ObjectValues> {
        if let uncountedValues { return uncountedValues }
        let made = ObjectValues.make(slotCount: home.slotCount)
        values = made
        return .passUnretained(made)
    }

    /// Calls `body` with the values, which stay while it runs, without counting a reference.
    @inline(__always)
    private final func withLiveValues(_ body: (ObjectValues) -> Void) {
        uncountedLiveValues()._withUnsafeGuaranteedRef(body)
    }

    /// Remembers the value before this event's first change of it; most often the committed one, which is there anyway.
    final func noteOldValue(_ slot: Int) {
        guard !flags.contains(.ignoresChanges), home.isInContext else { return }
        withLiveValues { noteOldValue(slot, $0) }
    }

    @inline(__always)
    private final func noteOldValue(_ slot: Int, _ values: ObjectValues) {
        guard !flags.contains(.ignoresChanges), home.isInContext, !values.event.contains(slot) else { return }
        values.event.insert(slot)
        if values.changed.contains(slot) || values.live.contains(slot) { keepOldValue(slot, values) }
    }

    private final func keepOldValue(_ slot: Int, _ values: ObjectValues) {
        values.eventOld.append(ValueBeforeEvent(slot: slot, content: contentNow(slot)))
    }

    private final func contentNow(_ slot: Int) -> ValueBeforeEvent.Content {
        let info = runtime.slots[slot]
        if info.relationship == nil { return .attribute(attributeValue(slot)) }
        switch relations[info.relation] {
        case .toOne(let object): return .toOne(object)
        case .toMany(let members) where members.isKnown:
            members.beginJournal()
            return .toMany(members)
        case .unread, .toMany: return .unread
        }
    }

    /// Marks the object as changed by that property; the context lists it.
    final func markChanged(_ slot: Int) {
        guard !flags.contains(.ignoresChanges) else { return }
        withLiveValues { markChanged(slot, $0) }
    }

    @inline(__always)
    private final func markChanged(_ slot: Int, _ values: ObjectValues) {
        guard !flags.contains(.ignoresChanges) else { return }
        values.changed.insert(slot)
        if flags.isListedAsChanged { return }
        home.registry?.context?.noteChange(of: self)
    }

    // MARK: Any

    /// The attributes' values, in the order of their names, for messages.
    final var attributeDescriptions: String {
        let texts = runtime.slots.indices.filter { runtime.slots[$0].attribute != nil }.map { index in
            let slot = runtime.slots[index]
            let now = attributeValue(index)
            // Foundation's own description of such a date stops the program.
            if case .date(let seconds) = now, !seconds.isFinite { return "\(slot.name) = \(seconds)" }
            let value = ManagedObjectValues.any(now, slot: slot)
            return "\(slot.name) = \(value.map { String(describing: $0) } ?? "nil")"
        }
        return "{" + texts.sorted().joined(separator: "; ") + "}"
    }

    final func describedValue(_ slot: Int) -> Any? {
        checkQueue(nil, slot: slot)
        fireIfNeeded(slot: slot)
        let info = runtime.slots[slot]
        if info.attribute != nil { return ManagedObjectValues.any(attributeValue(slot), slot: info) }
        guard let relationship = info.relationship else { return fetchedPropertyValue(info) }
        if !relationship.isToMany { return toOne(slot) }
        let members = knownMembers(slot).members
        return relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
    }

    final func setAnyValue(_ value: Any?, _ slot: Int) {
        // Most values are seen to fit without looking at the property's description.
        if let value, let type = home.kinds[slot].plainType, let plain = ManagedObjectValues.plain(value, type) {
            return setAttribute(noteAnyWidth(of: plain, slot), slot)
        }
        let info = runtime.slots[slot]
        if info.attribute != nil {
            let value = ManagedObjectValues.value(from: value, slot: info, entity: runtime)
            setAttribute(noteAnyWidth(of: value, slot), slot)
        } else if let relationship = info.relationship {
            if relationship.isToMany {
                setToMany(KeyValueCoding.members(of: value, slot: info, entity: runtime), slot)
            } else {
                setToOne(KeyValueCoding.member(value, slot: info, entity: runtime), slot)
            }
        } else {
            preconditionFailure("Fetched property '\(info.name)' of entity '\(runtime.name)' cannot be set.")
        }
    }
}

/// The one place where the engine's values meet Foundation's.
enum ManagedObjectValues {
    /// The value of a column as the attribute's type makes it.
    static func decode(_ row: RowSnapshot, column: Int, type: AttributeType) -> Value {
        if row.isNull(column) { return .null }
        switch type {
        case .integer16, .integer32, .integer64, .objectID: return .integer(row.integer(column))
        case .boolean: return .integer(row.integer(column) == 0 ? 0 : 1)
        case .double, .float: return .double(row.real(column))
        case .date: return .date(row.real(column))
        case .decimal:
            return Decimal(string: row.text(column), locale: nil).map { .decimal($0) } ?? .null
        case .string: return .string(row.text(column))
        case .uri: return .uri(row.text(column))
        case .uuid:
            return row.withBytes(column) { bytes in
                guard bytes.count == 16 else { return .null }
                return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
            }
        case .binaryData, .transformable, .undefined, .composite:
            return .data(row.withBytes(column) { Data($0) })
        }
    }

    /// A value that is not a number: no column keeps one, it would be read back as nil.
    struct NotANumber: Error {}

    /// Puts the value into a column of a row in the making.
    static func encode(
        _ value: Value, slot: Int, of runtime: EntityRuntime, _ kind: ColumnKind, at column: Int,
        into builder: RowBuilder
    ) throws {
        switch value {
        case .null: builder.setNull(at: column)
        case .integer(let value):
            if kind == .real {
                builder.setReal(Double(value), at: column)
            } else {
                builder.setInteger(value, at: column)
            }
        case .double(let value):
            if value.isNaN { throw NotANumber() }
            if kind == .real {
                builder.setReal(value, at: column)
            } else {
                // A number that no integer attribute holds, where a class's own validation let it pass.
                builder.setInteger(Int64(clamping: value), at: column)
            }
        case .date(let value):
            if value.isNaN { throw NotANumber() }
            builder.setReal(value, at: column)
        case .decimal(let value):
            if value.isNaN { throw NotANumber() }
            builder.setText(value.description, at: column)
        case .string(let value), .uri(let value): builder.setText(value, at: column)
        case .data(let value): value.withUnsafeBytes { builder.setBytes($0, at: column) }
        case .uuid(let value):
            withUnsafeBytes(of: value.uuid) { builder.setBytes($0, at: column) }
        case .opaque(let box):
            let data = try Transformation.data(from: box, attribute: runtime.slots[slot])
            data.withUnsafeBytes { builder.setBytes($0, at: column) }
        }
    }

    /// The value as key-value coding gives it: `NSNumber` for numbers and booleans, `NSDecimalNumber`, `String`,
    /// `Date`, `Data`, `UUID`, `URL`, or a transformable's object.
    static func any(_ value: Value, slot: EntityRuntime.Slot) -> Any? {
        switch value {
        case .null: return nil
        case .integer(let value):
            return slot.type == .boolean ? SharedNumbers.boolean(value != 0) : SharedNumbers.integer(value)
        case .double(let value):
            return slot.type == .float ? SharedNumbers.float(Float(value)) : NSNumber(value: value)
        case .decimal(let value): return NSDecimalNumber(decimal: value)
        case .string(let value): return value
        case .date(let value): return Date(timeIntervalSinceReferenceDate: value)
        case .data(let value): return value
        case .uuid(let value): return value
        case .uri(let value): return URL(string: value)
        case .opaque(let box): return box.object
        }
    }

    /// The engine's value of what a caller set.
    ///
    /// - Precondition: it is of the attribute's type.
    static func value(from any: Any?, slot: EntityRuntime.Slot, entity: EntityRuntime) -> Value {
        guard let any else { return .null }
        if let value = plain(any, slot.type) { return value }
        if any is NSNull { return .null }
        if let value = convert(any, to: slot.type) { return value }
        // No NSNumber on this platform.
        if let number = any as? CGFloat, let value = convert(NSNumber(value: Double(number)), to: slot.type) {
            return value
        }
        preconditionFailure(
            """
            Unacceptable type of value for attribute: property = "\(slot.name)"; entity = "\(entity.name)"; \
            desired type = \(typeName(slot.type)); given type = \(Swift.type(of: any)); value = \(any).
            """)
    }

    /// A value of one of Swift's own types, or an `NSNumber`, for an attribute of the fitting type: what ``convert(_:to:)``
    /// makes of it, without casts, each of which costs more than setting the attribute.
    static func plain(_ any: Any, _ type: AttributeType) -> Value? { plain(opened: any, type) }

    private static func plain<Given>(opened value: Given, _ type: AttributeType) -> Value? {
        // The type is compared first: then the bits are a value of it.
        @inline(__always) func given<T>(_ type: T.Type) -> T? {
            Given.self == T.self ? unsafeBitCast(value, to: T.self) : nil
        }
        switch type {
        case .string: return given(String.self).map { .string($0) }
        case .integer16, .integer32, .integer64:
            if let value = given(Int.self) { return .integer(Int64(value)) }
            if let value = given(Int64.self) { return .integer(value) }
            if let value = given(Int32.self) { return .integer(Int64(value)) }
            if let value = given(Int16.self) { return .integer(Int64(value)) }
            return given(NSNumber.self).map(integer)
        case .boolean:
            if let value = given(Bool.self) { return .integer(value ? 1 : 0) }
            return given(NSNumber.self).map { .integer($0.boolValue ? 1 : 0) }
        case .double, .float:
            if let value = given(Float.self) { return .double(Double(value)) }
            // A float attribute holds what a float can.
            if let value = given(Double.self) { return .double(type == .float ? Double(Float(value)) : value) }
            if let value = given(Int.self) { return .double(type == .float ? Double(Float(value)) : Double(value)) }
            if let value = given(CGFloat.self) { return .double(type == .float ? Double(Float(value)) : Double(value)) }
            return given(NSNumber.self).map { .double(type == .float ? Double($0.floatValue) : $0.doubleValue) }
        case .date: return given(Date.self).map { .date($0.timeIntervalSinceReferenceDate) }
        default: return nil
        }
    }

    /// The value, or `nil` where `any` is not of that type.
    static func convert(_ any: Any, to type: AttributeType) -> Value? {
        switch type {
        case .integer16, .integer32, .integer64:
            if let value = any as? Int64 { return .integer(value) }
            return (any as? NSNumber).map(integer)
        case .boolean:
            if let value = any as? Bool { return .integer(value ? 1 : 0) }
            if let number = any as? NSNumber { return .integer(number.boolValue ? 1 : 0) }
            return nil
        case .double, .float:
            guard let number = any as? NSNumber else { return nil }
            // A float attribute holds what a float can: the value read back equals the value set.
            return .double(type == .float ? Double(number.floatValue) : number.doubleValue)
        case .decimal:
            if let number = any as? NSDecimalNumber { return .decimal(number.decimalValue) }
            if let decimal = any as? Decimal { return .decimal(decimal) }
            return (any as? NSNumber).map { .decimal($0.decimalValue) }
        case .string: return (any as? String).map { .string($0) }
        case .date: return (any as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
        case .binaryData: return (any as? Data).map { .data($0) }
        case .uuid: return (any as? UUID).map { .uuid($0) }
        case .uri: return (any as? URL).map { .uri($0.absoluteString) }
        case .objectID: return nil
        case .transformable, .undefined, .composite: return .opaque(Transformation.box(any))
        }
    }

    /// The whole number, or a double where no 64 bits hold it; validation refuses that.
    private static func integer(_ number: NSNumber) -> Value {
        let whole = number.int64Value
        // A number that is too great comes out as a negative one, or as none of its own.
        if whole > 0, whole < .max, type(of: number) == NSNumber.self { return .integer(whole) }
        let real = number.doubleValue
        if real.magnitude < 9.2e18 { return .integer(whole) }
        return real.magnitude <= 0x1p63 && (whole > 0) == (real > 0) ? .integer(whole) : .double(real)
    }

    static func typeName(_ type: AttributeType) -> String {
        switch type {
        case .integer16, .integer32, .integer64, .boolean, .double, .float: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: "NSString"
        case .date: "NSDate"
        case .binaryData: "NSData"
        case .uuid: "NSUUID"
        case .uri: "NSURL"
        case .objectID: "NSManagedObjectID"
        case .transformable, .undefined, .composite: "NSObject"
        }
    }
}

extension Int64 {
    /// The nearest whole number that there is; 0 for what is none.
    fileprivate init(clamping value: Double) {
        self = value.isNaN ? 0 : Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }
}
