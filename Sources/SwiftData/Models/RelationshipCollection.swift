import Foundation

/// What a to-many relationship can be declared as: an array of models, or an optional one.
///
/// The models come in the order in which they were added, those that were stored before by their keys: so the order is the same each
/// time. Differs from Apple, where it is not.
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
