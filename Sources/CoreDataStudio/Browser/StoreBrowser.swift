import CoreData
import CoreDataModel
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// An open store, and how pages read it.
// Safe because the coordinator is thread-safe, and its model does not change after it was opened.
package final class StoreBrowser: @unchecked Sendable {
    let opened: OpenStore
    /// The model with which the store was opened.
    let storeModel: StoreModel
    /// The store's path, or its URL without a password.
    let name: String
    let path: String
    let url: URL
    /// The origin of the model, and other facts about opening.
    let notes: [String]
    let isWritable: Bool
    let recordsHistory: Bool
    /// The store that the page of differences suggests.
    let comparedStore: URL?
    let counts: EntityCounts

    /// The model as written.
    package var document: ModelDocument { storeModel.document }

    /// - Throws: an error for a missing store, or one whose model is unknown.
    package init(store: URL, model: URL?, options: StudioOptions) throws {
        path = store.isFileURL ? store.path : store.absoluteString
        try StoreFile.checkExists(path)
        let found = try FoundModel.find(store: path, model: model, options: options)
        url = StoreFile.url(path)
        name = StoreFile.shown(path)
        storeModel = found.model
        notes = found.notes + found.model.notes
        isWritable = options.isWritable
        comparedStore = options.comparedStore
        counts = EntityCounts(of: url)
        recordsHistory = (try? counts.report().hasHistory) ?? false
        if options.isWritable, found.model.isInferred {
            throw ToolkitError("A store cannot be changed with an inferred model. Name its model before the store.")
        }
        opened =
            try options.isWritable
            ? OpenStore(changing: path, model: found.model, isNamed: model != nil)
            : OpenStore(reading: path, model: found.model, isNamed: model != nil)
    }

    /// Reads the store in a context of its own, so that each page shows the store as it is now.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let context = opened.makeContext()
        context.stalenessInterval = 0
        return try await context.perform { try body(context) }
    }

    /// Runs work that takes long on a thread of its own.
    func work<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }

    func close() async {
        for store in opened.coordinator.persistentStores { try? opened.coordinator.remove(store) }
    }
}

extension StoreBrowser {
    /// Returns the list of entities at the side of pages.
    func side(current: String?) async -> HTML {
        let counts = counts
        guard let report = try? await work({ try counts.report() }) else { return "" }
        let known = Set(opened.entities.compactMap(\.name))
        let rows = EntityList(report).rows.filter { known.contains($0.name) }.map { row -> HTML in
            let mark: HTML = row.name == current ? " aria-current=page" : ""
            let indent = String(repeating: "\u{2003}", count: row.depth)
            return """
                <li><a href="\(RowQuery(entity: row.name).address())"\(mark)>\(indent)\(row.name) \
                <span>\(GroupedNumber.text(row.count))</span></a>
                """
        }
        return "<nav aria-label=Entities><h2>Entities</h2><ul>\(rows)</ul></nav>"
    }
}
