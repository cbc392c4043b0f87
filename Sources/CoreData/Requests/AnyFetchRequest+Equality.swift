extension ContentEquality {
    /// Whether both requests ask for the same, by everything that a model file can say about one.
    static func areEqual(_ a: AnyFetchRequest?, _ b: AnyFetchRequest?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return a === b
            || (a.entityName == b.entityName && areEqual(a.predicate, b.predicate)
                && (a.sortDescriptors ?? []).elementsEqual(b.sortDescriptors ?? []) { $0.isEqual($1) }
                && a.fetchLimit == b.fetchLimit && a.fetchOffset == b.fetchOffset
                && a.fetchBatchSize == b.fetchBatchSize && a.resultType == b.resultType
                && a.includesSubentities == b.includesSubentities
                && a.includesPropertyValues == b.includesPropertyValues
                && a.includesPendingChanges == b.includesPendingChanges
                && a.returnsObjectsAsFaults == b.returnsObjectsAsFaults
                && a.returnsDistinctResults == b.returnsDistinctResults)
    }
}
