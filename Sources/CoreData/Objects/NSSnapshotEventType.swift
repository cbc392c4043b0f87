/// What made an object's values change other than setting them; see `awake(fromSnapshotEvents:)`.
public struct NSSnapshotEventType: OptionSet, Sendable {
    /// The bits of the events.
    public let rawValue: UInt

    /// Events of these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// An insertion was undone, or a deletion done again.
    public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
    /// A deletion was undone: the object is back.
    public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
    /// A change of values was undone or done again.
    public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
    /// `rollback()` took the changes back.
    public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
    /// `refresh(_:mergeChanges:)` read the values anew.
    public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
    /// A merge policy resolved a conflict of the object.
    public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}
