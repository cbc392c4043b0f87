/// The differences between the entities in a store's metadata and those of a model's configuration, by version hash.
package struct ModelMismatch: Hashable, Sendable {
    /// The entities that only the model has.
    package var added: [String] = []
    /// The entities that only the store has.
    package var removed: [String] = []
    /// The entities with different hashes.
    package var changed: [String] = []
    /// Their changes, one sentence each, if the store's cached model shows them.
    package var details: [String] = []

    package var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }

    package var description: String {
        var parts: [String] = []
        if !added.isEmpty { parts.append("only in the model: \(added.joined(separator: ", "))") }
        if !removed.isEmpty { parts.append("only in the store: \(removed.joined(separator: ", "))") }
        if !changed.isEmpty { parts.append("changed: \(changed.joined(separator: ", "))") }
        return (parts + details).joined(separator: "; ")
    }
}
