import CoreDataPrimitives
import Foundation
import Synchronization

/// The primary keys of a store whose class has names of its own for objects: reference objects.
///
/// A positive whole number is its own key. Others get keys that mean something as long as the store is open; what outlives it is
/// the URI, which has the reference itself: `x-coredata://…/Item/p12`, `x-coredata://…/Item/pmilk%2F1`.
final class ReferenceTable: Sendable {
    private struct Entry {
        var reference: Transfer<AnyHashable>
        /// The entity that the object was first said to be of, or one below it that was named later.
        var entity: Int
    }

    private struct State {
        /// By root entity.
        var keys: [Int: [Transfer<AnyHashable>: Int64]] = [:]
        var entries: [RowKey: Entry] = [:]
        var next: Int64 = 1 << 40
    }

    /// Guards keys and references.
    private let state = Mutex(State())

    /// The key of the object with that reference, which is given one if it has none.
    func key(of reference: Any, entity: EntityRuntime) -> Int64 {
        let reference = Self.hashable(reference)
        return state.withLock { state in
            if let known = state.keys[entity.root]?[reference] {
                let row = RowKey(entity: entity.root, primaryKey: known)
                // Who names an ancestor does not know better.
                if let old = state.entries[row]?.entity, entity.compiled.subtree.contains(old) { return known }
                state.entries[row]?.entity = entity.ordinal
                return known
            }
            var key = (reference.value.base as? NSNumber).map { $0.int64Value } ?? 0
            if key <= 0 || state.entries[RowKey(entity: entity.root, primaryKey: key)] != nil {
                key = state.next
                state.next += 1
            }
            state.keys[entity.root, default: [:]][reference] = key
            state.entries[RowKey(entity: entity.root, primaryKey: key)] = Entry(
                reference: reference, entity: entity.ordinal)
            return key
        }
    }

    /// The object with that key has that reference from now on.
    func take(_ reference: Any, key: Int64, entity: EntityRuntime) {
        let reference = Self.hashable(reference)
        state.withLock { state in
            state.keys[entity.root, default: [:]][reference] = key
            state.entries[RowKey(entity: entity.root, primaryKey: key)] = Entry(
                reference: reference, entity: entity.ordinal)
            state.next = max(state.next, key + 1)
        }
    }

    func reference(ofKey key: Int64, root: Int) -> Any? {
        state.withLock { $0.entries[RowKey(entity: root, primaryKey: key)]?.reference }?.value.base
    }

    /// The entity of the object itself, as far as it is known.
    func entity(ofKey key: Int64, root: Int) -> Int? {
        state.withLock { $0.entries[RowKey(entity: root, primaryKey: key)]?.entity }
    }

    /// What stands for the object in its URI.
    func text(ofKey key: Int64, root: Int) -> String {
        guard let reference = reference(ofKey: key, root: root) else { return "\(key)" }
        if let number = reference as? NSNumber { return number.stringValue }
        return "\(reference)".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "\(key)"
    }

    /// The key of what a URI names.
    func key(ofText text: String, entity: EntityRuntime) -> Int64 {
        let plain = text.removingPercentEncoding ?? text
        let known = state.withLock { state in
            state.keys[entity.root]?.first { "\($0.key.value.base)" == plain }?.value
        }
        return known ?? key(of: Int64(plain).map { NSNumber(value: $0) as Any } ?? plain, entity: entity)
    }

    /// Numbers are equal whatever their type.
    private static func hashable(_ reference: Any) -> Transfer<AnyHashable> {
        switch reference {
        case let number as NSNumber: Transfer(AnyHashable(number))
        case let number as any BinaryInteger: Transfer(AnyHashable(NSNumber(value: Int64(truncatingIfNeeded: number))))
        case let text as NSString: Transfer(AnyHashable(text as String))
        case let hashable as any Hashable: Transfer(AnyHashable(hashable))
        default: Transfer(AnyHashable("\(reference)"))
        }
    }
}

extension Transfer: Equatable where Value: Equatable {
    static func == (a: Transfer, b: Transfer) -> Bool { a.value == b.value }
}

extension Transfer: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
