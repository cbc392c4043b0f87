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

/// How a collection or a value changes, told to `willChange(_:valuesAt:forKey:)`.
public enum NSKeyValueChange: UInt, Sendable {
    /// The value was set.
    case setting = 1
    /// Objects come in at the positions.
    case insertion = 2
    /// The objects at the positions go.
    case removal = 3
    /// The objects at the positions are replaced by others.
    case replacement = 4
}
