/// How a set changes, told to `willChangeValue(forKey:withSetMutation:using:)`.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// The objects are added.
    case union = 1
    /// The objects are removed.
    case minus = 2
    /// The objects that are not given are removed.
    case intersect = 3
    /// The objects replace all others.
    case set = 4
}
