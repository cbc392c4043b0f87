import CoreData
import Foundation

/// The data that an app comes with, three ways.
///
/// Import once, from a file, when the user agrees; the store remembers the answer:
///
///     try await DefaultData.offer(
///         in: stack, ask: { await askTheUser() },
///         importing: { try await Importer($0, unique: unique).importRecords(from: .file(url), as: "Item") })
///
/// Begin with a store that comes with the app, copied before the first opening:
///
///     options.initialStore = url
///     let stack = try await CoreDataStack.setUp(model: model, storeURL: storeURL, options: options)
///
/// Copy objects from such a store into one that may have some already:
///
///     try await DefaultData.offer(
///         in: stack, ask: { true },
///         importing: { try await DeepCopier(fromStoreAt: url, to: $0, unique: unique).copy() })
public enum DefaultData {
    /// What became of the offer; kept in the store's metadata.
    public enum Choice: String, Sendable {
        /// Nobody has been asked.
        case notAsked
        /// The user agreed, and the import has not ended yet: it failed, or the program did.
        case accepted
        /// The user does not want it.
        case declined
        /// The data is there.
        case imported
    }

    /// Where the choice stands in a store's metadata.
    public static let metadataKey = "CoreDataToolkitDefaultData"

    /// What became of the offer.
    public static func choice(in stack: CoreDataStack) -> Choice {
        guard let store = stack.store,
            let text = stack.coordinator.metadata(for: store)[metadataKey] as? String
        else { return .notAsked }
        return Choice(rawValue: text) ?? .notAsked
    }

    /// Notes the choice in the store's metadata, and saves that.
    ///
    /// To ask again, note `.notAsked`.
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
    /// An import that did not end is done again the next time, without asking: let it find what is there, as ``Importer`` and
    /// ``DeepCopier`` do.
    ///
    /// - Parameters:
    ///   - ask: asks the user; called only where nobody was asked before.
    ///   - importing: brings the data in.
    /// - Returns: the choice as it is afterwards.
    /// - Throws: what the import throws; the choice is `.accepted` then.
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

    /// Copies a store, with its external data, to a place where there is none; before it is first opened.
    ///
    /// ``CoreDataStack/Options/initialStore`` does so when a stack is set up.
    ///
    /// - Returns: whether it was copied: `false` where there is a store already.
    /// - Throws: a ``ToolkitError`` where there is no initial store, and what `replacePersistentStore` throws.
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
            // Another program has made its store since.
            return false
        }
        return true
    }
}
