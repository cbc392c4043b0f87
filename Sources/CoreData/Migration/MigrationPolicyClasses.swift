import CObjectRuntime
import Foundation

/// The policies of the program, by name; see docs/decisions/classes-by-name.md.
enum MigrationPolicyClasses {
    private final class Found {
        var types: [NSEntityMigrationPolicy.Type] = []
    }

    /// The class of that name, with or without its module.
    static func find(named name: String) -> NSEntityMigrationPolicy.Type? {
        let parts = name.split(separator: ".").map(String.init)
        guard let last = parts.last else { return nil }
        if parts.count == 2, let type = NSClassFromString(name) as? NSEntityMigrationPolicy.Type { return type }
        let found = Found()
        ocd_for_each_class_named(
            last,
            { metadata, _, context in
                guard let context else { return }
                let type: AnyClass = unsafeBitCast(metadata, to: AnyClass.self)
                guard let policy = type as? NSEntityMigrationPolicy.Type else { return }
                Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().types.append(policy)
            }, Unmanaged.passUnretained(found).toOpaque())
        return found.types.first { String(reflecting: $0) == name } ?? found.types.first
    }
}
