import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The values of one object at one moment, as a value for any queue.
///
///     let items = try await background.perform {
///         try background.fetch(Item.fetchRequest()).map { try $0.snapshot() }
///     }
///     items[0].name                                   // String?
///     items[0].unit                                   // PersistentID<Unit>?
///     try view.existingObject(with: items[0].persistentID)
///
/// It contains every attribute, also transient ones, and the IDs of to-one relationships, with unsaved changes. It
/// contains the IDs of a to-many relationship only if they were requested:
///
///     let item = try item.snapshot(including: \.tags)     // SELECT … of the members, if they are not in memory
///     item.tags                                           // [PersistentID<Tag>]
///
/// A transformable value is kept as the data that a save would write, and is decoded for each reader: two queues never
/// share an object that is not `Sendable`. Snapshots are equal if their IDs, values and included relationships are
/// equal.
///
/// Apple's framework has no counterpart.
@dynamicMemberLookup
public struct ObjectSnapshot<Object: NSManagedObject>: Hashable, Sendable {
    private enum Content: Hashable, Sendable {
        case attribute(Value)
        case toOne(NSManagedObjectID?)
        case toMany([NSManagedObjectID])
        /// A to-many relationship that was not asked for, a fetched property.
        case absent
    }

    /// The object's ID when the snapshot was taken.
    public let persistentID: PersistentID<Object>
    private let runtime: EntityRuntime
    private let contents: [Content]

    /// Copies the values of the object; call it on its context's queue.
    ///
    /// - Parameters:
    ///   - object: a new object, or one whose row can be read.
    ///   - relationships: the to-many relationships whose members' IDs are included.
    /// - Throws: 133000 if the object's row was deleted; an error for a value from which the transformer makes no data,
    ///   and for a name that is no relationship.
    public init(_ object: Object, including relationships: [String] = []) throws {
        object.willAccessValue(forKey: nil)
        if object.flags.contains(.inaccessible) { throw CoreDataErrors.missingObject(object.objectID) }
        let runtime = object.runtime
        self.runtime = runtime
        persistentID = PersistentID(object)
        for key in relationships where runtime.slot(forKey: key).flatMap({ runtime.slots[$0].relationship }) == nil {
            throw CoreDataErrors.coreData("Entity '\(runtime.name)' has no relationship '\(key)' for a snapshot.")
        }
        contents = try runtime.slots.indices.map { slot in
            let info = runtime.slots[slot]
            object.noteRead(slot)
            // A composite is made of its elements when it is asked for.
            if info.kind == .composite { return .absent }
            if info.attribute != nil { return .attribute(try object.sendableValue(slot)) }
            guard info.relationship != nil else { return .absent }
            if !info.isToMany { return .toOne(object.toOne(slot)?.objectID) }
            guard relationships.contains(info.name) else { return .absent }
            return .toMany(object.objectIDs(forRelationshipNamed: info.name))
        }
    }

