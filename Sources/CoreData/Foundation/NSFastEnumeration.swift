import Foundation

/// A collection whose members can be enumerated without knowing their type, as Objective-C's `for … in` does.
///
/// A model enumerates its entities, an entity its properties; in Swift both are sequences of those.
public protocol NSFastEnumeration {
    /// The members, in order.
    var enumeratedObjects: [Any] { get }
}

/// An iterator over the members of anything that can be enumerated.
///
///     for entity in NSFastEnumerationIterator(model) { print(entity) }
public struct NSFastEnumerationIterator: Sequence, IteratorProtocol {
    private var members: IndexingIterator<[Any]>

    /// An iterator over the members, as the collection gives them.
    public init(_ enumerable: any NSFastEnumeration) { members = enumerable.enumeratedObjects.makeIterator() }

    /// The next member, `nil` after the last.
    public mutating func next() -> Any? { members.next() }
}
