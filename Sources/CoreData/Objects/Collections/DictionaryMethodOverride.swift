import CObjectRuntime
import Foundation

/// What Foundation's dictionaries answer for `@count`, `@allKeys` and `@allValues`: its `value(forKey:)` stops the
/// program at any key that begins with `@`. Put into its classes as the methods of predicates are; see
/// docs/decisions/foundations-predicates.md.
enum DictionaryMethodOverride {
    private static let keyed = MethodOverride(
        KeyedDictionary.self, count: 1, plain: (PlainDictionary.self, SecondPlainDictionary.self),
        base: NSDictionary.self)

    /// When the program begins.
    static func begin() {
        let classes: [AnyClass] = [NSDictionary.self, NSMutableDictionary.self]
        guard classes.allSatisfy(keyed.fits) else { return }
        for type in classes { keyed.apply(to: type) }
    }
}

extension NSDictionary {
    /// Nothing may be concluded from the class, so this is not inlined.
    @inline(never)
    fileprivate func entry(forKey key: String) -> Any? { KeyValueCoding.entry(key, of: self) }
}

private class PlainDictionary: NSDictionary {}

private class SecondPlainDictionary: NSDictionary {}

private class KeyedDictionary: NSDictionary {
    override func value(forKey key: String) -> Any? { entry(forKey: key) }
}
