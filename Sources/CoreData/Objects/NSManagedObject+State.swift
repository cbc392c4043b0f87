// What the flags of an object say.
extension NSManagedObject {
    /// Whether the next save will insert it.
    public final var isInserted: Bool { flags.contains(.inserted) }

    /// Whether the next save will update it.
    public final var isUpdated: Bool { flags.contains(.updated) }

    /// Whether the next save will delete it; false again once that is saved.
    public final var isDeleted: Bool { flags.contains(.deleted) }

    /// Whether it is inserted, updated or deleted.
    public final var hasChanges: Bool { !flags.isDisjoint(with: [.inserted, .updated, .deleted]) }

    /// Whether the context's source has a row of the object, whatever its key.
    final var isStored: Bool { !flags.contains(.new) }

    /// Whether its key is not one of a store: it was never saved there, and has got no permanent ID.
    final var hasTemporaryKey: Bool { primaryKey < 0 }

    /// Whether its values have not been read yet; asking does not read them. True for good once its context was reset.
    public final var isFault: Bool { !flags.isDisjoint(with: [.fault, .forgotten]) }
}
