import Foundation

/// What happened to an object or a section of a fetched results controller.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// It is new, or matches now.
    case insert = 1
    /// It was deleted, or does not match any more.
    case delete = 2
    /// It is at another place among the objects that stayed, and may have changed.
    case move = 3
    /// It changed and kept its place.
    case update = 4
}
