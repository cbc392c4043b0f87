import CoreData
import Foundation

// The rows of the sidecar as objects: for writes of a few rows, and for the key paths of batch requests.

final class EntryObject: NSManagedObject {
    private static let keys = (
        PropertyKey<UUID>("identifier"), PropertyKey<Int64>("place"), PropertyKey<Data>("content")
    )
    var identifier: UUID {
        get { self[Self.keys.0] }
        set { self[Self.keys.0] = newValue }
    }
    /// See ``EntryPlace``.
    var place: Int64 {
        get { self[Self.keys.1] }
        set { self[Self.keys.1] = newValue }
    }
    /// The state's bytes after their number, then the digests.
    var content: Data {
        get { self[Self.keys.2] }
        set { self[Self.keys.2] = newValue }
    }
}

/// The root entity's number in the table of names (15 bits) and the primary key (48 bits) as one number: one column and
/// one index entry.
///
/// The place of an object whose row was deleted is negative.
enum EntryPlace {
    static let keyBits: Int64 = 48

    static func make(root: Int32, key: Int64) -> Int64 { Int64(root) << keyBits | key }
    static func make(root: Int32, key: Int64, formerKey: Int64) -> Int64 {
        key == 0 && formerKey != 0 ? -make(root: root, key: formerKey) : make(root: root, key: key)
    }
    static func root(_ place: Int64) -> Int { Int(place.magnitude >> keyBits) }
    /// The key; 0 for a row that was deleted.
    static func key(_ place: Int64) -> Int64 { place > 0 ? place & (1 << keyBits - 1) : 0 }
    static func formerKey(_ place: Int64) -> Int64 { place < 0 ? key(-place) : 0 }
    /// Whether the numbers fit.
    static func fits(root: Int32, key: Int64) -> Bool { root >= 0 && root < 1 << 15 && key >= 0 && key >> keyBits == 0 }
}

final class ParkedObject: NSManagedObject {
    private static let keys = (
        PropertyKey<UUID>("identifier"), PropertyKey<Data>("state"), PropertyKey<UUID?>("waitsFor"),
        PropertyKey<String>("reason")
    )
    var identifier: UUID {
        get { self[Self.keys.0] }
        set { self[Self.keys.0] = newValue }
    }
    var state: Data {
        get { self[Self.keys.1] }
        set { self[Self.keys.1] = newValue }
    }
    var waitsFor: UUID? {
        get { self[Self.keys.2] }
        set { self[Self.keys.2] = newValue }
    }
    var reason: String {
        get { self[Self.keys.3] }
        set { self[Self.keys.3] = newValue }
    }
}

final class OutgoingObject: NSManagedObject {
    private static let keys = (PropertyKey<String>("name"), PropertyKey<Int64>("number"), PropertyKey<Data>("bytes"))
    var name: String {
        get { self[Self.keys.0] }
        set { self[Self.keys.0] = newValue }
    }
    var number: Int64 {
        get { self[Self.keys.1] }
        set { self[Self.keys.1] = newValue }
    }
    var bytes: Data {
        get { self[Self.keys.2] }
        set { self[Self.keys.2] = newValue }
    }
}

final class PeerObject: NSManagedObject {
    private static let keys = (
        PropertyKey<UUID>("device"), PropertyKey<String>("name"), PropertyKey<Data>("received"),
        PropertyKey<Int64>("hello"), PropertyKey<Int64>("lease"), PropertyKey<Int64>("seen"),
        PropertyKey<Bool>("hasLeft")
    )
    var device: UUID {
        get { self[Self.keys.0] }
        set { self[Self.keys.0] = newValue }
    }
    var name: String {
        get { self[Self.keys.1] }
        set { self[Self.keys.1] = newValue }
    }
    var received: Data {
        get { self[Self.keys.2] }
        set { self[Self.keys.2] = newValue }
    }
    var hello: Int64 {
        get { self[Self.keys.3] }
        set { self[Self.keys.3] = newValue }
    }
    var lease: Int64 {
        get { self[Self.keys.4] }
        set { self[Self.keys.4] = newValue }
    }
    var seen: Int64 {
        get { self[Self.keys.5] }
        set { self[Self.keys.5] = newValue }
    }
    var hasLeft: Bool {
        get { self[Self.keys.6] }
        set { self[Self.keys.6] = newValue }
    }
}

final class ConflictObject: NSManagedObject {
    private static let keys = (
        PropertyKey<UUID>("serial"), PropertyKey<UUID>("identifier"), PropertyKey<String>("entityName"),
        PropertyKey<String>("property"), PropertyKey<Data>("losing"), PropertyKey<Data>("winning"),
        PropertyKey<Int64>("date"), PropertyKey<String>("reason")
    )
    var serial: UUID {
        get { self[Self.keys.0] }
        set { self[Self.keys.0] = newValue }
    }
    var identifier: UUID {
        get { self[Self.keys.1] }
        set { self[Self.keys.1] = newValue }
    }
    var entityName: String {
        get { self[Self.keys.2] }
        set { self[Self.keys.2] = newValue }
    }
    var property: String {
        get { self[Self.keys.3] }
        set { self[Self.keys.3] = newValue }
    }
    var losing: Data {
        get { self[Self.keys.4] }
        set { self[Self.keys.4] = newValue }
    }
    var winning: Data {
        get { self[Self.keys.5] }
        set { self[Self.keys.5] = newValue }
    }
    var date: Int64 {
        get { self[Self.keys.6] }
        set { self[Self.keys.6] = newValue }
    }
    var reason: String {
        get { self[Self.keys.7] }
        set { self[Self.keys.7] = newValue }
    }
}

final class SettingsObject: NSManagedObject {
    private static let keys = (PropertyKey<Int64>("format"), PropertyKey<Data>("content"), PropertyKey<Data>("names"))
    var format: Int64 {
        get { self[Self.keys.0] }
        set { self[Self.keys.0] = newValue }
    }
    var content: Data {
        get { self[Self.keys.1] }
        set { self[Self.keys.1] = newValue }
    }
    var names: Data {
        get { self[Self.keys.2] }
        set { self[Self.keys.2] = newValue }
    }
}

final class RedoObject: NSManagedObject {
    private static let keys = (PropertyKey<Int64>("number"), PropertyKey<Data>("bytes"))
    var number: Int64 {
        get { self[Self.keys.0] }
        set { self[Self.keys.0] = newValue }
    }
    var bytes: Data {
        get { self[Self.keys.1] }
        set { self[Self.keys.1] = newValue }
    }
}
