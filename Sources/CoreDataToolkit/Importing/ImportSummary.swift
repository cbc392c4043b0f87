/// What an import did.
public struct ImportSummary: Sendable {
    /// What became of the objects of one entity.
    public struct Counts: Hashable, Sendable {
        /// How many objects were made.
        public var created = 0
        /// How many objects that were there got other values.
        public var updated = 0
        /// How many relationships were set to another object than before.
        public var linked = 0

        package init() {}
    }

    /// How many records were imported.
    public var records = 0
    /// How many invalid records were left out.
    public var skipped = 0
    /// By the names of entities.
    public var entities: [String: Counts] = [:]
    /// How long it took.
    public var seconds = 0.0
    /// The first invalid records that were left out, at most twenty.
    public var failures: [RecordFailure] = []
    /// Relationships to objects that are neither in the file nor in the store, which were left out.
    public var missing: [String] = []
    /// Fields that no property is for, with the number of records that have them.
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
