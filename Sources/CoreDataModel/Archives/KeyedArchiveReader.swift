import CoreDataPrimitives
import Foundation

/// The object graph in an archive of `NSKeyedArchiver`, read without instantiating any class.
///
/// Objects may refer to each other in cycles; a reference is followed only on access.
///
///     let archive = try KeyedArchiveReader(data)
///     let model = archive.root.object               // className "NSManagedObjectModel"
///     let entities = model?["NSEntities"].object?.entries
package final class KeyedArchiveReader: Sendable {
    private let objects: [PropertyListValue]
    private let top: [String: PropertyListValue]

    /// Reads the archive's table of objects; throws for anything that is not a keyed archive.
    package init(_ data: Data) throws(ModelFailure) {
        let list = try PropertyListValue(propertyList: data)
        guard case .dictionary(let top)? = list["$top"], let objects = list["$objects"]?.array,
            list["$archiver"]?.string?.hasSuffix("KeyedArchiver") ?? true
        else {
            throw ModelFailure(diagnostics: [Diagnostic(.error, "the property list is not a keyed archive")])
        }
        self.objects = objects
        self.top = top
    }

    /// The object archived under the key `root`, or the only one there is.
    package var root: ArchivedValue {
        resolve(top["root"] ?? (top.count == 1 ? top.first?.value : nil))
    }

    /// The class names of the objects, without those of their superclasses.
    package var classNames: Set<String> { Set(objects.compactMap { $0["$classname"]?.string }) }

    /// All objects in the archive that have a class.
    package var instances: [ArchivedObject] {
        objects.indices.filter { keys(of: $0).contains("$class") }.map { ArchivedObject(archive: self, index: $0) }
    }

    /// Whether every object has a class, every reference points to an object or to `nil`, and no object contains
    /// itself.
    package var isSound: Bool {
        guard top.values.allSatisfy({ leadsSomewhere($0) }), isAcyclic else { return false }
        return objects.allSatisfy { object in
            guard case .dictionary(let entries) = object else { return true }
            if entries["$classname"] != nil { return entries["$classname"]?.string != nil }
            return entries.allSatisfy { key, value in
                guard key != "$class" else { return isClass(value) }
                return (value.array ?? [value]).allSatisfy { leadsSomewhere($0) }
            } && entries["$class"] != nil
        }
    }

    /// Whether no object contains itself, and nesting is at most 256 levels: unarchiving recurses as deep.
    private var isAcyclic: Bool {
        let open = -1
        var heights: [Int: Int] = [:]
        func heightOf(_ index: Int, _ depth: Int) -> Int? {
            if let known = heights[index] { return known == open ? nil : known }
            guard depth <= 256, objects.indices.contains(index) else { return nil }
            heights[index] = open
            var height = 0
            if case .dictionary(let entries) = objects[index] {
                for (key, value) in entries where key != "$class" {
                    for case .uid(let part) in value.array ?? [value] {
                        guard let inner = heightOf(part, depth + 1) else { return nil }
                        height = max(height, inner + 1)
                    }
                }
            }
            heights[index] = height
            return height <= 256 ? height : nil
        }
        return objects.indices.allSatisfy { heightOf($0, 0) != nil }
    }

    private func isClass(_ value: PropertyListValue) -> Bool {
        guard case .uid(let index) = value, objects.indices.contains(index) else { return false }
        let names = objects[index]["$classes"]?.array ?? []
        return objects[index]["$classname"]?.string != nil && names.allSatisfy { $0.string != nil }
    }

    private func leadsSomewhere(_ value: PropertyListValue) -> Bool {
        guard case .uid(let index) = value else { return true }
        return objects.indices.contains(index) && objects[index]["$classname"] == nil
    }

    /// Returns the class names of an object, its own class first.
    fileprivate func classNames(of object: Int) -> [String] {
        guard case .uid(let index)? = objects[object]["$class"], objects.indices.contains(index) else { return [] }
        let names = objects[index]["$classes"]?.array?.compactMap(\.string) ?? []
        return names.isEmpty ? [objects[index]["$classname"]?.string].compactMap { $0 } : names
    }

    fileprivate func value(_ key: String, of object: Int) -> ArchivedValue { resolve(objects[object][key]) }

    fileprivate func keys(of object: Int) -> [String] {
        guard case .dictionary(let entries) = objects[object] else { return [] }
        return entries.keys.sorted()
    }

    fileprivate func references(_ key: String, of object: Int) -> [ArchivedValue]? {
        objects[object][key]?.array.map { $0.map { resolve($0) } }
    }

    private func resolve(_ value: PropertyListValue?) -> ArchivedValue {
        switch value {
        case nil: return .none
        case .bool(let bool)?: return .bool(bool)
        case .integer(let integer)?: return .integer(integer)
        case .real(let real)?: return .real(real)
        case .date(let seconds)?: return .date(seconds)
        case .data(let data)?: return .data(data)
        case .string(let text)?: return .text(text)
        case .array?, .dictionary?: return .none
        case .uid(let index)?:
            guard index > 0, objects.indices.contains(index) else { return .none }
            if case .dictionary = objects[index] { return .object(ArchivedObject(archive: self, index: index)) }
            // No valid archive has a reference to a reference; following one could loop forever.
            if case .uid = objects[index] { return .none }
            return resolve(objects[index])
        }
    }
}

