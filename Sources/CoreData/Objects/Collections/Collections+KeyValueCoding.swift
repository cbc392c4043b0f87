import Foundation

// Key-value coding of Foundation's collections, as Apple's Foundation has it: every member is asked, or told.

extension NSArray {
    /// An array with one value for each member; `NSNull` stands for nil.
    ///
    ///     (items as NSArray).value(forKey: "name") as? [String]
    ///
    /// - Precondition: every member has the key.
    public func value(forKey key: String) -> Any { KeyValueCoding.values(of: self, forKey: key) }

    /// The value at a path, collection operators included.
    ///
    ///     (items as NSArray).value(forKeyPath: "@sum.quantity")
    ///     (items as NSArray).value(forKeyPath: "unit.name")              // one name for each item
    ///
    /// Operators are `@count`, `@sum`, `@avg` (nil counts as 0), `@min`, `@max`, `@unionOfObjects`, `@unionOfArrays`,
    /// `@unionOfSets`, and the last three with `distinct` before them.
    public func value(forKeyPath keyPath: String) -> Any? { KeyValueCoding.value(of: self, at: keyPath) }

    /// Sets a property of every member.
    public func setValue(_ value: Any?, forKey key: String) { KeyValueCoding.set(value, of: self, forKey: key) }

    /// Sets the last property of the path on the objects that the rest of the path refers to, for every member.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        KeyValueCoding.set(value, of: self, at: keyPath)
    }
}

extension NSSet {
    /// Returns the set of the members' values: those that are not nil, each once.
    ///
    ///     (unit.items as NSSet).value(forKey: "name") as? Set<String>
    ///
    /// - Precondition: every member has the key.
    public func value(forKey key: String) -> Any { KeyValueCoding.values(of: self, forKey: key) }

    /// The value at a path, collection operators included; see `NSArray`'s.
    public func value(forKeyPath keyPath: String) -> Any? { KeyValueCoding.value(of: self, at: keyPath) }

    /// Sets a property of every member.
    public func setValue(_ value: Any?, forKey key: String) { KeyValueCoding.set(value, of: self, forKey: key) }

    /// Sets the last property of the path on the objects that the rest of the path refers to, for every member.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        KeyValueCoding.set(value, of: self, at: keyPath)
    }
}

extension NSOrderedSet {
    /// Returns the ordered set of the members' values: those that are not nil, each once, at its first position.
    ///
    /// - Precondition: every member has the key.
    public func value(forKey key: String) -> Any { KeyValueCoding.values(of: self, forKey: key) }

    /// The value at a path, collection operators included; see `NSArray`'s.
    public func value(forKeyPath keyPath: String) -> Any? { KeyValueCoding.value(of: self, at: keyPath) }

    /// Sets a property of every member.
    public func setValue(_ value: Any?, forKey key: String) { KeyValueCoding.set(value, of: self, forKey: key) }

    /// Sets the last property of the path on the objects that the rest of the path refers to, for every member.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        KeyValueCoding.set(value, of: self, at: keyPath)
    }
}

extension NSDictionary {
    /// The value at a path of keys, of dictionaries and of objects in them; `@count`, `@allKeys` and `@allValues` are
    /// the dictionary's own.
    ///
    ///     (dictionary as NSDictionary).value(forKeyPath: "unit.items.@count")
    public func value(forKeyPath keyPath: String) -> Any? { KeyValueCoding.value(of: self, at: keyPath) }
}

extension NSMutableDictionary {
    /// Sets the entry; nil removes it.
    public func setValue(_ value: Any?, forKey key: String) { KeyValueCoding.set(value, of: self, forKey: key) }

    /// Sets the last key of the path on the value that the rest of the path refers to.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        KeyValueCoding.set(value, of: self, at: keyPath)
    }
}
