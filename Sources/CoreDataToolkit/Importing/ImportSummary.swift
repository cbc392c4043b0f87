/// The result of an import.
public struct ImportSummary: Sendable {
    /// The numbers of changed objects of one entity.
    public struct Counts: Hashable, Sendable {
        /// The number of created objects.
        public var created = 0
        /// The number of existing objects with changed values.
        public var updated = 0
        /// The number of relationships that were set to another object than before.
        public var linked = 0

        package init() {}
    }

    /// The number of imported records.
    public var records = 0
    /// The number of skipped invalid records.
    public var skipped = 0
    /// The numbers by entity name.
    public var entities: [String: Counts] = [:]
    /// The duration in seconds.
    public var seconds = 0.0
    /// The first skipped invalid records, at most twenty.
    public var failures: [RecordFailure] = []
    /// Relationships to objects that are neither in the file nor in the store; they were not set.
    public var missing: [String] = []
    /// Fields without a property, with the number of records that have them.
    public var ignoredFields: [String: Int] = [:]

    package init() {}

    mutating func add(_ other: [String: Counts]) {
        for (entity, counts) in other {
            entities[entity, default: Counts()].created += counts.created
            entities[entity, default: Counts()].updated += counts.updated
            entities[entity, default: Counts()].linked += counts.linked
        }
    }
}