/// A value in a keyed archive: a primitive, or an object of some class.
package enum ArchivedValue: Sendable {
    /// `nil`, or no value under the key.
    case none
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case date(Double)
    case data(Data)
    case text(String)
    case object(ArchivedObject)

    package var isNone: Bool {
        if case .none = self { return true }
        return false
    }

    /// The object, unless it represents a primitive; see ``text`` and ``data``.
    package var object: ArchivedObject? {
        if case .object(let object) = self { return object }
        return nil
    }

    /// The string, which may be archived directly or as an `NSMutableString`.
    package var text: String? {
        switch self {
        case .text(let text): return text
        case .object(let object) where object.isKind(of: "NSString"):
            if case .data(let bytes) = object["NS.bytes"] { return String(decoding: bytes, as: UTF8.self) }
            if case .text(let text) = object["NS.string"] { return text }
            return nil
        default: return nil
        }
    }

    package var integer: Int? {
        switch self {
        case .integer(let integer): Int(exactly: integer)
        case .bool(let bool): bool ? 1 : 0
        case .real(let real): Int(exactly: real)
        default: nil
        }
    }

    package var real: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .real(let real): real
        default: nil
        }
    }

    package var bool: Bool { integer.map { $0 != 0 } ?? false }

    package var data: Data? {
        switch self {
        case .data(let data): return data
        case .object(let object) where object.isKind(of: "NSData"):
            if case .data(let data) = object["NS.data"] { return data }
            return nil
        default: return nil
        }
    }

    /// The strings of an array or set.
    package var texts: [String] { object?.elements?.compactMap(\.text) ?? [] }
}

/// An object of a keyed archive. Two are equal if they are the same object of the same archive.
package struct ArchivedObject: Hashable, Sendable {
    let archive: KeyedArchiveReader
    let index: Int

    package static func == (a: ArchivedObject, b: ArchivedObject) -> Bool {
        a.archive === b.archive && a.index == b.index
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(index) }

    /// The name of the object's class; empty if the archive does not contain it.
    package var className: String { archive.classNames(of: index).first ?? "" }

    /// Returns whether the object's class is `name` or a subclass of it, according to the archive.
    package func isKind(of name: String) -> Bool { archive.classNames(of: index).contains(name) }

    package subscript(key: String) -> ArchivedValue { archive.value(key, of: index) }

    package var keys: [String] { archive.keys(of: index) }

    /// Returns the list under a key; `nil` if there is no value or a value of another type.
    package func list(_ key: String) -> [ArchivedValue]? { archive.references(key, of: index) }

    /// The elements of an array, set or ordered set.
    package var elements: [ArchivedValue]? {
        if let elements = archive.references("NS.objects", of: index) { return elements }
        guard isKind(of: "NSArray") || isKind(of: "NSSet") || isKind(of: "NSOrderedSet") else { return nil }
        // Old archives number the elements.
        var result: [ArchivedValue] = []
        let keys = Set(keys)
        while keys.contains("NS.object.\(result.count)") { result.append(self["NS.object.\(result.count)"]) }
        return result
    }

    /// The keys and values of a dictionary of any class of Foundation or Core Data.
    package var entries: [(key: ArchivedValue, value: ArchivedValue)]? {
        if isKind(of: "NSKnownKeysDictionary") || className == "NSKnownKeysDictionary1" {
            guard let keys = self["searchMapping"].object?["keys"].object?.elements,
                let values = self["values"].object?.elements
            else { return nil }
            // A key without a value has a token that marks it.
            let empty = self["emptyToken"].text
            return zip(keys, values).filter { empty == nil || $0.1.text != empty }.map { ($0.0, $0.1) }
        }
        guard let keys = archive.references("NS.keys", of: index),
            let values = archive.references("NS.objects", of: index)
        else { return nil }
        return zip(keys, values).map { ($0.0, $0.1) }
    }

    /// A dictionary's objects by their names.
    package var objectsByName: [String: ArchivedObject] {
        var result: [String: ArchivedObject] = [:]
        for (key, value) in entries ?? [] {
            if let name = key.text, let object = value.object { result[name] = object }
        }
        return result
    }
}
