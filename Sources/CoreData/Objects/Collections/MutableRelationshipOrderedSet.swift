import Foundation

/// The members of an ordered to-many as `NSMutableOrderedSet`: reading reads them, changing changes the relationship.
///
/// Foundation's ordered set keeps an array and a set, and some of its methods, which cannot be overridden, read those.
/// So they are replaced by collections that are the relationship too.
final class MutableRelationshipOrderedSet: NSMutableOrderedSet {
    private let members: RelationshipMembers

    init(_ members: RelationshipMembers) {
        self.members = members
        super.init(capacity: 0)
        OrderedSetStorage.replace(in: self, array: MutableMemberArray(members), set: MutableRelationshipSet(members))
    }

    required convenience init?(coder: NSCoder) { nil }

    required convenience init(arrayLiteral elements: Any...) {
        preconditionFailure("a relationship's ordered set is made by mutableOrderedSetValue(forKey:)")
    }

    // MARK: Reading

    override var count: Int { members.count }

    override func object(at idx: Int) -> Any { members[idx] }

    override func index(of object: Any) -> Int { members.position(of: object) ?? NSNotFound }

    override func contains(_ object: Any) -> Bool { members.contains(object) }

    override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: members.all) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members.all) }

    // MARK: Changing

    override func insert(_ object: Any, at idx: Int) { members.insert(object, at: idx) }

    override func removeObject(at idx: Int) { members.remove(members[idx]) }

    override func remove(_ val: Any) { members.remove(val) }

    override func replaceObject(at idx: Int, with obj: Any) { members.replace(at: idx, with: obj) }

    override func add(_ object: Any) {
        if !contains(object) { members.insert(object, at: count) }
    }

    override func add(_ objects: UnsafePointer<AnyObject>?, count: Int) {
        addObjects(from: Array(UnsafeBufferPointer(start: objects, count: count)))
    }

    override func addObjects(from array: [Any]) { array.forEach { add($0) } }

    override func removeAllObjects() { members.replaceAll(with: []) }

    override func moveObjects(at indexes: IndexSet, to idx: Int) {
        members.move(indexes.map { members[$0] }, to: idx)
    }

    override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) { members.exchange(idx1, idx2) }

    override func replaceObjects(in range: NSRange, with objects: UnsafePointer<AnyObject>!, count: Int) {
        var all: [Any] = members.all
        let others: [Any] = UnsafeBufferPointer(start: objects, count: count).map { $0 }
        all.replaceSubrange(range.lowerBound..<range.upperBound, with: others)
        members.replaceAll(with: all)
    }

    override func intersect(_ other: NSOrderedSet) { members.keep { other.contains($0) } }

    // MARK: Sorting

    override func sort(using sortDescriptors: [NSSortDescriptor]) {
        members.replaceAll(with: sortedArray(using: sortDescriptors))
    }

    override func sortRange(
        _ range: NSRange, options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
    ) {
        var all: [Any] = members.all
        let places = range.lowerBound..<range.upperBound
        let sorted = NSArray(array: Array(all[places])).sortedArray(options: opts, usingComparator: cmptr)
        all.replaceSubrange(places, with: sorted)
        members.replaceAll(with: all)
    }
}
