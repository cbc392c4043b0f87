/// The names that a store gives to what a model has, told by somebody who knows SQL.
package struct ModelStoreNames: Sendable {
    /// The table of each entity by name; subentities share their root's.
    package var tables: [String: String] = [:]
    /// By `Book.title`: the column; of a many-to-many relationship the join table.
    package var columns: [String: String] = [:]

    package init() {}
}
