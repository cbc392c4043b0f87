/// What is known of one property of an object: a value with its stamp, or parts of a value with theirs.
///
/// `merged(with:)` is commutative, associative and idempotent for any two states, also of different kinds: a device
/// with another model may merge by another rule.
package enum PropertyState: Hashable, Sendable {
    /// The last writer wins.
    case last(Stamp, SyncValue)
    /// The smallest value wins.
    case minimum(Stamp, SyncValue)
    /// The greatest value wins.
    case maximum(Stamp, SyncValue)
    /// Values of which each is the smallest since some time, the earliest first: later ones are greater. The first
    /// wins, unless it is from before the object's last deletion. At least two; none if a compacted state has only its
    /// kind left.
    case minima([Candidate])
    /// The same for the greatest value.
    case maxima([Candidate])
    /// A sum of one number for each device, which only that device changes.
    case counter([DeviceID: Contribution])
    /// Elements that each device adds and removes: lines of a text, items of a list, values that an app merges.
    case elements(ElementKind, ElementSet)

    /// What the elements of a set are. The number is written into files.
    package enum ElementKind: UInt8, Hashable, Sendable, CaseIterable {
        /// The lines of a text.
        case lines = 2
        /// The items of an enumeration.
        case items = 3
        /// Whole values that were written without knowledge of each other.
        case versions = 4
    }

    /// A value that wins if those before it no longer count.
    package struct Candidate: Hashable, Sendable {
        package var stamp: Stamp
        package var value: SyncValue

        package init(_ stamp: Stamp, _ value: SyncValue) { (self.stamp, self.value) = (stamp, value) }
    }

    /// What one device has added to a counter.
    package struct Contribution: Hashable, Sendable {
        /// The time of the device's last change; the later contribution of one device replaces the earlier one.
        package var ticks: UInt64
        package var amount: SyncValue

        package init(ticks: UInt64, amount: SyncValue) { (self.ticks, self.amount) = (ticks, amount) }
    }
}
