import CObjectRuntime
import Foundation
import Synchronization

extension ManagedMemberTable {
    /// Guards the tables made so far; each is kept for good, as its class is.
    private static let tables = Mutex<[ObjectIdentifier: ManagedMemberTable]>([:])

    static func of(_ type: NSManagedObject.Type) -> ManagedMemberTable {
        if let known = tables.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        // Outside the lock, as generated code runs.
        let table = ManagedMemberTable(type)
        return tables.withLock { tables in
            let kept = tables[ObjectIdentifier(type)] ?? table
            tables[ObjectIdentifier(type)] = kept
            return kept
        }
    }

    private final class FoundLists {
        var lists: [ManagedMembers.Type] = []
    }

    /// The lists of the class's own members: one of each module that extends it.
    static func lists(of type: NSManagedObject.Type) -> [ManagedMembers.Type] {
        let path = ManagedObjectClasses.fullName(of: type).split(separator: ".").dropFirst()
        let found = FoundLists()
        ocd_for_each_class_named(
            "_" + path.joined(separator: "_") + "Members",
            { metadata, _, context in
                guard let context,
                    let list = unsafeBitCast(metadata, to: AnyClass.self) as? ManagedMembers.Type
                else { return }
                Unmanaged<FoundLists>.fromOpaque(context).takeUnretainedValue().lists.append(list)
            }, Unmanaged.passUnretained(found).toOpaque())
        return found.lists.filter { $0.managedClass == type }
    }
}

extension EntityRuntime {
    /// Returns the members of a class; without a lookup if it is the class of the entity's objects.
    func members(of type: NSManagedObject.Type) -> ManagedMemberTable {
        uncountedMembers(of: type).takeUnretainedValue()
    }

    /// As ``members(of:)``, without a reference to the table, which is kept for good.
    func uncountedMembers(of type: NSManagedObject.Type) -> Unmanaged<ManagedMemberTable> {
        guard isKnownClass(type) else { return .passUnretained(.of(type)) }
        if let known = UnsafeRawPointer(bitPattern: memberCache.load(ordering: .acquiring)) {
            return .fromOpaque(known)
        }
        let table = Unmanaged.passUnretained(ManagedMemberTable.of(type))
        memberCache.store(UInt(bitPattern: table.toOpaque()), ordering: .releasing)
        return table
    }
}

extension NSManagedObject {
    final var memberTable: ManagedMemberTable { home.runtime.members(of: type(of: self)) }

    /// Calls the class's method `validate<Key>(_:)`, if it has one.
    final func validateByMember(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try memberTable.validator(ofKey: key)?(self, value)
    }
}
