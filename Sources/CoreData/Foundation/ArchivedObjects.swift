import CoreDataModel
import Foundation

/// Makes Foundation's objects of a keyed archive.
///
/// Foundation's own unarchiver stops the program at one of ten archives with a broken byte: at a collection that lacks
/// a part, at keys without values, at an object that contains itself. Archives come from stores, which a stranger may
/// have broken, so objects of the classes below never reach it.
struct ArchivedObjects {
    /// The classes that can be made, as archives name them.
    static let classNames: Set<String> = [
        "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet", "NSOrderedSet",
        "NSMutableOrderedSet", "NSString", "NSMutableString", "NSNumber", "NSDecimalNumber",
        "NSDecimalNumberPlaceholder",
        "NSDate", "NSData", "NSMutableData", "NSURL", "NSUUID", "NSNull",
    ]

    /// Deeper than this, an archive is an attack or a mistake.
    private static let deepest = 256

    /// The objects that were made already: an object may occur in several places.
    private var made: [ArchivedObject: NSObject] = [:]
    private var open: Set<ArchivedObject> = []

    /// Returns the object, or `nil` if it or a part of it is of another class, corrupted, or contains itself.
    mutating func object(_ value: ArchivedValue) -> NSObject? {
        switch value {
        case .none: return nil
        case .bool(let bool): return NSNumber(value: bool)
        case .integer(let integer): return NSNumber(value: integer)
        case .real(let real): return NSNumber(value: real)
        case .text(let text): return NSString(string: text)
        case .data(let data): return NSData(data: data)
        case .date(let seconds): return NSDate(timeIntervalSinceReferenceDate: seconds)
        case .object(let archived):
            if let object = made[archived] { return object }
            guard open.count < Self.deepest, open.insert(archived).inserted else { return nil }
            defer { open.remove(archived) }
            let object = make(archived)
            made[archived] = object
            return object
        }
    }

    private mutating func make(_ archived: ArchivedObject) -> NSObject? {
        let value = ArchivedValue.object(archived)
        switch archived.className {
        case "NSArray": return objects(in: archived).map { NSArray(array: $0) }
        case "NSMutableArray": return objects(in: archived).map { NSMutableArray(array: $0) }
        case "NSSet": return members(of: archived).map { NSSet(array: $0) }
        case "NSMutableSet": return members(of: archived).map { NSMutableSet(array: $0) }
        case "NSOrderedSet": return members(of: archived).map { NSOrderedSet(array: $0) }
        case "NSMutableOrderedSet": return members(of: archived).map { NSMutableOrderedSet(array: $0) }
        case "NSDictionary":
            return dictionary(archived).map { NSDictionary(objects: $0.objects, forKeys: $0.keys) }
        case "NSMutableDictionary":
            return dictionary(archived).map { NSMutableDictionary(objects: $0.objects, forKeys: $0.keys) }
        case "NSString": return value.text.map { NSString(string: $0) }
        case "NSMutableString": return value.text.map { NSMutableString(string: $0) }
        case "NSDate": return archived["NS.time"].real.map { NSDate(timeIntervalSinceReferenceDate: $0) }
        case "NSData": return value.data.map { NSData(data: $0) }
        case "NSMutableData": return value.data.map { NSMutableData(data: $0) }
        case "NSURL": return url(archived)
        case "NSUUID": return uuid(archived)
        case "NSNull": return NSNull()
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder":
            return ArchivedDecimal.decimal(archived).map { NSDecimalNumber(decimal: $0) }
        default: return nil
        }
    }

    private mutating func objects(in collection: ArchivedObject) -> [NSObject]? {
        guard let elements = Self.elements(of: collection) else { return nil }
        var objects: [NSObject] = []
        for element in elements {
            guard let object = object(element) else { return nil }
            objects.append(object)
        }
        return objects
    }

    /// Returns the elements; `nil` if the list is missing, which is allowed only for an empty ordered set.
    private static func elements(of collection: ArchivedObject) -> [ArchivedValue]? {
        guard let elements = collection.elements else { return nil }
        return elements.isEmpty && collection.list("NS.objects") == nil && !collection.isKind(of: "NSOrderedSet")
            ? nil : elements
    }

