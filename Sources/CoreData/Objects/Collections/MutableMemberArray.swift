import Foundation

/// An array that is an ordered to-many, or an attribute that holds an array: reading reads it, changing changes it.
final class MutableMemberArray: NSMutableArray {
    private enum Source {
        case members(RelationshipMembers)
        /// Every change sets the attribute anew.
        case attribute(of: NSManagedObject, key: String)
    }

    private let source: Source

    init(_ members: RelationshipMembers) {
        source = .members(members)
        super.init()
    }

    init(attribute key: String, of object: NSManagedObject) {
        source = .attribute(of: object, key: key)
        super.init()
    }

    required init(objects: UnsafePointer<AnyObject>?, count: Int) {
        preconditionFailure("a property's array is made by mutableArrayValue(forKey:)")
    }

    required convenience init?(coder: NSCoder) { nil }

    required convenience init(arrayLiteral elements: Any...) {
        preconditionFailure("a property's array is made by mutableArrayValue(forKey:)")
    }

    private var all: [Any] {
        switch source {
        case .members(let members): members.all
        case .attribute(let object, let key): object.value(forKey: key) as? [Any] ?? []
        }
    }

    private func replaceAll(with objects: [Any]) {
        switch source {
        case .members(let members): members.replaceAll(with: objects)
        case .attribute(let object, let key): object.setValue(NSArray(array: objects), forKey: key)
        }
    }

    /// Changes a copy, then sets it.
    private func change(_ body: (inout [Any]) -> Void) {
        var all = all
        body(&all)
        replaceAll(with: all)
    }

    // MARK: Reading

    override var count: Int {
        if case .members(let members) = source { return members.count }
        return all.count
    }

    override func object(at index: Int) -> Any {
        if case .members(let members) = source { return members[index] }
        return all[index]
    }

    override func index(of anObject: Any) -> Int {
        if case .members(let members) = source { return members.position(of: anObject) ?? NSNotFound }
        return super.index(of: anObject)
    }

    override func contains(_ anObject: Any) -> Bool { index(of: anObject) != NSNotFound }

    override func objectEnumerator() -> NSEnumerator { NSArray(array: all).objectEnumerator() }

    override func reverseObjectEnumerator() -> NSEnumerator { NSArray(array: all).reverseObjectEnumerator() }

    override func enumerateObjects(
        at s: IndexSet, options opts: NSEnumerationOptions = [],
        using block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void
    ) {
        // A copy, because the block may change the property.
        NSArray(array: all).enumerateObjects(at: s, options: opts, using: block)
    }

    // MARK: Changing

    override func insert(_ anObject: Any, at index: Int) {
        if case .members(let members) = source { return members.insert(anObject, at: index) }
        change { $0.insert(anObject, at: index) }
    }

    override func removeObject(at index: Int) {
        if case .members(let members) = source { return members.remove(members[index]) }
        change { $0.remove(at: index) }
    }

    override func replaceObject(at index: Int, with anObject: Any) {
        if case .members(let members) = source { return members.replace(at: index, with: anObject) }
        change { $0[index] = anObject }
    }

    override func addObjects(from otherArray: [Any]) {
        if case .members = source { return super.addObjects(from: otherArray) }
        change { $0 += otherArray }
    }

    override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
        if case .members(let members) = source { return members.exchange(idx1, idx2) }
        change { $0.swapAt(idx1, idx2) }
    }

    override func removeAllObjects() { replaceAll(with: []) }

    override func removeObjects(in range: NSRange) {
        change { $0.removeSubrange(range.lowerBound..<range.upperBound) }
    }

    override func replaceObjects(in range: NSRange, withObjectsFrom otherArray: [Any]) {
        change { $0.replaceSubrange(range.lowerBound..<range.upperBound, with: otherArray) }
    }

    override func setArray(_ otherArray: [Any]) { replaceAll(with: otherArray) }

    override func sort(using sortDescriptors: [NSSortDescriptor]) {
        replaceAll(with: sortedArray(using: sortDescriptors))
    }
}
