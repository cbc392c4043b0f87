import Foundation

/// How a context reads rows, and the failures of reads that could not throw.
///
/// ```
///  fault fires ──▶ row in memory, not older than staleness? ──yes──▶ values
///                    │ no
///                    ▼
///                  siblings, faultWatch ──▶ store ──error──▶ failure ──▶ the next save throws it
/// ```
/// Invariants:
/// - A read that cannot throw returns `nil` values and sets ``failure``. While ``failure`` is set, the next save throws
///   it, writes nothing and clears it. `rollback()` and `reset()` clear it, too: they discard the changes that may
///   depend on the read.
/// - ``failure`` holds the first of several errors.
/// - ``missingRowCount`` only grows.
struct RowReading {
    /// The number of seconds that a row in memory may be old when a fault fires; negative: any age.
    var staleness: TimeInterval = -1
    /// Whether a fault of a store on a server is read together with its siblings.
    var readsSiblings = true
    /// The objects that came together with others, of stores on servers.
    var siblings = SiblingLists()
    /// The counter of faults that fire one by one; `nil` while nothing counts them.
    var faultWatch: FaultWatch?
    /// The progress of the running fetch: it counts the rows, and can cancel the fetch.
    var fetchProgress: Progress?
    /// The number of times that a row did not exist any more.
    var missingRowCount = 0
    /// The first error of a read that could not throw.
    var failure: (any Error)?
    /// Receives the messages about values that cannot be decoded, in place of the log.
    var unreadableValueListener: ((String) -> Void)?
    /// Whether objects that other contexts deleted keep the values that were read, as objects do that the context
    /// itself deletes.
    var keepsDeletedValues = false
    /// See ``NSManagedObjectContext/readsMembersByKey``.
    var readsMembersByKey = false
    /// The relationships of which rows are read with the keys for some time.
    var memberReads = MemberReads()
}

extension NSManagedObjectContext {
    /// Receives the messages about values that cannot be decoded, in place of the log.
    package final var unreadableValueListener: ((String) -> Void)? {
        get { rowReading.unreadableValueListener }
        set { rowReading.unreadableValueListener = newValue }
    }

    /// Whether objects that other contexts deleted keep the values that were read, as objects do that the context
    /// itself deletes.
    package final var keepsDeletedValues: Bool {
        get { rowReading.keepsDeletedValues }
        set { rowReading.keepsDeletedValues = newValue }
    }

    /// Whether reading a to-many relationship reads the keys of its members: their rows are read together when one of
    /// them is first needed. Otherwise the rows are read with the relationship. See ``MemberReads``.
    package final var readsMembersByKey: Bool {
        get { rowReading.readsMembersByKey }
        set { rowReading.readsMembersByKey = newValue }
    }
}
