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
/// negative and lie in a table of their own. Each table is an open-addressing hash from key to pointer.
final class ObjectRegistry: @unchecked Sendable {
    // Safe because `state` guards the tables, `coordinator` is set before there are objects, and `context` is written
    // once more, by the context's deinitialiser.

    /// The context, while it lives.
    private(set) unowned(unsafe) var context: NSManagedObjectContext?
    /// The context's coordinator, which the last object may need after the context has gone.
    var coordinator: NSPersistentStoreCoordinator?
    private let state = Mutex(State())

    private struct State {
        var tables: [Int: IdentityTable] = [:]
        var temporary = IdentityTable()
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
                ? state.temporary[primaryKey] : state.tables[store << 16 | root]?[primaryKey] ?? 0
            return Self.retained(pointer)
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
                state.temporary[primaryKey] = pointer
            } else {
                state.tables[store << 16 | root, default: IdentityTable()][primaryKey] = pointer
            }
        }
    }

    /// Takes the object out, if it is the one registered under that identity.
    func unregister(_ object: NSManagedObject, store: Int, root: Int, primaryKey: Int64) {
        let pointer = Self.address(of: object)
        state.withLock { state in
            if primaryKey < 0 {
                state.temporary.remove(primaryKey, pointer)
            } else {
                state.tables[store << 16 | root]?.remove(primaryKey, pointer)
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
            func collect(_ table: IdentityTable) {
                table.forEach { pointer in
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
            $0.temporary = IdentityTable()
        }
    }
}

/// An open-addressing table from key to object, linear probing, at most half full.
///
/// ```
/// slot:   0        1        2        3
///       | 12 → • | 13 → • |        | 3 → •  |      slot = home(key), then the next free one
/// ```
/// Keys of one entity are mostly consecutive, and neighbours stay neighbours, so a scan over them walks memory
/// nearly in order. A removed entry leaves no mark: the entries behind it that belong before it are moved up.
struct IdentityTable {
    private var keys: [Int64] = []
    /// 0 where the slot is free.
    private var addresses: [UInt] = []
    private var count = 0

    private var mask: Int { keys.count - 1 }

    private static func home(_ key: Int64, _ mask: Int) -> Int {
        // Sixteen neighbours stay together; the blocks are scattered, so that no run of slots grows without end.
        let block = (UInt64(bitPattern: key >> 4) &* 0x9E37_79B9_7F4A_7C15) >> 32
        return (Int(block) << 4 | Int(key & 15)) & mask
    }

    subscript(key: Int64) -> UInt {
        get {
            guard count > 0 else { return 0 }
            var slot = Self.home(key, mask)
            while addresses[slot] != 0 {
                if keys[slot] == key { return addresses[slot] }
                slot = (slot + 1) & mask
            }
            return 0
        }
        set {
            if (count + 1) * 2 > keys.count { grow() }
            var slot = Self.home(key, mask)
            while addresses[slot] != 0 {
                if keys[slot] == key {
                    addresses[slot] = newValue
                    return
                }
                slot = (slot + 1) & mask
            }
            keys[slot] = key
            addresses[slot] = newValue
            count += 1
        }
    }

    mutating func remove(_ key: Int64, _ address: UInt) {
        guard count > 0 else { return }
        var slot = Self.home(key, mask)
        while addresses[slot] != 0 {
            if keys[slot] == key {
                guard addresses[slot] == address else { return }
                break
            }
            slot = (slot + 1) & mask
        }
        guard addresses[slot] != 0 else { return }
        count -= 1
        var hole = slot
        var next = (slot + 1) & mask
        while addresses[next] != 0 {
            let home = Self.home(keys[next], mask)
            // Whether `home` does not lie between the hole and `next`, going round: then it may fill the hole.
            if (next - home) & mask >= (next - hole) & mask {
                keys[hole] = keys[next]
                addresses[hole] = addresses[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        addresses[hole] = 0
    }

    func forEach(_ body: (UInt) -> Void) {
        for address in addresses where address != 0 { body(address) }
    }

    private mutating func grow() {
        let oldKeys = keys
        let oldAddresses = addresses
        let size = max(16, keys.count * 2)
        keys = [Int64](repeating: 0, count: size)
        addresses = [UInt](repeating: 0, count: size)
        count = 0
        for (index, address) in oldAddresses.enumerated() where address != 0 { self[oldKeys[index]] = address }
    }
}