    private mutating func members(of set: ArchivedObject) -> [NSObject]? {
        guard let objects = objects(in: set) else { return nil }
        for object in objects where !canHash(object) { return nil }
        return objects
    }

    private mutating func dictionary(_ archived: ArchivedObject) -> (keys: [NSObject], objects: [Any])? {
        guard let keys = archived.list("NS.keys"), let values = archived.list("NS.objects"), keys.count == values.count
        else { return nil }
        var parts: (keys: [NSObject], objects: [Any]) = ([], [])
        for (key, value) in zip(keys, values) {
            guard let key = object(key), let value = object(value), key is any NSCopying, canHash(key) else {
                return nil
            }
            parts.keys.append(key)
            parts.objects.append(value)
        }
        return parts
    }

    /// Whether an object can be a key or the member of a set. Foundation's decimal numbers ask themselves for their
    /// hash without end, and collections of collections that are in many others would be compared for years.
    private mutating func canHash(_ object: NSObject, inside depth: Int = 0) -> Bool {
        comparisons -= 1
        guard comparisons > 0, depth < Self.deepestHashed else { return false }
        let members: any Sequence
        switch object {
        case is NSDecimalNumber: return false
        case let array as NSArray: members = array
        case let set as NSOrderedSet: members = set
        case let set as NSSet: members = set
        case let dictionary as NSDictionary: members = dictionary.allKeys + dictionary.allValues
        default: return true
        }
        for case let member as NSObject in members where !canHash(member, inside: depth + 1) { return false }
        return true
    }

    /// The cost of hashing a set triples with each set that contains it.
    private static let deepestHashed = 4

    /// The number of further objects that may be in keys and members of sets, each counted as often as it occurs.
    private var comparisons = 100_000

    private mutating func url(_ archived: ArchivedObject) -> NSURL? {
        guard let relative = archived["NS.relative"].text else { return nil }
        let base = archived["NS.base"]
        if base.isNone { return NSURL(string: relative) }
        guard let url = object(base) as? NSURL else { return nil }
        return NSURL(string: relative, relativeTo: url as URL)
    }

    private func uuid(_ archived: ArchivedObject) -> NSUUID? {
        guard let bytes = archived["NS.uuidbytes"].data, bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) } as NSUUID
    }

    // MARK: Archives with other classes

    /// Returns whether the archive's objects of these classes are complete, so that Foundation's unarchiver may read
    /// it. Objects of other classes check themselves.
    static func isSound(_ archive: KeyedArchiveReader) -> Bool {
        guard archive.isSound else { return false }
        let known = archive.instances.filter { classNames.contains($0.className) }
        var sound: Set<ArchivedObject> = []
        return known.allSatisfy { isSound($0, depth: 0, &sound) }
    }

    private static func isSound(_ object: ArchivedObject, depth: Int, _ sound: inout Set<ArchivedObject>) -> Bool {
        guard depth < deepest else { return false }
        if sound.contains(object) { return true }
        let parts: [ArchivedValue]
        if object.isKind(of: "NSDictionary") {
            guard let keys = object.list("NS.keys"), let values = object.list("NS.objects"), keys.count == values.count
            else { return false }
            parts = keys + values
        } else if object.isKind(of: "NSArray") || object.isKind(of: "NSSet") || object.isKind(of: "NSOrderedSet") {
            guard let elements = elements(of: object) else { return false }
            // Foundation treats every name with this prefix as a numbered element.
            if object.list("NS.objects") == nil, object.keys.count != elements.count + 1 { return false }
            parts = elements
        } else {
            var alone = ArchivedObjects()
            guard alone.object(.object(object)) != nil else { return false }
            parts = []
        }
        for part in parts {
            if part.isNone { return false }
            guard let inner = part.object, classNames.contains(inner.className) else { continue }
            // One that contains itself is as deep as one likes.
            guard isSound(inner, depth: depth + 1, &sound) else { return false }
        }
        sound.insert(object)
        return true
    }
}
