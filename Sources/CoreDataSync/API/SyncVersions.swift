/// Two values of an attribute that devices wrote without knowledge of each other; see ``SyncOptions/merge``.
///
/// Values are `Int64`, `Double` (also of a `Float` attribute), `Decimal`, `String`, `Date`, `Data`, `UUID` or `URL`; a
/// Boolean is 0 or 1. A transformable value is `Data`: its archive.
public struct SyncVersions: Sendable {
    /// The name of the entity that the object has.
    public let entity: String
    /// The name of the attribute; of a composite's element `composite.element`.
    public let attribute: String
    /// The value with the earlier stamp; if more than two devices wrote values, the result for all earlier ones.
    public let earlier: (any Sendable)?
    /// The value with the later stamp.
    public let later: (any Sendable)?

    /// Creates a pair, to test a closure.
    public init(entity: String, attribute: String, earlier: (any Sendable)?, later: (any Sendable)?) {
        (self.entity, self.attribute, self.earlier, self.later) = (entity, attribute, earlier, later)
    }
}
