import Foundation

/// Whether the values that descriptions hold are the same by content.
enum ContentEquality {
    static func areEqual(_ a: [AnyHashable: Any]?, _ b: [AnyHashable: Any]?) -> Bool {
        let a = a ?? [:]
        let b = b ?? [:]
        guard a.count == b.count else { return false }
        return a.allSatisfy { key, value in b[key].map { areEqual(value, $0) } ?? false }
    }

    static func areEqual(_ a: NSPredicate?, _ b: NSPredicate?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return a === b || a.node == b.node
    }

    /// Whether two values of any type are equal, as objects or as hashable values.
    static func areEqual(_ a: Any?, _ b: Any?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        if let a = a as? AnyHashable, let b = b as? AnyHashable, a == b { return true }
        if let a = a as? NSObject, let b = b as? NSObject { return a.isEqual(b) }
        return false
    }
}
