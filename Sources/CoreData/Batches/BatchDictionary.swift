import Foundation

/// The dictionary that a batch insert's handler fills again and again.
///
/// Foundation's dictionary would make an object for every key and value, and hash every key of every row. This one
/// finds a key where the previous row had it, and keeps values unchanged:
///
///     row 1: name, quantity     // two keys become known
///     row 2: name, quantity     // each is compared with the key that came next in row 1, and found
final class BatchDictionary: NSMutableDictionary {
    /// Every key that any row has had, in the order in which they first came; a text as a `String`.
    private(set) var keys: [AnyHashable] = []
    /// This row's value of each key.
    private var values: [Any?] = []
    private var places: [AnyHashable: Int] = [:]
    /// The place of the key that is expected next.
    private var next = 0

    required init(objects: UnsafePointer<AnyObject>!, forKeys keys: UnsafePointer<NSObject>!, count: Int) {
        super.init(objects: nil, forKeys: nil, count: 0)
        for index in 0..<count { setObject(objects[index], forKey: AnyHashable(keys[index])) }
    }

    required convenience init?(coder: NSCoder) { self.init(objects: nil, forKeys: nil, count: 0) }

    /// Calls `body` with each value of the row and the place of its key among ``keys``.
    @inline(__always)
    func forEachValue(_ body: (_ place: Int, _ value: Any) throws -> Void) rethrows {
        for place in values.indices {
            if let value = values[place] { try body(place, value) }
        }
    }

    /// Ends the row: no key has a value.
    func clear() {
        for place in values.indices { values[place] = nil }
        next = 0
    }

    private func place(of key: AnyHashable) -> Int? {
        if let known = places[key] { return known }
        return (key.base as? String).flatMap { places[AnyHashable($0)] }
    }

    private func add(_ key: AnyHashable) -> Int {
        let key = (key.base as? String).map { AnyHashable($0) } ?? key
        places[key] = keys.count
        keys.append(key)
        values.append(nil)
        return keys.count - 1
    }

    // MARK: What every other method is made of

    override func setObject(_ anObject: Any, forKey aKey: AnyHashable) {
        let place = next < keys.count && keys[next] == aKey ? next : self.place(of: aKey) ?? add(aKey)
        values[place] = anObject
        next = place + 1
    }

    override func removeObject(forKey aKey: Any) {
        guard let key = aKey as? AnyHashable, let place = place(of: key) else { return }
        values[place] = nil
    }

    override func object(forKey aKey: Any) -> Any? {
        guard let key = aKey as? AnyHashable, let place = place(of: key) else { return nil }
        return values[place]
    }

    override var count: Int { values.count { $0 != nil } }

    override func keyEnumerator() -> NSEnumerator {
        NSArray(array: keys.indices.filter { values[$0] != nil }.map { keys[$0].base }).objectEnumerator()
    }
}
