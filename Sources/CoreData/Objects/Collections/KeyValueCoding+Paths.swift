import CoreDataPredicate
import CoreDataPrimitives
import Foundation

// Key-value coding along a path: objects, collections, dictionaries, values. Unlike predicates, it flattens nothing,
// and it calls an object's own `value(forKey:)`, which may be overridden.
extension KeyValueCoding {
    /// The value at a path; `nil` as soon as something on the way is nil.
    ///
    /// - Precondition: every key is known.
    static func value(of owner: Any?, at path: String) -> Any? {
        guard path.utf8.contains(UInt8(ascii: ".")) || path.hasPrefix("@") else {
            return owner.flatMap { value(of: $0, forKey: path) }
        }
        return value(of: owner, at: path.split(separator: ".").map(String.init)[...])
    }

    private static func value(of owner: Any?, at path: ArraySlice<String>) -> Any? {
        var current = owner
        var rest = path
        while let key = rest.popFirst() {
            guard let owner = current, !(owner is NSNull) else { return nil }
            // An element that a composite attribute does not have is a mistake like any other unknown key.
            if let object = owner as? NSManagedObject, object.runtime.hasComposites,
                let found = object.runtime.slot(at: [key] + rest),
                object.runtime.slots[found.slot].property.composite != nil
            {
                rest = found.rest
                current = object.value(forKey: object.runtime.slots[found.slot].name)
                continue
            }
            if let name = CollectionOperator(key: key), let members = Members(owner) {
                return name.value(of: members, at: rest)
            }
            current = value(of: owner, forKey: key)
        }
        return current
    }

    /// What anything answers for one key.
    static func value(of owner: Any, forKey key: String) -> Any? {
        if let object = owner as? NSManagedObject { return object.value(forKey: key) }
        if let dictionary = owner as? NSDictionary { return entry(key, of: dictionary) }
        if let id = owner as? NSManagedObjectID, key == "persistentStore" { return id.persistentStore }
        if let members = Members(owner) { return members.value(forKey: key) }
        do {
            return OperandBridging.any(
                from: try KeyPathReader.value(of: [key][...], in: OperandBridging.operand(from: owner)))
        } catch { stop(error) }
    }

    /// Returns a collection's value for one key; `NSNull` for nil.
    static func values(of collection: Any, forKey key: String) -> Any { value(of: collection, forKey: key) ?? NSNull() }

    /// Returns a dictionary's value for one key.
    static func entry(_ key: String, of dictionary: NSDictionary) -> Any? {
        switch key {
        case "@count": NSNumber(value: dictionary.count)
        case "@allKeys": dictionary.allKeys
        case "@allValues": dictionary.allValues
        default: dictionary.object(forKey: key)
        }
    }

    /// Sets the last key of the path on the value that the rest of the path refers to, on each member of a collection.
    /// Does nothing if that value is nil.
    static func set(_ value: Any?, of owner: Any?, at path: String) {
        guard let dot = path.lastIndex(of: ".") else {
            if let owner { set(value, of: owner, forKey: path) }
            return
        }
        if let dictionary = owner as? NSMutableDictionary { return set(value, in: dictionary, at: path) }
        if !path.utf8.contains(UInt8(ascii: "@")) {
            return set(value, of: owner, at: path.split(separator: ".").map(String.init))
        }
        if let last = Self.value(of: owner, at: String(path[..<dot])) {
            set(value, of: last, forKey: String(path[path.index(after: dot)...]))
        }
    }

    private static func set(_ value: Any?, of owner: Any?, at keys: [String]) {
        var current = owner
        for (index, key) in keys.enumerated() {
            guard let owner = current, !(owner is NSNull) else { return }
            if index == keys.count - 1 { return set(value, of: owner, forKey: key) }
            if setElement(value, of: owner, at: keys[index...]) { return }
            current = Self.value(of: owner, forKey: key)
        }
    }

    /// Sets the element of a composite attribute that the keys refer to, on each member of a collection. Returns
    /// `false` if the keys refer to no element.
    private static func setElement(_ value: Any?, of owner: Any, at keys: ArraySlice<String>) -> Bool {
        if let object = owner as? NSManagedObject {
            guard object.runtime.hasComposites, let found = object.runtime.slot(at: keys), found.rest.isEmpty,
                object.runtime.slots[found.slot].property.composite != nil
            else { return false }
            object.setValue(value, forKey: object.runtime.slots[found.slot].name)
            return true
        }
        guard let members = Members(owner), let first = members.all.first as? NSManagedObject,
            first.runtime.hasComposites
        else { return false }
        return members.all.reduce(false) { setElement(value, of: $1, at: keys) || $0 }
    }

    /// Sets one key, which may have dots in it.
    static func set(_ value: Any?, of owner: Any, forKey key: String) {
        if let object = owner as? NSManagedObject { return object.setValue(value, forKey: key) }
        if let dictionary = owner as? NSMutableDictionary {
            if let value { dictionary[key] = value } else { dictionary.removeObject(forKey: key) }
            return
        }
        guard let members = Members(owner) else {
            preconditionFailure("\(type(of: owner)) is not key value coding-compliant for setting the key \"\(key)\".")
        }
        for member in members.all where !(member is NSNull) { set(value, of: member, forKey: key) }
    }

    /// A dictionary in a dictionary is given out as a copy: it is changed and put back.
    private static func set(_ value: Any?, in dictionary: NSMutableDictionary, at path: String) {
        let keys = path.split(separator: ".", maxSplits: 1).map(String.init)
        guard keys.count == 2 else { return set(value, of: dictionary, forKey: path) }
        switch dictionary.object(forKey: keys[0]) {
        case let inner as NSDictionary:
            guard let copy = inner.mutableCopy() as? NSMutableDictionary else { return }
            set(value, in: copy, at: keys[1])
            dictionary[keys[0]] = copy
        case let inner: set(value, of: inner, at: keys[1])
        }
    }

