import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Converts between values of users and operands of the predicate language. No other file does.
package enum OperandBridging {
    /// A value as an operand.
    ///
    /// Numbers, booleans, text, dates, data, UUIDs, URLs, their Foundation classes, collections and dictionaries of
    /// them become values; managed objects and their IDs stay themselves; `nil` and `NSNull` are nil. Any other
    /// object or struct is looked into by the names of its stored properties.
    package static func operand(from value: Any?) -> Operand {
        // The common case first, by its class: to ask for a protocol takes several times as long.
        if let object = value as? NSManagedObject { return .object(object) }
        if let object = value as? any PredicateObject { return .object(object) }
        // Optionals are looked through.
        guard let value = unwrapped(value) else { return .null }
        if let scalar = scalar(value) { return .value(scalar) }
        if let id = value as? any TypedObjectID, let known = id.knownID { return .object(known) }
        if let (members, isOrdered) = collection(value, operand) { return .collection(members, isOrdered: isOrdered) }
        if let entries = entries(of: value) {
            return .dictionary(entries.map { (key: operand(from: $0.key), value: operand(from: $0.value)) })
        }
        return .object(ReflectedObject(value))
    }

    /// A value as a constant of a predicate.
    package static func constant(_ value: Any?) -> Constant {
        if let object = value as? any PredicateObject { return .object(object) }
        guard let value = unwrapped(value) else { return .value(.null) }
        if let scalar = scalar(value) { return .value(scalar) }
        if let id = value as? any TypedObjectID, let known = id.knownID { return .object(known) }
        if let (members, isOrdered) = collection(value, constant) { return .collection(members, isOrdered: isOrdered) }
        if let entries = entries(of: value) {
            return .dictionary(entries.map { (key: constant($0.key), value: constant($0.value)) })
        }
        return .value(.opaque(opaque(value)))
    }

    /// A value or an `NSExpression` as an expression; a collection with expressions in it is an aggregate.
    package static func expression(_ value: Any?) -> ExpressionNode {
        if let expression = value as? NSExpression { return expression.node }
        if let elements = value as? [Any], elements.contains(where: { $0 is NSExpression }) {
            return .aggregate(elements.map(expression))
        }
        return .constant(constant(value))
    }

    /// A value as the argument of a format.
    package static func formatArgument(_ value: Any) -> FormatArgument {
        switch expression(value) {
        case .constant(let constant): .constant(constant)
        case let expression: .expression(expression)
        }
    }

    /// Variables by name, as an evaluation needs them.
    package static func variables(_ dictionary: NSDictionary?) -> [String: Operand] {
        var variables: [String: Operand] = [:]
        for (key, value) in dictionary ?? [:] {
            if let name = key as? String { variables[name] = operand(from: value) }
        }
        return variables
    }

    // MARK: Back

    /// An operand as a value for the user: numbers as `NSNumber` and `NSDecimalNumber`, ordered collections as
    /// arrays and others as `NSSet`, with `NSNull` for nil inside; nil itself as `nil`.
    package static func any(from operand: Operand) -> Any? {
        switch operand {
        case .value(let value): return any(from: value)
        case .object(let object): return (object as? ReflectedObject)?.value ?? object
        case .collection(let members, let isOrdered):
            let values = members.map { any(from: $0) ?? NSNull() }
            return isOrdered ? values : NSSet(array: values)
        case .dictionary(let entries):
            var dictionary: [AnyHashable: Any] = [:]
            for entry in entries {
                guard let key = any(from: entry.key) as? AnyHashable else { continue }
                dictionary[key] = any(from: entry.value) ?? NSNull()
            }
            return dictionary
        }
    }

    package static func any(from value: Value) -> Any? {
        switch value {
        case .null: nil
        case .integer(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .decimal(let number): NSDecimalNumber(decimal: number)
        case .string(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .uri(let text): URL(string: text) ?? text
        case .opaque(let box): box.object
        }
    }

    // MARK: Parts

    /// The value inside optionals and type-erasing boxes; `nil` for `NSNull`.
    private static func unwrapped(_ value: Any?) -> Any? {
        guard let value else { return nil }
        if let optional = value as? any OptionalValue { return unwrapped(optional.unwrapped) }
        if let hashable = value as? AnyHashable, type(of: value) == AnyHashable.self { return unwrapped(hashable.base) }
        return value is NSNull ? nil : value
    }

    /// One value of an attribute's type; `nil` for anything else.
    package static func scalar(_ value: Any) -> Value? {
        if let native = nativeScalar(value) { return native }
        return switch value {
        case let value as NSString: .string(String(describing: value))
        case let value as NSDecimalNumber: .decimal(value.decimalValue)
        case let value as NSNumber: number(value)
        case let value as NSDate: .date(value.timeIntervalSinceReferenceDate)
        case let value as NSData: .data(Data(referencing: value))
        case let value as NSUUID: UUID(uuidString: value.uuidString).map { .uuid($0) }
        case let value as NSURL: .uri(value.absoluteString)
        default: nil
        }
    }

    /// A value of one of Swift's own types. The type is asked for first: a cast would turn an `NSNumber` of 1.0
    /// into an integer, and be slower.
    private static func nativeScalar(_ value: Any) -> Value? {
        let type = type(of: value)
        if type == String.self { return (value as? String).map { .string($0) } }
        if type == Int.self { return (value as? Int).map { .integer(Int64($0)) } }
        if type == Double.self { return (value as? Double).map { .double($0) } }
        if type == Bool.self { return (value as? Bool).map { .integer($0 ? 1 : 0) } }
        if type == Date.self { return (value as? Date).map { .date($0.timeIntervalSinceReferenceDate) } }
        if type == UUID.self { return (value as? UUID).map { .uuid($0) } }
        if type == Data.self { return (value as? Data).map { .data($0) } }
        if type == URL.self { return (value as? URL).map { .uri($0.absoluteString) } }
        if type == Decimal.self { return (value as? Decimal).map { .decimal($0) } }
        if type == Substring.self { return (value as? Substring).map { .string(String($0)) } }
        if type == Character.self { return (value as? Character).map { .string(String($0)) } }
        if type is any FixedWidthInteger.Type, let integer = value as? any FixedWidthInteger { return number(integer) }
        if type == Float.self { return (value as? Float).map { .double(Double($0)) } }
        if type == CGFloat.self { return (value as? CGFloat).map { .double(Double($0)) } }
        return nil
    }

    private static func number(_ integer: some FixedWidthInteger) -> Value {
        if let fits = Int64(exactly: integer) { return .integer(fits) }
        return Decimal(string: integer.description).map { .decimal($0) } ?? .double(Double(integer))
    }

    private static func number(_ number: NSNumber) -> Value {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): return .double(number.doubleValue)
        case UInt8(ascii: "Q"):
            let value = number.uint64Value
            return Int64(exactly: value).map { .integer($0) } ?? .decimal(Decimal(value))
        default: return .integer(number.int64Value)
        }
    }

    private static func collection<Member>(
        _ value: Any, _ bridge: (Any?) -> Member
    ) -> (members: [Member], isOrdered: Bool)? {
        switch value {
        case let value as [Any]: (value.map(bridge), true)
        case let value as NSArray: (value.map(bridge), true)
        case let value as NSOrderedSet: (value.map(bridge), true)
        case let value as NSSet: (value.map(bridge), false)
        case let value as any SetValue: (value.anyMembers.map(bridge), false)
        default: nil
        }
    }

    private static func entries(of value: Any) -> [(key: Any, value: Any)]? {
        switch value {
        case let value as [String: Any]: value.map { (key: $0.key, value: $0.value) }
        case let value as NSDictionary: value.map { (key: $0.key, value: $0.value) }
        case let value as [AnyHashable: Any]: value.map { (key: $0.key, value: $0.value) }
        default: nil
        }
    }

    /// Returns a box whose equality is the value's, by `Hashable` or `isEqual`, else by identity.
    package static func opaque(_ value: Any) -> OpaqueValue {
        // Safe because the engine never changes a value and compares it only.
        nonisolated(unsafe) let value = value
        return OpaqueValue(value) { other in
            guard let value = value as? AnyHashable, let other = other.object as? AnyHashable else {
                return (value as AnyObject) === (other.object as AnyObject)
            }
            return value == other
        }
    }
}

/// A set, looked into without knowing its members' type.
private protocol SetValue {
    var anyMembers: [Any] { get }
}

extension Set: SetValue {
    fileprivate var anyMembers: [Any] { map { $0 } }
}
