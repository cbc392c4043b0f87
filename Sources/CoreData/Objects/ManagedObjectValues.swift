import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Converts between the engine's values and Foundation's. No other file does.
enum ManagedObjectValues {
    /// The value of a column as the attribute's kind makes it; what ``RowSnapshot/value(_:_:)`` gives, without leaving
    /// the module for each column.
    static func decode(_ row: RowSnapshot, column: Int, kind: ValueKind) -> Value {
        if row.isNull(column) { return .null }
        switch kind {
        case .integer, .reference: return .integer(row.integer(column))
        case .boolean: return .integer(row.integer(column) == 0 ? 0 : 1)
        case .real, .single: return .double(row.real(column))
        case .date: return .date(row.real(column))
        case .decimal:
            return Decimal(storedText: row.text(column)).map { .decimal($0) } ?? .null
        case .text: return .string(row.text(column))
        case .link: return .uri(row.text(column))
        case .identifier: return row.withBytes(column) { UUID(bytes: $0).map { .uuid($0) } ?? .null }
        case .bytes, .object, .composite:
            return .data(row.data(column))
        }
    }

    /// A value that is not a number: no column keeps one, it would be read back as nil.
    struct NotANumber: EngineFailure {}

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
                // A number that no integer attribute can store, which the class's own validation accepted.
                builder.setInteger(Int64(clamping: value), at: column)
            }
        case .date(let value):
            if value.isNaN { throw NotANumber() }
            builder.setReal(value, at: column)
        case .decimal(let value):
            if value.isNaN { throw NotANumber() }
            builder.setText(value.description, at: column)
        case .string(let value), .uri(let value): builder.setText(value, at: column)
        case .data(let value): builder.setData(value, at: column)
        case .uuid(let value):
            value.withBytes { builder.setBytes($0, at: column) }
        case .opaque(let box):
            let data = try Transformation.data(from: box, attribute: runtime.slots[slot], of: runtime)
            builder.setData(data, at: column)
        }
    }

    /// Returns the value as key-value coding does: `NSNumber` for numbers and booleans, `NSDecimalNumber`, `String`,
    /// `Date`, `Data`, `UUID`, `URL`, or a transformable's object.
    static func any(_ value: Value, slot: EntityRuntime.Slot) -> Any? {
        // Bytes that the transformer cannot read have no type that a caller expects.
        if case .data(let data) = value, slot.type == .transformable,
            Transformation.failure(of: data, attribute: slot) != nil
        {
            return nil
        }
        return any(value, slot.kind)
    }

    static func any(_ value: Value, _ kind: ValueKind) -> Any? {
        switch value {
        case .null: return nil
        case .integer(let value):
            return kind == .boolean ? SharedNumbers.boolean(value != 0) : SharedNumbers.integer(value)
        case .double(let value):
            return kind == .single ? SharedNumbers.float(Float(value)) : NSNumber(value: value)
        case .decimal(let value): return NSDecimalNumber(decimal: value)
        case .string(let value): return value
        case .date(let value): return Date(timeIntervalSinceReferenceDate: value)
        case .data(let value): return value
        case .uuid(let value): return value
        case .uri(let value): return URL(string: value)
        case .opaque(let box): return box.object
        }
    }

    /// Returns the engine's value for a value that a caller set.
    ///
    /// - Precondition: it is of the attribute's type.
    static func value(from any: Any?, slot: EntityRuntime.Slot, entity: EntityRuntime) -> Value {
        guard let any else { return .null }
        if let value = acceptedValue(any, slot.kind) { return value }
        preconditionFailure(
            """
            Unacceptable type of value for attribute: property = "\(slot.name)"; entity = "\(entity.name)"; \
            desired type = \(className(slot)); given type = \(Swift.type(of: any)); value = \(any).
            """)
    }

    /// Returns the engine's value for a value that a caller sets; `nil` if no attribute of the kind accepts it.
    ///
    ///     acceptedValue(5, .single)                 // .double(5)
    ///     acceptedValue(NSNull(), .text)            // .null
    ///     acceptedValue(CGFloat(2), .text)          // nil
    static func acceptedValue(_ any: Any, _ kind: ValueKind) -> Value? {
        if let value = plain(any, kind) { return value }
        if any is NSNull { return .null }
        // For a transformable attribute a nil optional is an object like any other. Checking for a protocol is slow, so
        // other kinds do it only for values of another type.
        if kind.isOpaque, isNilOptional(any) { return .null }
        if let value = convert(any, to: kind) { return value }
        if !kind.isOpaque, isNilOptional(any) { return .null }
        // No NSNumber on this platform.
        return (any as? CGFloat).flatMap { convert(NSNumber(value: Double($0)), to: kind) }
    }

    /// The class of an attribute's values, as a message names it.
    static func className(_ slot: EntityRuntime.Slot) -> String { slot.type.traits.className ?? "NSObject" }

    private static func isNilOptional(_ any: Any) -> Bool { (any as? any OptionalValue)?.isNil == true }

    /// Converts a value of one of Swift's own types, or an `NSNumber`, for an attribute of a fitting type. The result
    /// is that of ``convert(_:to:)``, but without casts, each of which costs more than setting the attribute.
    static func plain(_ any: Any, _ kind: ValueKind) -> Value? { plain(opened: any, kind) }

    private static func plain<Given>(opened value: Given, _ kind: ValueKind) -> Value? {
        // The types are compared first, so the bits are a value of the type.
        @inline(__always) func given<T>(_ type: T.Type) -> T? {
            Given.self == T.self ? unsafeBitCast(value, to: T.self) : nil
        }
        switch kind {
        case .text: return given(String.self).map { .string($0) }
        case .integer:
            if let value = given(Int.self) { return .integer(Int64(value)) }
            if let value = given(Int64.self) { return .integer(value) }
            if let value = given(Int32.self) { return .integer(Int64(value)) }
            if let value = given(Int16.self) { return .integer(Int64(value)) }
            return given(NSNumber.self).map(integer)
        case .boolean:
            if let value = given(Bool.self) { return .integer(value ? 1 : 0) }
            return given(NSNumber.self).map { .integer($0.boolValue ? 1 : 0) }
        case .real, .single:
            if let value = given(Float.self) { return .double(Double(value)) }
            // A float attribute stores a float.
            if let value = given(Double.self) { return .double(kind == .single ? Double(Float(value)) : value) }
            if let value = given(Int.self) { return .double(kind == .single ? Double(Float(value)) : Double(value)) }
            if let value = given(CGFloat.self) {
                return .double(kind == .single ? Double(Float(value)) : Double(value))
            }
            return given(NSNumber.self).map { .double(kind == .single ? Double($0.floatValue) : $0.doubleValue) }
        case .date: return given(Date.self).map { .date($0.timeIntervalSinceReferenceDate) }
        default: return nil
        }
    }

    /// The value, or `nil` where `any` is not of that kind.
    private static func convert(_ any: Any, to kind: ValueKind) -> Value? {
        switch kind {
        case .integer:
            if let value = any as? Int64 { return .integer(value) }
            return (any as? NSNumber).map(integer)
        case .boolean:
            if let value = any as? Bool { return .integer(value ? 1 : 0) }
            if let number = any as? NSNumber { return .integer(number.boolValue ? 1 : 0) }
            return nil
        case .real, .single:
            guard let number = any as? NSNumber else { return nil }
            // A float attribute stores a float: the value read later equals the value set now.
            return .double(kind == .single ? Double(number.floatValue) : number.doubleValue)
        case .decimal:
            if let number = any as? NSDecimalNumber { return .decimal(number.decimalValue) }
            if let decimal = any as? Decimal { return .decimal(decimal) }
            return (any as? NSNumber).map { .decimal($0.decimalValue) }
        case .text: return (any as? String).map { .string($0) }
        case .date: return (any as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
        case .bytes: return (any as? Data).map { .data($0) }
        case .identifier: return (any as? UUID).map { .uuid($0) }
        case .link: return (any as? URL).map { .uri($0.absoluteString) }
        case .reference: return nil
        case .object, .composite: return .opaque(Transformation.box(any))
        }
    }

    /// Returns the whole number, or a double if it does not fit into 64 bits; validation refuses such a double.
    private static func integer(_ number: NSNumber) -> Value {
        let whole = number.int64Value
        // A number that is too large is returned as a negative one, or as an arbitrary one.
        if whole > 0, whole < .max, type(of: number) == NSNumber.self { return .integer(whole) }
        let real = number.doubleValue
        if real.magnitude < 9.2e18 { return .integer(whole) }
        return real.magnitude <= 0x1p63 && (whole > 0) == (real > 0) ? .integer(whole) : .double(real)
    }
}

extension Int64 {
    /// Makes the nearest whole number that exists; 0 for NaN.
    fileprivate init(clamping value: Double) {
        self = value.isNaN ? 0 : Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }
}
