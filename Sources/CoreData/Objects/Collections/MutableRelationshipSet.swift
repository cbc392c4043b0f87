import Foundation

/// A collection that is an object's relationship: reading it reads the relationship, changing it changes the
/// relationship.
///
/// `mutableSetValue(forKey:)` returns an `NSMutableSet` with this conformance, so that Swift does not treat it as a
/// plain set. A cast uses its dynamic type:
///
///     let items = unit.mutableSetValue(forKey: "items")
///     for item in items { … }                       // the members when the loop began
///     let typed = items as! Set<Item>               // a copy; Swift warns that it cannot know that this works
///
/// Differs from Apple: if the static type is `NSSet` or `NSMutableSet`, Foundation itself does the cast. It reads only
/// sets of its own classes, and returns an empty `Set`. Cast the result of `mutableSetValue(forKey:)`, `allObjects`, or
/// the set that `value(forKey:)` returns.
public protocol LiveRelationship: AnyObject {}

/// The members of an unordered to-many as an `NSMutableSet`: reading reads the members, changing changes the
/// relationship.
///
/// A subclass of Foundation's set must implement the methods that do not use `count`, `member(_:)` and
/// `objectEnumerator()`. Swift asks it for its `value` when it is cast to a type that is no class.
final class MutableRelationshipSet: NSMutableSet, LiveRelationship, _NSSwiftValue {
    private let members: RelationshipMembers

    init(_ members: RelationshipMembers) {
        self.members = members
        super.init(capacity: 0)
    }

    required convenience init?(coder: NSCoder) { nil }

    required init(capacity numItems: Int) {
        preconditionFailure("a relationship's set is made by mutableSetValue(forKey:)")
    }

    // MARK: Casting

    convenience init(_ value: Any) {
        preconditionFailure("a relationship's set is made by mutableSetValue(forKey:)")
    }

    var value: Any { Set(members.all) }

    static var null: AnyObject { NSNull() }

    // MARK: Reading

    override var count: Int { members.count }

    override func member(_ object: Any) -> Any? { members.contains(object) ? object : nil }

    override func objectEnumerator() -> NSEnumerator { MemberEnumerator(members.all) }

    override var allObjects: [Any] { members.all }

    override func isEqual(_ value: Any?) -> Bool {
        switch value {
        case let other as NSSet: other === self || other.count == count && members.all.allSatisfy(other.contains)
        case let other as Set<AnyHashable>: isEqual(to: other)
        default: false
        }
    }

    override func description(withLocale locale: Locale?) -> String {
        NSSet(array: members.all).description(withLocale: locale)
    }

    override var description: String { description(withLocale: nil) }

    override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: members.all) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: members.all) }

    // MARK: Changing

    override func add(_ object: Any) { members.add(object) }

    override func remove(_ object: Any) { members.remove(object) }

    override func removeAllObjects() { members.replaceAll(with: []) }

    override func addObjects(from array: [Any]) { array.forEach { add($0) } }

    override func union(_ other: Set<AnyHashable>) { other.forEach { add($0.base) } }

    override func minus(_ other: Set<AnyHashable>) { other.forEach { remove($0.base) } }

    override func intersect(_ other: Set<AnyHashable>) { members.keep { other.contains($0) } }

    override func setSet(_ other: Set<AnyHashable>) { members.replaceAll(with: other.map(\.base)) }
}
