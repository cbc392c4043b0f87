import CoreDataModel

/// A change of one version of a model, as a value.
///
///     let edits: [ModelEdit] = [
///         .addProperty(.attribute, name: "title", entity: "Book"),
///         .set(.property(entity: "Book", name: "title"), .isOptional, "NO"),
///     ]
package enum ModelEdit: Hashable, Sendable {
    case addEntity(String, parent: String? = nil)
    case addProperty(PropertyKind, name: String, entity: String)
    case addFetchIndex(String, entity: String)
    case addFetchRequest(String, entity: String)
    case addConfiguration(String)
    case addComposite(String)
    case addCompositeElement(String, composite: String)

    /// Renames an element and all references to it.
    ///
    /// - Parameter keepsIdentity: whether the new name gets the old one as its renaming identifier, so that a
    ///   lightweight migration keeps the values.
    case rename(ModelPath, to: String, keepsIdentity: Bool = false)
    /// Deletes an element and the references to it.
    case delete(ModelPath)
    /// Moves a property to another entity, for example to the parent.
    case move(ModelPath, toEntity: String)
    /// Moves an element among its siblings of the same kind; the index counts from 0.
    case reorder(ModelPath, to: Int)

    /// Sets a setting; `nil` removes it.
    case set(ModelPath, ModelSetting, String?)
    /// Sets a user-info value; `nil` removes the key.
    case setUserInfo(ModelPath, key: String, value: String?)
    /// Sets the inverse of a relationship on both sides; `nil` removes it from both.
    case setInverse(ModelPath, String?)
    case setIndexElements(ModelPath, [FetchIndexElement.Element])
    /// Adds or replaces a uniqueness constraint; an empty list deletes it. The index counts from 0; `nil` adds one.
    case setConstraint(entity: String, at: Int?, [String])
    /// Replaces the list of indexes from before fetch indexes.
    case setCompoundIndexes(entity: String, [[String]])
    case setMembers(configuration: String, [String])
    /// Moves an entity's box in Xcode's diagram.
    case setPosition(entity: String, x: Int, y: Int)
}

extension ModelEdit {
    /// The edit in a menu: `Rename 'Book.title' to 'name'`.
    package var title: String {
        switch self {
        case .addEntity(let name, _): "Add entity '\(name)'"
        case .addProperty(let kind, let name, let entity): "Add \(kind.title) '\(entity).\(name)'"
        case .addFetchIndex(let name, let entity): "Add index '\(entity).\(name)'"
        case .addFetchRequest(let name, _): "Add fetch request '\(name)'"
        case .addConfiguration(let name): "Add configuration '\(name)'"
        case .addComposite(let name): "Add composite '\(name)'"
        case .addCompositeElement(let name, let composite): "Add attribute '\(composite).\(name)'"
        case .rename(let path, let name, _): "Rename \(path.text) to '\(name)'"
        case .delete(let path): "Delete \(path.text)"
        case .move(let path, let entity): "Move \(path.text) to '\(entity)'"
        case .reorder(let path, _): "Move \(path.text)"
        case .set(let path, let setting, _): "Set \(setting.traits.title) of \(path.text)"
        case .setUserInfo(let path, let key, _): "Set user info '\(key)' of \(path.text)"
        case .setInverse(let path, _): "Set inverse of \(path.text)"
        case .setIndexElements(let path, _): "Set elements of index \(path.text)"
        case .setConstraint(let entity, _, let names):
            names.isEmpty ? "Delete constraint of '\(entity)'" : "Set constraint of '\(entity)'"
        case .setCompoundIndexes(let entity, _): "Set compound indexes of '\(entity)'"
        case .setMembers(let name, _): "Set entities of configuration '\(name)'"
        case .setPosition(let entity, _, _): "Move box '\(entity)'"
        }
    }
}
