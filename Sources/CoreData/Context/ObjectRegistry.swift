import CObjectRuntime
import CoreDataPrimitives
import Foundation
import Synchronization

/// The objects that a context knows, by identity; what objects hold instead of their context.
///
/// A context registers its objects weakly: an object takes itself out when it is deallocated, on whatever thread
/// that happens. Each object retains the registry, and the registry knows the context as long as it lives, so an
/// object that outlives its context finds none instead of a dangling pointer.
///
/// Identity is the store's index, the root entity's ordinal and the primary key; keys of unsaved objects are
/// negative and lie in a table of their own.
final class ObjectRegistry: @unchecked Sendable {
    // Safe because `state` guards the tables, `coordinator` is set before there are objects, and `context` is written
    // once more, by the context's deinitialiser.

    /// The context, while it lives.
    private(set) unowned(unsafe) var context: NSManagedObjectContext?
    /// The context's coordinator, which the last object may need after the context has gone.
    var coordinator: NSPersistentStoreCoordinator?
    private let state = Mutex(State())

    private struct State {
        /// Addresses of objects by primary key.
        var tables: [Int: RowTable<UInt>] = [:]
        var temporary = RowTable<UInt>()
        /// Where an object went whose temporary ID had been handed out.
        var aliases: [Int64: NSManagedObjectID] = [:]
    }

    init(context: NSManagedObjectContext) { self.context = context }

    func contextWillGo() { context = nil }

    /// The registered object, retained; `nil` also while it is being deallocated.
    func object(store: Int, root: Int, primaryKey: Int64) -> NSManagedObject? {
        state.withLock { state in
            let pointer =
                primaryKey < 0
                ? state.temporary[primaryKey] : state.tables[store << 16 | root]?[primaryKey]
            return pointer.flatMap(Self.retained)
        }
    }

    /// The object at an address of a table, unless it is being deallocated.
    private static func retained(_ address: UInt) -> NSManagedObject? {
        guard let pointer = UnsafeMutableRawPointer(bitPattern: address), ocd_try_retain(pointer) else { return nil }
        return Unmanaged<NSManagedObject>.fromOpaque(pointer).takeRetainedValue()
    }

    private static func address(of object: NSManagedObject) -> UInt {
        UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    }

    func register(_ object: NSManagedObject, store: Int, root: Int, primaryKey: Int64) {
        let pointer = Self.address(of: object)
        state.withLock { state in
            if primaryKey < 0 {
                state.temporary.set(primaryKey, pointer)
            } else {
                state.tables[store << 16 | root, default: RowTable()].set(primaryKey, pointer)
            }
        }
    }

    /// Takes the object out, if it is the one registered under that identity.
    func unregister(_ object: NSManagedObject, store: Int, root: Int, primaryKey: Int64) {
        let pointer = Self.address(of: object)
        state.withLock { state in
            if primaryKey < 0 {
                if state.temporary[primaryKey] == pointer { state.temporary.remove(primaryKey) }
            } else {
                if state.tables[store << 16 | root]?[primaryKey] == pointer {
                    state.tables[store << 16 | root]?.remove(primaryKey)
                }
            }
        }
    }

    func alias(_ temporaryKey: Int64, to id: NSManagedObjectID) {
        state.withLock { $0.aliases[temporaryKey] = id }
    }

    func permanentID(forTemporaryKey key: Int64) -> NSManagedObjectID? {
        state.withLock { $0.aliases[key] }
    }

    /// Every registered object that is not being deallocated.
    var objects: [NSManagedObject] {
        state.withLock { state in
            var found: [NSManagedObject] = []
            func collect(_ table: RowTable<UInt>) {
                table.forEach { _, pointer in
                    if let object = Self.retained(pointer) { found.append(object) }
                }
            }
            collect(state.temporary)
            state.tables.values.forEach(collect)
            return found
        }
    }

    func removeAll() {
        state.withLock {
            $0.tables = [:]
            $0.temporary = RowTable()
        }
    }
}