    public static func == (a: Self, b: Self) -> Bool { a.persistentID == b.persistentID && a.contents == b.contents }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(persistentID)
        hasher.combine(contents)
    }

    // MARK: Values by key path

    /// Returns an attribute's value, in the type that the class declares.
    ///
    /// - Precondition: the key path is that of a property of the model.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Object, Member>) -> Member {
        let slot = slot(of: keyPath)
        if let value: Member = TypedValue.value(any(slot)) { return value }
        preconditionFailure(
            "Property '\(runtime.slots[slot].name)' of \(persistentID) holds no \(Member.self) in its snapshot.")
    }

    /// The ID of a to-one relationship's destination.
    public subscript<Destination: NSManagedObject>(
        dynamicMember keyPath: KeyPath<Object, Destination?>
    ) -> PersistentID<Destination>? {
        if case .toOne(let id) = contents[slot(of: keyPath)] { id.map { PersistentID(unchecked: $0) } } else { nil }
    }

    /// Returns the IDs of a to-many relationship's members; in order if the relationship is ordered.
    ///
    /// - Precondition: the snapshot includes them.
    public subscript<Members: Collection>(
        dynamicMember keyPath: KeyPath<Object, Members>
    ) -> [PersistentID<Members.Element>] where Members.Element: NSManagedObject {
        members(slot(of: keyPath)).map { PersistentID(unchecked: $0) }
    }

    /// The same of a relationship that is declared optional: `Set<Tag>?`.
    public subscript<Members: Collection>(
        dynamicMember keyPath: KeyPath<Object, Members?>
    ) -> [PersistentID<Members.Element>] where Members.Element: NSManagedObject {
        members(slot(of: keyPath)).map { PersistentID(unchecked: $0) }
    }

    /// Does the same for a relationship whose declaration does not name the members' class: `NSSet?`, `NSOrderedSet?`.
    public subscript<Members: UntypedMembers>(
        dynamicMember keyPath: KeyPath<Object, Members>
    ) -> [PersistentID<NSManagedObject>] { members(slot(of: keyPath)).map { PersistentID(unchecked: $0) } }

    // MARK: Values by name

    /// Returns a property's value by name: an attribute's value as key-value coding returns it, a to-one's
    /// `NSManagedObjectID`, a to-many's `[NSManagedObjectID]`; also nil for a name that is no property.
    public subscript(key: String) -> Any? { runtime.slot(forKey: key).flatMap { any($0) } }

    /// The IDs of a relationship's objects, as ``NSManagedObject/objectIDs(forRelationshipNamed:)`` gives them.
    ///
    /// - Precondition: the snapshot includes them.
    public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        guard let slot = runtime.slot(forKey: key) else { return [] }
        if case .toOne(let id) = contents[slot] { return id.map { [$0] } ?? [] }
        return runtime.slots[slot].relationship == nil ? [] : members(slot)
    }

    private func any(_ slot: Int) -> Any? {
        let info = runtime.slots[slot]
        if info.kind == .composite { return composite(slot) }
        switch contents[slot] {
        case .attribute(.data(let data)) where info.type == .transformable:
            return ManagedObjectValues.any(Transformation.value(from: data, attribute: info), slot: info)
        case .attribute(let value): return ManagedObjectValues.any(value, slot: info)
        case .toOne(let id): return id
        case .toMany(let ids): return ids
        case .absent: return nil
        }
    }

    private func composite(_ slot: Int) -> [String: Any]? {
        var result: [String: Any] = [:]
        for element in runtime.slots[slot].elements {
            result[runtime.slots[element].property.elementName] = any(element)
        }
        return result.isEmpty ? nil : result
    }

    private func members(_ slot: Int) -> [NSManagedObjectID] {
        if case .toMany(let ids) = contents[slot] { return ids }
        let name = runtime.slots[slot].name
        preconditionFailure(
            "The snapshot of \(persistentID) was taken without '\(name)'; take it with snapshot(including: \\.\(name))."
        )
    }

    private func slot(of keyPath: AnyKeyPath) -> Int {
        guard let name = KeyPathNames.name(for: keyPath), let slot = runtime.slot(forKey: name) else {
            preconditionFailure(
                """
                \(keyPath) is no property of entity '\(runtime.name)', so a snapshot does not have it. Of another object take a \
                snapshot of its own.
                """)
        }
        return slot
    }
}

/// The collection classes of to-many relationships that do not name the members' class.
public protocol UntypedMembers {}

extension NSSet: UntypedMembers {}
extension NSOrderedSet: UntypedMembers {}
extension Optional: UntypedMembers where Wrapped: UntypedMembers {}

extension ObjectSnapshot: CustomStringConvertible {
    /// The entity, the ID, and the properties that it has by name: `Item x-coredata://…/Item/p7 { name = Milk; unit =
    /// nil }`.
    public var description: String {
        let values = runtime.slots.indices.compactMap { slot -> String? in
            if case .absent = contents[slot] { return nil }
            return "\(runtime.slots[slot].name) = \(any(slot).map { "\($0)" } ?? "nil")"
        }
        return "\(runtime.name) \(persistentID) { \(values.joined(separator: "; ")) }"
    }
}

extension NSFetchRequestResult where Self: NSManagedObject {
    /// Returns the object's current values, for other queues.
    ///
    ///     let snapshot = try item.snapshot(including: \.tags)
    ///
    /// - Parameter relationships: the to-many relationships whose members' IDs are included.
    /// - Throws: the errors of ``ObjectSnapshot/init(_:including:)``.
    public func snapshot(including relationships: PartialKeyPath<Self>...) throws -> ObjectSnapshot<Self> {
        try ObjectSnapshot(
            self,
            including: relationships.map { keyPath in
                guard let name = KeyPathNames.name(for: keyPath) else {
                    throw CoreDataErrors.coreData("\(keyPath) is no property of entity '\(runtime.name)'.")
                }
                return name
            })
    }
}

extension NSManagedObject {
    /// The attribute's value in a form that other queues may have: an object as the data that a save would write.
    fileprivate final func sendableValue(_ slot: Int) throws -> Value {
        let info = runtime.slots[slot]
        // An unchanged value is the data that was saved: archiving an object twice may give two orders of bytes.
        if info.type == .transformable, let row, info.column >= 0, !row.isNull(info.column), !isChanged(slot) {
            return .data(row.data(info.column))
        }
        let value = attributeValue(slot)
        guard case .opaque(let box) = value else { return value }
        guard info.type == .transformable else {
            throw CoreDataErrors.coreData(
                """
                '\(info.name)' of \(objectID) holds a \(type(of: box.object)), which other queues may not have: a snapshot takes \
                objects of transformable attributes only, as data.
                """)
        }
        return .data(try Transformation.data(from: box, attribute: info, of: runtime))
    }
}
