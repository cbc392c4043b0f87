import CoreDataStore
import Foundation

// Searching by words.
extension NSManagedObjectContext {
    /// Finds objects by words in their texts, the best matches first, each with its rank and snippets.
    ///
    ///     let matches = try context.search(Note.self, "cream cheese", in: [\.title, \.body], limit: 20)
    ///     for match in matches { print(match.object.title ?? "", match.rank, match.snippet.marked("[", "]")) }
    ///     // SELECT t0.Z_PK, t0.Z_ENT, bm25(t1.OCD_WORDS_ZNOTE, ?, ?) AS relevance FROM ZNOTE t0
    ///     // JOIN OCD_WORDS_ZNOTE t1 ON t1.rowid = t0.Z_PK WHERE t1.OCD_WORDS_ZNOTE MATCH ? AND … ORDER BY relevance, t0.Z_PK LIMIT ?
    ///
    /// Every word must occur, in any of the attributes; no part of the text is syntax. See ``TextSearch`` for more
    /// options, and ``search(_:)`` for unsaved changes and errors.
    ///
    /// - Parameters:
    ///   - type: the class of the objects.
    ///   - text: the words.
    ///   - keyPaths: attributes with a word index; empty for all that have one.
    ///   - predicate: a further condition; `nil` for none.
    ///   - limit: the maximum number of matches; 0 for all.
    ///
    /// Not in Apple's API.
    public nonisolated final func search<Object: NSManagedObject>(
        _ type: Object.Type, _ text: String, in keyPaths: [PartialKeyPath<Object>] = [],
        where predicate: NSPredicate? = nil, limit: Int = 0
    ) throws -> [TextMatch<Object>] {
        var search = try TextSearch<Object>(text, in: keyPaths)
        search.predicate = predicate
        search.limit = limit
        return try self.search(search)
    }

    /// Finds objects by words in their texts, the best matches first.
    ///
    /// Unsaved changes of the context, and of its parents, count unless the search says otherwise. Deleted objects are
    /// not found. Inserted objects, and those with another text than in the store, are compared with the same words and
    /// come last, with the rank 0, since no statistics contain them. Objects with other changes keep their rank if they
    /// match the predicate. A text without a word finds nothing.
    ///
    /// Three statements per store, besides those for the objects' faults. A store without the index (other files, an
    /// SQLite without FTS5, a store opened for reading that never had it) is searched by reading the texts of all rows
    /// that match the predicate.
    ///
    /// - Throws: an error for an attribute without a word index, for one that the entity does not have, for an invalid
    ///   ``TextSearch/Matching/expression``, and the errors of a fetch with the predicate.
    ///
    /// Not in Apple's API.
    public nonisolated final func search<Object: NSManagedObject>(
        _ search: TextSearch<Object>
    ) throws -> [TextMatch<Object>] {
        ManagedObjectClasses.shared.learn(Object.self)
        return try CoreDataErrors.converting {
            checkOwned("search(_:)")
            let request = NSFetchRequest<NSManagedObject>(
                entityName: try search.entityName ?? ManagedObjectClasses.shared.entityName(of: Object.self))
            request.predicate = search.predicate
            request.fetchLimit = max(0, search.limit)
            request.fetchOffset = max(0, search.offset)
            request.includesSubentities = search.includesSubentities
            request.includesPendingChanges = search.includesPendingChanges
            request.affectedStores = search.affectedStores
            let coordinator = try coordinatorForRequest()
            let translation = try FetchTranslation(request, in: coordinator.runtime, clock: coordinator.clock)
            guard let words = try WordRequest(search, translation.entity) else { return [] }
            if search.matching == .expression { try words.check(text: search.text, in: self, translation.entity) }
            return try foundTexts(request, words).map { found in
                guard let object = found.object as? Object else {
                    throw CoreDataErrors.invalidRequest(
                        "The search for '\(Object.self)' found \(Swift.type(of: found.object)), which is none.")
                }
                return TextMatch(object, found, names: words.names)
            }
        }
    }
}

extension TextMatch {
    fileprivate init(_ object: Object, _ found: FoundText, names: [String]) {
        self.object = object
        rank = found.rank
        var snippets: [String: TextSnippet] = [:]
        var best: TextSnippet?
        for (name, excerpt) in zip(names, found.excerpts) {
            guard let excerpt else { continue }
            let snippet = TextSnippet(excerpt: excerpt)
            snippets[name] = snippet
            if best == nil || best?.ranges.isEmpty == true && !snippet.ranges.isEmpty { best = snippet }
        }
        self.snippets = snippets
        snippet = best ?? TextSnippet(excerpt: "")
    }
}

extension SwiftPredicates {
    /// The name of an attribute.
    static func attribute<Object: NSManagedObject>(_ keyPath: PartialKeyPath<Object>) throws -> String {
        if let name = KeyPathNames.name(for: keyPath) { return name }
        throw CoreDataErrors.invalidRequest(
            "\(keyPath) is no property of \(Object.self) that a store has: it cannot be searched.")
    }
}
