import Foundation
import Synchronization

/// Finds the methods of `NSManagedObject` that a user's class overrides.
///
/// Calling `validateValue(_:forKey:)` for every property of every object costs more than the save itself, and almost no
/// class overrides it. A class's method table begins with its superclass's, entry by entry. A probe class that
/// overrides one method therefore shows that method's entry: the entry that differs from `NSManagedObject`'s in this
/// probe, but not in a probe that overrides nothing.
enum ClassOverrides {
    static func overridesValidateValue(_ type: NSManagedObject.Type) -> Bool {
        isOverridden(validateValueEntry, in: type)
    }

    static func overridesUndefinedKey(_ type: NSManagedObject.Type) -> Bool {
        isOverridden(undefinedKeyEntry, in: type)
    }

    /// Whether the class overrides `value(forKey:)`.
    static func overridesValue(_ type: NSManagedObject.Type) -> Bool { isOverridden(valueEntry, in: type) }

    /// Whether the class says itself what nil means for a number: `setNilValueForKey(_:)`.
    static func overridesNilValue(_ type: NSManagedObject.Type) -> Bool { isOverridden(nilValueEntry, in: type) }

    /// Whether the class says itself which entity is its own: `entity()`.
    static func overridesEntity(_ type: NSManagedObject.Type) -> Bool { isOverridden(entityEntry, in: type) }

    /// Whether the class has code that a save must run for an object whose row conflicts with a new one.
    static func overridesWhatUpdatesCall(_ type: NSManagedObject.Type) -> Bool {
        [validateValueEntry, validateForUpdateEntry, didSaveEntry, awakeFromFetchEntry].contains {
            isOverridden($0, in: type)
        }
    }

    /// Whether the class overrides a hook for objects that are made, read, saved or validated.
    static func overridesAnyHook(_ type: NSManagedObject.Type) -> Bool {
        overridesValidateValue(type) || hookEntries.contains { isOverridden($0, in: type) }
    }

    /// The entries; `nil` if the probe does not show exactly one: then every class counts as overriding.
    private static let validateValueEntry = entry(of: ValidateValueProbe.self)
    private static let validateForUpdateEntry = entry(of: ValidateForUpdateProbe.self)
    private static let didSaveEntry = entry(of: DidSaveProbe.self)
    private static let awakeFromFetchEntry = entry(of: AwakeFromFetchProbe.self)
    private static let undefinedKeyEntry = entry(of: UndefinedKeyProbe.self)
    private static let valueEntry = entry(of: ValueProbe.self)
    private static let nilValueEntry = entry(of: NilValueProbe.self)
    private static let entityEntry = entry(of: EntityProbe.self)

    private static let hookEntries = [
        entry(of: InsertProbe.self), awakeFromFetchEntry, entry(of: WillSaveProbe.self), didSaveEntry,
        entry(of: ValidateInsertProbe.self), validateForUpdateEntry,
    ]

    private static func isOverridden(_ entry: Int?, in type: NSManagedObject.Type) -> Bool {
        guard let entry else { return type != NSManagedObject.self }
        return word(entry, of: type) != word(entry, of: NSManagedObject.self)
    }

    private static func entry(of probe: NSManagedObject.Type) -> Int? {
        let count = sizeInWords(of: NSManagedObject.self)
        let differing = (0..<count).filter { index in
            word(index, of: probe) != word(index, of: NSManagedObject.self)
                && word(index, of: PlainProbe.self) == word(index, of: NSManagedObject.self)
        }
        return differing.count == 1 ? differing[0] : nil
    }

    private static func word(_ index: Int, of type: NSManagedObject.Type) -> UInt {
        unsafeBitCast(type, to: UnsafePointer<UInt>.self)[index]
    }

    /// The words of a class's metadata after its address point.
    ///
    /// Without the Objective-C runtime the record has, in bytes from the address point: kind 0, superclass 8,
    /// flags 16 (32 bits), instance address point 20, instance size 24, alignment mask 28 (16 bits), reserved 30,
    /// class size 32, class address point 36.
    private static func sizeInWords(of type: NSManagedObject.Type) -> Int {
        let base = unsafeBitCast(type, to: UnsafeRawPointer.self)
        let size = Int(base.load(fromByteOffset: 32, as: UInt32.self))
        let addressPoint = Int(base.load(fromByteOffset: 36, as: UInt32.self))
        return max(0, size - addressPoint) / MemoryLayout<UInt>.size
    }

    /// Whether objects of the class are laid out as `NSManagedObject`'s: it adds no stored property.
    static func hasLayoutOfManagedObject(_ type: NSManagedObject.Type) -> Bool {
        layout(of: type) == layout(of: NSManagedObject.self)
    }

    /// Size and alignment of an object, and where in it the class refers to: see ``sizeInWords(of:)``.
    private static func layout(of type: NSManagedObject.Type) -> [UInt32] {
        let base = unsafeBitCast(type, to: UnsafeRawPointer.self)
        return [base.load(fromByteOffset: 20, as: UInt32.self), base.load(fromByteOffset: 24, as: UInt32.self)]
            + [UInt32(base.load(fromByteOffset: 28, as: UInt16.self))]
    }

    private final class PlainProbe: NSManagedObject {}

    private final class ValidateValueProbe: NSManagedObject {
        override func validateValue(
            _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
        ) throws {}
    }

    private final class ValidateForUpdateProbe: NSManagedObject {
        override func validateForUpdate() throws {}
    }

    private final class DidSaveProbe: NSManagedObject {
        override func didSave() {}
    }

    private final class AwakeFromFetchProbe: NSManagedObject {
        override func awakeFromFetch() {}
    }

    private final class UndefinedKeyProbe: NSManagedObject {
        override func value(forUndefinedKey key: String) -> Any? { nil }
    }

    private final class ValueProbe: NSManagedObject {
        override func value(forKey key: String) -> Any? { nil }
    }

    private final class NilValueProbe: NSManagedObject {
        override func setNilValueForKey(_ key: String) {}
    }

    private final class EntityProbe: NSManagedObject {
        override class func entity() -> NSEntityDescription { NSEntityDescription() }
    }

    /// A body that no empty one is merged with.
    private static func neverCalled() -> Never { preconditionFailure("a probe is only looked at") }

    private final class InsertProbe: NSManagedObject {
        override func awakeFromInsert() { ClassOverrides.neverCalled() }
    }

    private final class WillSaveProbe: NSManagedObject {
        override func willSave() { ClassOverrides.neverCalled() }
    }

    private final class ValidateInsertProbe: NSManagedObject {
        override func validateForInsert() throws { ClassOverrides.neverCalled() }
    }

}
