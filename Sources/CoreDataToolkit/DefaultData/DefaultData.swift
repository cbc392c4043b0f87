import CoreData
import Foundation

/// Provides an app's initial data in one of three ways.
///
/// Import once, from a file, if the user agrees; the store remembers the answer:
///
///     try await DefaultData.offer(
///         in: stack, ask: { await askTheUser() },
///         importing: { try await Importer($0, unique: unique).importRecords(from: .file(url), as: "Item") })
///
/// Start with a store that the app contains, copied before the first opening:
///
///     options.initialStore = url
///     let stack = try await CoreDataStack.setUp(model: model, storeURL: storeURL, options: options)
///
/// Copy objects from such a store into a store that may already have some:
///
///     try await DefaultData.offer(
///         in: stack, ask: { true },
///         importing: { try await DeepCopier(fromStoreAt: url, to: $0, unique: unique).copy() })
public enum DefaultData {
    /// The state of the offer, stored in the store's metadata.
    public enum Choice: String, Sendable {
        /// The user was not asked yet.
        case notAsked
        /// The user agreed, but the import has not finished: it failed, or the program terminated.
        case accepted
        /// The user declined.
        case declined
        /// The data was imported.
        case imported
    }

    /// The key of the choice in a store's metadata.
    public static let metadataKey = "CoreDataToolkitDefaultData"

    /// Returns the state of the offer.
    public static func choice(in stack: CoreDataStack) -> Choice {
        guard let store = stack.store,
            let text = stack.coordinator.metadata(for: store)[metadataKey] as? String
        else { return .notAsked }
        return Choice(rawValue: text) ?? .notAsked
    }

    /// Stores the choice in the store's metadata, and saves them.
    ///
    /// To ask the user again, set `.notAsked`.
    public static func setChoice(
        isolation: isolated (any Actor)? = #isolation, _ choice: Choice, in stack: CoreDataStack
    ) async throws {
        guard let store = stack.store else {
            throw ToolkitError("The stack has no store; reload() adds it again.")
        }
        var metadata = stack.coordinator.metadata(for: store)
        metadata[metadataKey] = choice.rawValue
        stack.coordinator.setMetadata(metadata, for: store)
        try await stack.save(stack.parentContext)
    }

    /// Asks once, imports once, and remembers both in the store.
    ///
    /// An import that did not finish is repeated the next time, without asking. So the import must find existing
    /// objects, as ``Importer`` and ``DeepCopier`` do.
    ///
    /// - Parameters:
    ///   - ask: asks the user; called only if the user was not asked before.
    ///   - importing: imports the data.
    /// - Returns: the choice afterwards.
    /// - Throws: the import's errors; the choice is then `.accepted`.
    @discardableResult
    public static func offer(
        isolation: isolated (any Actor)? = #isolation, in stack: CoreDataStack, ask: () async -> Bool,
        importing: (CoreDataStack) async throws -> Void
    ) async throws -> Choice {
        let known = choice(in: stack)
        if known == .imported || known == .declined { return known }
        if known == .notAsked {
            guard await ask() else {
                try await setChoice(.declined, in: stack)
                return .declined
            }
            try await setChoice(.accepted, in: stack)
        }
        try await importing(stack)
        try await setChoice(.imported, in: stack)
        return .imported
    }

    /// Copies a store, with its external data, to a place without a store, before it is first opened.
    ///
    /// ``CoreDataStack/Options/initialStore`` does this during setup.
    ///
    /// - Returns: whether it was copied: `false` if a store exists already.
    /// - Throws: a ``ToolkitError`` if the initial store does not exist; the errors of `replacePersistentStore`.
    @discardableResult
    public static func copyInitialStore(
        from initial: URL, to url: URL, type: NSPersistentStore.StoreType = .sqlite
    ) throws -> Bool {
        let size = (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber)?.intValue ?? 0
        guard size == 0 else { return false }
        guard FileManager.default.fileExists(atPath: initial.path) else {
            throw ToolkitError(
                "There is no initial store at '\(initial.path)'; it must come with the program. See DefaultData.")
        }
        do { try StoreTools.makeCopy(of: initial, at: url, type: type.rawValue) } catch let error as CocoaError
            where error.code == .fileWriteFileExists
        {
            // Another program has created its store meanwhile.
            return false
        }
        return true
    }
}
