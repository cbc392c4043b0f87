import Foundation

/// The members of a managed object class that key-value coding can use besides the entity's properties: the class's own
/// properties, and its methods `validate<Key>(_:)`.
///
/// Off Apple's platforms a getter or a method cannot be found by its name. Therefore the plugins write one subclass of
/// this for each class with such members, named after it with the prefix `_` and the suffix `Members`. It is looked up
/// by that name, so no registration is needed:
///
///     class Person: NSManagedObject {
///         @NSManaged var age: Int16
///         var isAdult: Bool { age >= 18 }
///         func validateAge(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws { … }
///     }
///     person.value(forKey: "isAdult")         // calls the getter
///     try context.save()                      // calls validateAge(_:)
///
///     final class _PersonMembers: ManagedMembers {
///         override class var managedClass: NSManagedObject.Type { Person.self }
///         override class func list(in members: inout ManagedMemberList) {
///             members.addProperty("isAdult", get: Person._isAdult)
///             members.addValidator(ofKey: "Age", Person._validateAge)
///         }
///     }
open class ManagedMembers {
    /// The class whose members are listed.
    open class var managedClass: NSManagedObject.Type { NSManagedObject.self }

    /// Lists the members that the class itself declares; those of its superclasses are found there.
    open class func list(in members: inout ManagedMemberList) {}
}

/// The list that ``ManagedMembers`` fills.
///
/// Each function takes the object first. It may be isolated to an actor. As on Apple's platforms, a caller of key-value
/// coding is trusted to be in the right isolation.
public struct ManagedMemberList {
    typealias Getter = (NSManagedObject) -> Any?
    typealias Setter = (NSManagedObject, Any?) -> Void
    typealias Validator = (NSManagedObject, AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void

    var properties: [String: ManagedMemberTable.Property] = [:]
    /// By the key with a capital, as in the method's name.
    var validators: [String: Validator] = [:]

    /// Lists a property.
    ///
    /// `get` is a `(Person) -> Any?`, for which ``value(_:)`` makes what key-value coding gives.
    public mutating func addProperty<Get>(_ key: String, get: Get) {
        // Safe because a function of a class and one of its superclass are called alike, isolated or not.
        properties[key] = .init(get: unsafeBitCast(get, to: Getter.self), set: nil)
    }

    /// Lists a property that can be set.
    ///
    /// `set` is a `(Person, Any?) -> Void`, for which ``set(_:forKey:of:_:)`` converts the value.
    public mutating func addProperty<Get, Set>(_ key: String, get: Get, set: Set) {
        // Safe because of the same.
        properties[key] = .init(get: unsafeBitCast(get, to: Getter.self), set: unsafeBitCast(set, to: Setter.self))
    }

    /// Lists a method `validate<Key>(_:)`.
    ///
    /// - Parameters:
    ///   - key: as in the method's name, with a capital.
    ///   - function: `(Person, AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void`.
    public mutating func addValidator<Function>(ofKey key: String, _ function: Function) {
        // Safe because of the same.
        validators[key] = unsafeBitCast(function, to: Validator.self)
    }

    /// What key-value coding gives for a property's value: numbers and booleans as `NSNumber`, enumerations as their
    /// raw value.
    public static func value<Value>(_ value: Value) -> Any? {
        if let optional = value as? any OptionalValue { return optional.unwrapped.flatMap { Self.value($0) } }
        if let raw = value as? any RawRepresentable, !(value is NSObject) { return Self.value(raw.rawValue) }
        return number(value) ?? value
    }

    private static func number(_ value: Any) -> NSNumber? {
        switch value {
        case is NSObject: nil
        case let value as Bool: NSNumber(value: value)
        case let value as Int: NSNumber(value: value)
        case let value as Int64: NSNumber(value: value)
        case let value as Int32: NSNumber(value: value)
        case let value as Int16: NSNumber(value: value)
        case let value as Int8: NSNumber(value: value)
        case let value as UInt: NSNumber(value: value)
        case let value as UInt64: NSNumber(value: value)
        case let value as UInt32: NSNumber(value: value)
        case let value as UInt16: NSNumber(value: value)
        case let value as UInt8: NSNumber(value: value)
        case let value as Double: NSNumber(value: value)
        case let value as Float: NSNumber(value: value)
        default: nil
        }
    }

    /// Sets a property to a value of `setValue(_:forKey:)`. If the property cannot be nil and the class overrides
    /// ``NSManagedObject/setNilValueForKey(_:)``, that method handles nil.
    ///
    /// `assign` is `{ person.nickname = $0 }`, whose parameter has the property's type.
    ///
    /// - Precondition: the value is of the property's type, or nil if the type has an empty value.
    public static func set<Value>(
        _ any: Any?, forKey key: String, of object: NSManagedObject, _ assign: (Value) -> Void
    ) {
        let any = any is NSNull ? nil : any
        let isOptional = Value.self is any ExpressibleByNilLiteral.Type
        if any == nil, !isOptional, ClassOverrides.overridesNilValue(type(of: object)) {
            return object.setNilValueForKey(key)
        }
        guard let value = TypedValue.value(any, as: Value.self) else {
            preconditionFailure(
                """
                Unacceptable type of value for property: property = "\(key)"; class = "\(type(of: object))"; desired type = \
                \(Value.self); given type = \(any.map { "\(type(of: $0))" } ?? "nil").
                """)
        }
        assign(value)
    }
}

/// The members of a class and its superclasses, by name; of several with one name, that of the most derived class.
final class ManagedMemberTable: @unchecked Sendable {
    // Safe because nothing changes once it is made, and the functions have no state.

    struct Property {
        let get: ManagedMemberList.Getter
        let set: ManagedMemberList.Setter?
    }

    private let properties: [String: Property]
    private let validators: [String: ManagedMemberList.Validator]
    let hasValidators: Bool

    init(_ type: NSManagedObject.Type) {
        var properties: [String: Property] = [:]
        var validators: [String: ManagedMemberList.Validator] = [:]
        var current: AnyClass? = type
        while let known = current as? NSManagedObject.Type, known != NSManagedObject.self {
            var list = ManagedMemberList()
            for members in Self.lists(of: known) { members.list(in: &list) }
            properties.merge(list.properties) { lower, _ in lower }
            validators.merge(list.validators) { lower, _ in lower }
            current = _getSuperclass(known)
        }
        self.properties = properties
        self.validators = validators
        hasValidators = !validators.isEmpty
    }

    /// The property that key-value coding finds for a key: of that name, or with the prefixes that getters may have.
    func property(_ key: String) -> Property? {
        if properties.isEmpty { return nil }
        if let property = properties[key] { return property }
        let capitalized = Self.capitalized(key)
        for name in ["is" + capitalized, "get" + capitalized, "_" + key] {
            if let property = properties[name] { return property }
        }
        // `isActive` of `@objc(isActive) var active`.
        guard key.hasPrefix("is"), let first = key.dropFirst(2).first, first.isUppercase else { return nil }
        return properties[first.lowercased() + key.dropFirst(3)]
    }

    func validator(ofKey key: String) -> ManagedMemberList.Validator? {
        hasValidators ? validators[Self.capitalized(key)] : nil
    }

    private static func capitalized(_ key: String) -> String { key.prefix(1).uppercased() + key.dropFirst() }
}
