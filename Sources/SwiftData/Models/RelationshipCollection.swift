import Foundation

/// The types of a to-many relationship: an array of models, or an optional one.
///
/// Models are in the order in which they were added; stored ones before are ordered by their keys, so the order is
/// stable. Differs from Apple, where it is not.
public protocol RelationshipCollection {
    associatedtype PersistentElement: PersistentModel
    /// Makes the collection.
    static func _make(_ models: [PersistentElement]) -> Self
    /// The models; `nil` for nil.
    var _models: [PersistentElement]? { get }
}

extension Array: RelationshipCollection where Element: PersistentModel {
    public typealias PersistentElement = Element
    public static func _make(_ models: [Element]) -> [Element] { models }
    public var _models: [Element]? { self }
}

extension Optional: RelationshipCollection where Wrapped: Sequence, Wrapped.Element: PersistentModel {
    public typealias PersistentElement = Wrapped.Element
    public static func _make(_ models: [Wrapped.Element]) -> Wrapped? { models as? Wrapped }
    public var _models: [Wrapped.Element]? { map { Array($0) } }
}
