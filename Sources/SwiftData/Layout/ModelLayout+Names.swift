import Foundation

extension ModelLayout {
    /// Returns the name of a key path: of a property, including inherited ones, or a path to a member of a composite
    /// (`address.city`, and `mood.mood` for an enumeration's raw value) or through relationships (`owner.name`).
    ///
    /// A listed key path is found with one lookup. Another one is applied to an instance that records the reads; the
    /// result is cached.
    ///
    /// - Returns: `nil` if the key path is no stored property, such as a computed or transient one.
    package func name(of keyPath: AnyKeyPath) -> String? {
        if let name = declaredName(of: keyPath) { return name }
        let key = FoundKeyPath(keyPath: keyPath)
        if let found = foundNames.withLock({ $0[key] }) { return found }
        let found = KeyPathSearch.name(of: keyPath, in: ModelDeclaration.of(type))
        foundNames.withLock { $0[key] = .some(found) }
        return found
    }

    /// The name to sort by: of a property as ``name(of:)`` says, or of the identifier (`objectID`, `owner.objectID`).
    package func sortName(of keyPath: AnyKeyPath) -> String? {
        if let name = name(of: keyPath) { return name }
        let key = FoundKeyPath(keyPath: keyPath)
        if let found = foundIdentifiers.withLock({ $0[key] }) { return found }
        let found = KeyPathSearch.identifierName(of: keyPath)
        foundIdentifiers.withLock { $0[key] = .some(found) }
        return found
    }

    private func declaredName(of keyPath: AnyKeyPath) -> String? {
        ownNames[keyPath] ?? superclass?.declaredName(of: keyPath)
    }
}

/// A key path that was looked for.
struct FoundKeyPath: Hashable, @unchecked Sendable {
    // Safe because nothing changes a key path.
    let keyPath: AnyKeyPath
}
