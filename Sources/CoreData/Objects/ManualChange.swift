/// The content of a relationship before a change that has begun.
struct ManualChange {
    let slot: Int
    /// The objects that the change may remove; `nil` if the relationship was not read.
    let objects: [NSManagedObject]?
}