    static func stop(_ error: any Error) -> Never {
        preconditionFailure((error as? PredicateFailure)?.diagnostic.rendered ?? String(describing: error))
    }

    /// The members of a collection, and what becomes of their values.
    struct Members {
        enum Kind {
            case array
            case set
            case orderedSet
        }

        let kind: Kind
        let all: [Any]

        init?(_ collection: Any) {
            switch collection {
            case let set as NSSet: (kind, all) = (.set, set.allObjects)
            case let set as NSOrderedSet: (kind, all) = (.orderedSet, set.array)
            case let array as NSArray: (kind, all) = (.array, array.map { $0 })
            default: return nil
            }
        }

        /// Returns one value for each member of an array, with `NSNull` for nil; for a set those that are not nil, each
        /// once.
        func value(forKey key: String) -> Any? {
            switch key {
            case "self": return collection(of: all)
            case "@count": return NSNumber(value: all.count)
            case "@firstObject", "@anyObject": return all.first
            case "@lastObject": return all.last
            default: break
            }
            precondition(!key.hasPrefix("@"), "A collection has no value for the key \"\(key)\".")
            let values = all.map { KeyValueCoding.value(of: $0, forKey: key) }
            return collection(of: kind == .array ? values.map { $0 ?? NSNull() } : values.compactMap { $0 })
        }

        private func collection(of values: [Any]) -> Any {
            switch kind {
            case .array: NSArray(array: values)
            case .set: NSSet(array: values)
            case .orderedSet: NSOrderedSet(array: KeyValueCoding.distinct(values))
            }
        }
    }

    /// Returns the values, each at its first position. Foundation's ordered set, made of an array, would keep all of
    /// them.
    fileprivate static func distinct(_ values: [Any]) -> [Any] {
        let distinct = NSMutableOrderedSet()
        distinct.addObjects(from: values)
        return distinct.array
    }
}

/// `@count`, `@sum` and the like: what stands before the rest of a path.
private enum CollectionOperator: String {
    case count = "@count"
    case sum = "@sum"
    case average = "@avg"
    case least = "@min"
    case greatest = "@max"
    case unionOfObjects = "@unionOfObjects"
    case distinctUnionOfObjects = "@distinctUnionOfObjects"
    case unionOfArrays = "@unionOfArrays"
    case distinctUnionOfArrays = "@distinctUnionOfArrays"
    case unionOfSets = "@unionOfSets"
    case distinctUnionOfSets = "@distinctUnionOfSets"

    init?(key: String) { self.init(rawValue: key) }

    /// The rest of the path is asked of each member, or of each member of the collections that the members are.
    func value(of members: KeyValueCoding.Members, at path: ArraySlice<String>) -> Any? {
        do {
            switch self {
            case .count: return NSNumber(value: members.all.count)
            // As key-value coding has it: nil counts as 0.
            case .sum: return OperandBridging.any(from: try Aggregates.sum(numbers(members, path)))
            case .average: return OperandBridging.any(from: try Aggregates.average(numbers(members, path)))
            case .least: return OperandBridging.any(from: try Aggregates.minimum(operands(members, path)))
            case .greatest: return OperandBridging.any(from: try Aggregates.maximum(operands(members, path)))
            case .unionOfObjects: return NSArray(array: values(of: members.all, path))
            case .distinctUnionOfObjects:
                let distinct = distinct(values(of: members.all, path))
                return members.kind == .set ? NSSet(array: distinct) : NSArray(array: distinct)
            case .unionOfArrays: return NSArray(array: union(of: members.all, path))
            case .distinctUnionOfArrays: return NSArray(array: distinct(union(of: members.all, path)))
            case .unionOfSets, .distinctUnionOfSets: return NSSet(array: union(of: members.all, path))
            }
        } catch { KeyValueCoding.stop(error) }
    }

    private func values(of members: [Any], _ path: ArraySlice<String>) -> [Any] {
        members.compactMap { value(of: $0, path) }
    }

    private func value(of member: Any, _ path: ArraySlice<String>) -> Any? {
        let value: Any? = path.isEmpty ? member : KeyValueCoding.value(of: member, at: path.joined(separator: "."))
        return value is NSNull ? nil : value
    }

    /// Returns the elements of the collections that the members have at the path.
    private func union(of members: [Any], _ path: ArraySlice<String>) -> [Any] {
        members.flatMap { member -> [Any] in
            if let inner = KeyValueCoding.Members(member) { return values(of: inner.all, path) }
            guard let value = value(of: member, path) else { return [] }
            guard let inner = KeyValueCoding.Members(value) else {
                let found = path.isEmpty ? "" : ": '\(path.joined(separator: "."))' of \(type(of: member))"
                preconditionFailure("\(rawValue) needs collections, not \(type(of: value))\(found).")
            }
            return inner.all.filter { !($0 is NSNull) }
        }
    }

    private func distinct(_ values: [Any]) -> [Any] { KeyValueCoding.distinct(values) }

    private func operands(_ members: KeyValueCoding.Members, _ path: ArraySlice<String>) -> [Operand] {
        members.all.map { OperandBridging.operand(from: value(of: $0, path)) }
    }

    private func numbers(_ members: KeyValueCoding.Members, _ path: ArraySlice<String>) -> [Operand] {
        operands(members, path).map { $0.isNull ? .value(.integer(0)) : $0 }
    }
}
