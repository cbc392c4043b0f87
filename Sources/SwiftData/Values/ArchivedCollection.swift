import CoreData
import Foundation

/// A collection type whose values a keyed archive can have: an array, set or dictionary of plain values.
protocol ArchivedCollection {
    /// The types of what it has.
    static var memberTypes: [Any.Type] { get }
    /// The value as Foundation's collection.
    func archived(_ encode: (Any) throws -> Any) throws -> Any
    /// The value of Foundation's collection; `nil` for an object of another class.
    static func unarchived(_ object: Any, _ decode: (Any) throws -> Any) throws -> Self?
    /// An empty collection.
    static var empty: Self { get }
}

extension Array: ArchivedCollection {
    static var memberTypes: [Any.Type] { [Element.self] }
    static var empty: Self { [] }

    func archived(_ encode: (Any) throws -> Any) throws -> Any { try map { try encode($0) } as [Any] }

    static func unarchived(_ object: Any, _ decode: (Any) throws -> Any) throws -> Self? {
        guard let members = object as? [Any] ?? (object as? NSArray)?.map({ $0 }) else { return nil }
        return try members.map { try ArchivedMember.cast(decode($0)) }
    }
}

extension Set: ArchivedCollection {
    static var memberTypes: [Any.Type] { [Element.self] }
    static var empty: Self { [] }

    func archived(_ encode: (Any) throws -> Any) throws -> Any { NSSet(array: try map { try encode($0) }) }

    static func unarchived(_ object: Any, _ decode: (Any) throws -> Any) throws -> Self? {
        guard let members = (object as? NSSet)?.allObjects ?? (object as? Set<AnyHashable>).map({ $0.map(\.base) })
        else { return nil }
        return Set(try members.map { try ArchivedMember.cast(decode($0)) })
    }
}

extension Dictionary: ArchivedCollection {
    static var memberTypes: [Any.Type] { Key.self == String.self ? [Value.self] : [Never.self] }
    static var empty: Self { [:] }

    func archived(_ encode: (Any) throws -> Any) throws -> Any {
        var result: [String: Any] = [:]
        for (key, value) in self { result[try ArchivedMember.cast(key)] = try encode(value) }
        return result
    }

    static func unarchived(_ object: Any, _ decode: (Any) throws -> Any) throws -> Self? {
        guard let members = object as? [String: Any] ?? (object as? NSDictionary) as? [String: Any] else { return nil }
        var result: Self = [:]
        for (key, value) in members { result[try ArchivedMember.cast(key)] = try ArchivedMember.cast(decode(value)) }
        return result
    }
}

private enum ArchivedMember {
    static func cast<T>(_ value: Any) throws -> T {
        guard let value = value as? T else { throw ValueMismatch(stored: value, as: T.self) }
        return value
    }
}

extension AttributeForm {
    /// The name that Apple gives the transformer of arrays.
    static let archiveTransformer = "NSSecureUnarchiveFromData"

    /// The form of a collection of plain values: an archive of it. `nil` where its members are no plain values.
    static func archived<Collection: ArchivedCollection>(_ type: Collection.Type) -> AttributeForm? {
        guard let member = Collection.memberTypes.first, let form = memberForm(member) else { return nil }
        return AttributeForm(
            kind: .transformable(archiveTransformer), isOptional: false, valueType: type, enumeration: nil,
            encode: { value in
                guard let value = value as? Collection else { throw ValueMismatch(stored: value, as: type) }
                return try value.archived { member in
                    guard let encoded = form.encode(member) else {
                        throw ValueMismatch(stored: member, as: type)
                    }
                    return encoded
                }
            },
            decode: { stored in
                let value = try stored.flatMap { stored in
                    try Collection.unarchived(stored) { member in
                        guard let decoded = form.decode(member) else {
                            throw ValueMismatch(stored: member, as: type)
                        }
                        return decoded
                    }
                }
                guard let value else { throw ValueMismatch(stored: stored, as: type) }
                return value
            }, samples: [Collection.empty])
    }

    private static func memberForm(_ type: Any.Type) -> ScalarForm? {
        ScalarForm.of(type).flatMap { $0.isArchivable ? $0 : nil }
    }
}
