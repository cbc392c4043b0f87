import CoreDataModel
import Foundation

/// Archives objects, and unarchives objects of given classes; returns `nil` if that is not possible.
///
/// Foundation stops the program at an object without coding and at a class that is not allowed. Values and stored data
/// must not be able to do that, so both are checked before Foundation reads them.
enum SecureArchive {
    /// Returns the archived object, or `nil` if it or an object in its collections cannot be archived.
    static func data(of object: Any, requiringSecureCoding isSecure: Bool = true) -> Data? {
        guard canArchive(object as AnyObject, isSecure: isSecure) else { return nil }
        let data = try? NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: isSecure)
        let names = ManagedArchiveNames.registered
        return names.isEmpty ? data : data.map { ArchivedClassNames.replaced(in: $0, by: names) }
    }

    /// The object as an archive that ``object(ofClasses:from:)`` reads, or `nil`.
    static func data(of object: Any, ofClasses allowed: [AnyClass]) -> Data? {
        guard isKind(type(of: object as AnyObject), ofOneOf: allowed), let data = data(of: object),
            let archive = try? KeyedArchiveReader(data), strangers(in: archive, allowed: allowed) != nil
        else { return nil }
        return data
    }

    private static func canArchive(_ object: AnyObject, isSecure: Bool) -> Bool {
        func canArchiveAll(_ members: some Sequence) -> Bool {
            members.allSatisfy { canArchive($0 as AnyObject, isSecure: isSecure) }
        }
        return switch object {
        case let array as NSArray: canArchiveAll(array)
        case let set as NSSet: canArchiveAll(set)
        case let set as NSOrderedSet: canArchiveAll(set)
        case let dictionary as NSDictionary:
            canArchiveAll(dictionary.allKeys) && canArchiveAll(dictionary.allValues)
        // Foundation's archiver asks for their hash, for which they ask themselves without end.
        case is NSDecimalNumber: false
        default: hasArchivableClass(object) && (isSecure ? object is NSSecureCoding : object is NSCoding)
        }
    }

    /// Whether Foundation's archiver can name the object's class: it stops the program at one inside a type or a
    /// function, and at a generic one.
    private static func hasArchivableClass(_ object: AnyObject) -> Bool {
        sequence(first: type(of: object), next: { _getSuperclass($0) }).allSatisfy {
            String(reflecting: $0).split(separator: ".", omittingEmptySubsequences: false).count == 2
        }
    }

    /// Returns the archived object of any class, or `nil` if the data is no archive or has a class that is not in the
    /// program. For archives that the program itself wrote.
    static func object(from data: Data) -> Any? {
        guard let archive = try? KeyedArchiveReader(data) else { return nil }
        if hasOnlyFoundation(archive) {
            var objects = ArchivedObjects()
            return objects.object(archive.root)
        }
        guard let classes = classes(in: archive), classes.allSatisfy({ $0 is NSCoding.Type }),
            ArchivedObjects.isSound(archive), let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data)
        else { return nil }
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
        return unarchiver.error == nil ? object : nil
    }

    /// Returns the archived object, or `nil` if the data is no archive or has an object that is not allowed.
    ///
    /// Objects inside an object of an application's class may be of any class with secure coding, because only that
    /// class knows its parts.
    static func object(ofClasses allowed: [AnyClass], from data: Data) -> Any? {
        guard let archive = try? KeyedArchiveReader(data), let strangers = strangers(in: archive, allowed: allowed)
        else {
            return nil
        }
        let object: Any?
        if hasOnlyFoundation(archive) {
            var objects = ArchivedObjects()
            object = objects.object(archive.root)
        } else {
            guard ArchivedObjects.isSound(archive), let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data)
            else { return nil }
            // With strangers inside, Foundation's own check would stop the program wherever one is refused.
            unarchiver.requiresSecureCoding = strangers.isEmpty
            unarchiver.decodingFailurePolicy = .setErrorAndReturn
            object = unarchiver.decodeObject(of: allowed, forKey: NSKeyedArchiveRootObjectKey)
            if unarchiver.error != nil { return nil }
        }
        guard let object else { return nil }
        // Strings and numbers have no class in an archive that could be checked.
        return isKind(type(of: object as AnyObject), ofOneOf: allowed) ? object : nil
    }

    /// Returns the archive's classes that are not allowed but may be inside an allowed one; `nil` if the archive must
    /// not be read because of them.
    private static func strangers(in archive: KeyedArchiveReader, allowed: [AnyClass]) -> [AnyClass]? {
        guard let classes = classes(in: archive), classes.allSatisfy({ $0 is NSSecureCoding.Type }) else { return nil }
        let strangers = classes.filter { !isKind($0, ofOneOf: allowed) }
        guard !strangers.isEmpty else { return [] }
        let known = foundationClasses
        let isInside = classes.contains { isKind($0, ofOneOf: allowed) && !isKind($0, ofOneOf: known) }
        return isInside ? strangers : nil
    }

    /// Whether all objects are of Foundation's classes that we make ourselves.
    private static func hasOnlyFoundation(_ archive: KeyedArchiveReader) -> Bool {
        archive.classNames.allSatisfy { name in
            ArchivedObjects.classNames.contains(name) && NSKeyedUnarchiver.class(forClassName: name) == nil
        }
    }

    /// Classes that have only property-list content and so contain nothing of a class that they know alone.
    private static var foundationClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self, NSString.self, NSNumber.self, NSDate.self,
            NSData.self, NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    /// Returns the classes that an archive names; `nil` if one of them is not in the program.
    private static func classes(in archive: KeyedArchiveReader) -> [AnyClass]? {
        var classes: [AnyClass] = []
        for name in archive.classNames {
            if name == "NSDecimalNumberPlaceholder" {
                classes.append(NSDecimalNumber.self)
            } else {
                guard let found = NSKeyedUnarchiver.class(forClassName: name) ?? NSClassFromString(name) else {
                    return nil
                }
                classes.append(found)
            }
        }
        return classes
    }

    private static func isKind(_ type: AnyClass, ofOneOf ancestors: [AnyClass]) -> Bool {
        sequence(first: type, next: { _getSuperclass($0) }).contains { ancestor in
            ancestors.contains { $0 == ancestor }
        }
    }
}
