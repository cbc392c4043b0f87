import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Composite attributes between the dictionaries that programs have and the elements that objects and stores have.
///
///     ["street": "High Street", "geo": ["x": 1.5]]     // address.street = "High Street", address.geo.x = 1.5
///
/// A dictionary has the elements that are not nil. One of which all are is nil itself.
enum CompositeValues {
    /// What cannot be a composite attribute's value, in words.
    struct Mistake: EngineFailure {
        var message: String
    }

    typealias Element = (slot: Int, value: Value)

    /// Returns the values that the elements of a composite get when it is set. Elements that the dictionary does not
    /// name become nil.
    ///
    /// - Throws: ``Mistake`` for an unknown element name, and for a value of another type; the error names both.
    static func elements(of any: Any?, slot: Int, in entity: EntityRuntime) throws(Mistake) -> [Element] {
        let composite = entity.slots[slot]
        guard let any, !(any is NSNull), (any as? any OptionalValue)?.isNil != true else {
            return composite.leaves.map { ($0, .null) }
        }
        guard let given = any as? [String: Any] ?? (any as? NSDictionary) as? [String: Any] else {
            throw Mistake(
                message:
                    "the composite attribute '\(composite.name)' of entity '\(entity.name)' takes a dictionary of its "
                    + "elements, not \(type(of: any))")
        }
        var result: [Element] = []
        var rest = Set(given.keys)
        for slot in composite.elements {
            let element = entity.slots[slot]
            let name = element.property.elementName
            rest.remove(name)
            if element.kind == .composite {
                result += try elements(of: given[name], slot: slot, in: entity)
            } else {
                result.append((slot, try value(of: given[name], element, in: entity)))
            }
        }
        guard let unknown = rest.min() else { return result }
        throw Mistake(
            message:
                "the composite attribute '\(composite.name)' of entity '\(entity.name)' has no element '\(unknown)'; "
                + "it has: " + composite.elements.map { entity.slots[$0].property.elementName }.joined(separator: ", "))
    }

    private static func value(
        of any: Any?, _ element: EntityRuntime.Slot, in entity: EntityRuntime
    ) throws(Mistake) -> Value {
        guard let any else { return .null }
        if let value = ManagedObjectValues.acceptedValue(any, element.kind) { return value }
        throw Mistake(
            message:
                "the element '\(element.name)' of entity '\(entity.name)' takes \(ManagedObjectValues.className(element)), "
                + "not \(type(of: any))")
    }

    /// Returns the dictionary of a composite whose elements have these values; `nil` if all are nil.
    static func dictionary(
        of slot: Int, in entity: EntityRuntime, _ value: (_ element: Int) -> Value
    ) -> [String: Any]? {
        var result: [String: Any] = [:]
        for element in entity.slots[slot].elements {
            let info = entity.slots[element]
            result[info.property.elementName] =
                info.kind == .composite
                ? dictionary(of: element, in: entity, value) : ManagedObjectValues.any(value(element), slot: info)
        }
        return result.isEmpty ? nil : result
    }

    static func box(_ dictionary: [String: Any]) -> OpaqueValue {
        // Safe because the closure only compares.
        nonisolated(unsafe) let compared = dictionary
        return OpaqueValue(dictionary) { ContentEquality.areEqual(compared, $0.object) }
    }

    /// Values by names of properties, elements by their paths, as values by the names that the model has: the elements
    /// lie in the dictionaries of their composites.
    ///
    ///     nested(["name": "Ann", "address.city": "Oslo"])     // ["name": "Ann", "address": ["city": "Oslo"]]
    static func nested(_ values: [String: Any], in entity: EntityRuntime) -> [String: Any] {
        guard entity.hasComposites else { return values }
        var result = values
        for info in entity.slots where info.kind == .composite && info.property.composite == nil {
            var isThere = false
            for leaf in info.leaves where result.removeValue(forKey: entity.slots[leaf].name) != nil { isThere = true }
            guard isThere else { continue }
            result[info.name] = nested(values, info, in: entity) ?? NSNull()
        }
        return result
    }

    private static func nested(
        _ values: [String: Any], _ composite: EntityRuntime.Slot, in entity: EntityRuntime
    ) -> [String: Any]? {
        var result: [String: Any] = [:]
        for slot in composite.elements {
            let info = entity.slots[slot]
            let value: Any? = info.kind == .composite ? nested(values, info, in: entity) : values[info.name]
            if let value, !(value is NSNull) { result[info.property.elementName] = value }
        }
        return result.isEmpty ? nil : result
    }

    /// Returns an element's value in the composite that a store of the program's own class returned; nil if that is no
    /// dictionary.
    static func element(_ element: EntityRuntime.Slot, in entity: EntityRuntime, of composite: (String) -> Any?) -> Any?
    {
        let keys = element.name.split(separator: ".").map(String.init)
        guard let first = keys.first else { return nil }
        var current = composite(first)
        for key in keys.dropFirst() {
            current = (current as? [String: Any] ?? (current as? NSDictionary) as? [String: Any])?[key]
        }
        return current
    }
}

// A composite attribute has no column and no value of its own: reading it reads its elements, and setting it sets them.
extension NSManagedObject {
    /// Returns the current values of the elements.
    final func compositeValue(_ slot: Int) -> Value {
        compositeValue(slot) { attributeValue($0) }
    }

    final func compositeValue(_ slot: Int, _ value: (_ element: Int) -> Value) -> Value {
        CompositeValues.dictionary(of: slot, in: runtime, value).map { .opaque(CompositeValues.box($0)) } ?? .null
    }

    /// Whether an attribute takes the value; to set it stops the program otherwise.
    final func accepts(_ value: Any, _ slot: Int) -> Bool {
        let kind = runtime.slots[slot].kind
        if kind != .composite { return ManagedObjectValues.acceptedValue(value, kind) != nil }
        return (try? CompositeValues.elements(of: value, slot: slot, in: runtime)) != nil
    }

    /// Notes that the elements are read: reading a composite reads its elements.
    final func noteReadOfElements(_ slot: Int) {
        for leaf in runtime.slots[slot].leaves { noteRead(leaf) }
    }

    /// Sets the elements. Elements that the dictionary does not name become nil.
    final func setComposite(_ value: Any?, _ slot: Int) {
        for (element, value) in elements(of: value, slot) where attributeValue(element, fired: slot) != value {
            setAttribute(noteAnyWidth(of: value, element), element)
        }
    }

    /// Returns the element's stored value, after firing the fault.
    private final func attributeValue(_ element: Int, fired slot: Int) -> Value {
        fireIfNeeded(slot: slot)
        return attributeValue(element)
    }

    final func setPrimitiveComposite(_ value: Any?, _ slot: Int) {
        for (element, value) in elements(of: value, slot) { liveValues()[element] = noteAnyWidth(of: value, element) }
    }

    private final func elements(of value: Any?, _ slot: Int) -> [CompositeValues.Element] {
        do { return try CompositeValues.elements(of: value, slot: slot, in: runtime) } catch {
            preconditionFailure("Unacceptable type of value for attribute: \(error.message).")
        }
    }
}
