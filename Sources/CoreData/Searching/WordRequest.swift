import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation

/// A search by words as contexts hand it on to their parents and stores.
struct WordRequest {
    /// The attributes that are looked into.
    let names: [String]
    let search: WordSearch

    /// `nil` if there is nothing to search for.
    init?<Object>(_ search: TextSearch<Object>, _ entity: EntityRuntime) throws {
        let keys = search.keys.isEmpty ? Self.searched(entity).map(\.name) : search.keys
        guard !keys.isEmpty else {
            throw CoreDataErrors.invalidRequest(
                "No attribute of entity '\(entity.name)' has a word index: \(Self.advice)")
        }
        if let unknown = search.weights.keys.sorted().first(where: { !keys.contains($0) }) {
            throw CoreDataErrors.invalidRequest(
                "There is a weight for '\(unknown)' of entity '\(entity.name)', which is not searched: \(keys.joined(separator: ", ")) are."
            )
        }
        var names: [String] = []
        var slots: [Int] = []
        for key in keys where !names.contains(key) {
            guard let slot = entity.slot(forKey: key), let attribute = entity.slots[slot].attribute else {
                throw CoreDataErrors.invalidRequest(
                    "keypath \(key) not found in entity \(entity.name), or no attribute: it cannot be searched.")
            }
            guard attribute.searchIndexes.contains(.words) else {
                throw CoreDataErrors.invalidRequest(
                    "'\(key)' of entity '\(entity.name)' has no word index: \(Self.advice)")
            }
            names.append(key)
            slots.append(slot)
        }
        guard let expression = Self.expression(search) else { return nil }
        self.names = names
        self.search = WordSearch(
            slots: slots, weights: names.map { search.weights[$0] ?? 1 }, expression: expression,
            excerptLength: min(64, max(1, search.snippetLength)))
    }

    private static let advice =
        "set hasWordIndex, or write 'words' for 'OpenCoreData.search' in the user info of an attribute of type String."

    private static func expression<Object>(_ search: TextSearch<Object>) -> String? {
        switch search.matching {
        case .allWords: return WordQuery.allWords(search.text, prefixes: search.matchesPrefixes)
        case .anyWord: return WordQuery.anyWord(search.text, prefixes: search.matchesPrefixes)
        case .phrase: return WordQuery.phrase(search.text, prefixes: search.matchesPrefixes)
        case .expression:
            let isEmpty = search.text.allSatisfy { $0.isWhitespace || $0 == "\0" }
            return isEmpty ? nil : search.text.replacing("\0", with: " ")
        }
    }

    private static func searched(_ entity: EntityRuntime) -> [EntityRuntime.Slot] {
        entity.slots.filter { $0.attribute?.searchIndexes.contains(.words) ?? false }
    }

    /// The columns of the table that has the entity's texts, or would have.
    static func columns(of entity: EntityRuntime, in stores: [AttachedStore]) -> WordColumns {
        for store in stores { if let columns = store.source.wordColumns(ofEntity: entity.ordinal) { return columns } }
        let slots = searched(entity)
        return WordColumns(
            names: slots.map { "Z" + $0.name.uppercased() },
            placeOfSlot: Dictionary(
                slots.enumerated().map { ($1.property.slot, $0) }, uniquingKeysWith: { first, _ in first }))
    }

    /// - Throws: an error that describes the mistake in a caller's expression.
    func check(text: String, in context: NSManagedObjectContext, _ entity: EntityRuntime) throws {
        let columns = Self.columns(of: entity, in: context.coordinator?.attachedStores ?? [])
        let scratch = try ScratchWords(columns) { try SQLStore.makeDatabase($0) }
        // Check the expression by itself first, so that none of its parentheses ends the surrounding one.
        do {
            try scratch.check(search.expression)
            _ = try scratch.matches(search)
        } catch let failure as SQLFailure {
            throw CoreDataErrors.invalidRequest(
                "'\(text)' is no expression of a search (\(failure.message)): words that are to be taken as they stand need another matching than "
                    + ".expression. Its columns are \(columns.names.joined(separator: ", ")).")
        }
    }
}

/// An object that a search found.
struct FoundText {
    let object: NSManagedObject
    /// The better the greater.
    let rank: Double
    /// Of each searched attribute, with marks around what matches.
    let excerpts: [String?]
}

extension NSManagedObjectContext {
    /// Returns the matches of the context, the best first, within the request's window.
    final func foundTexts(_ request: AnyFetchRequest, _ words: WordRequest) throws -> [FoundText] {
        processPendingChanges()
        let coordinator = try coordinatorForRequest()
        let translation = try FetchTranslation(request, in: coordinator.runtime, clock: coordinator.clock)
        let pending = request.includesPendingChanges ? pendingObjects(for: translation) : PendingObjects()
        let extra = pending.changed.count + pending.deleted.count
        let limit = request.fetchLimit > 0 ? request.boundedLimit + request.boundedOffset + extra : 0
        var found: [FoundText]
        var loose = UnindexedTexts(words)
        if parentLink.isChild {
            found = try textsInParent(translation, words, limit: limit)
        } else {
            let stores = try readStores(for: translation.entity, affected: request.affectedStores)
            found = []
            for store in stores { found += try texts(in: store, translation, words, limit: limit, &loose) }
            if stores.count > 1 { found.sort { $0.rank > $1.rank } }
        }
        try overlay(pending, on: &found, translation, words, &loose)
        let columns = WordRequest.columns(of: translation.entity, in: coordinator.attachedStores)
        found += try loose.matches(columns).map { FoundText(object: $0.object, rank: 0, excerpts: $0.excerpts) }
        found.removeFirst(min(request.fetchOffset, found.count))
        if request.fetchLimit > 0, found.count > request.fetchLimit {
            found.removeLast(found.count - request.fetchLimit)
        }
        return found
    }

    private func texts(
        in store: AttachedStore, _ translation: FetchTranslation, _ words: WordRequest, limit: Int,
        _ loose: inout UnindexedTexts
    ) throws -> [FoundText] {
        var plan = translation.plan(for: store)
        plan.limit = limit
        plan.offset = 0
        plan.sorts = []
        if let result = try store.source.wordMatches(plan, words.search) {
            for row in result.unindexed { loose.add(object(for: row.key, in: store), row.texts) }
            return result.matches.map {
                FoundText(object: object(for: $0.key, in: store), rank: -$0.relevance, excerpts: $0.excerpts)
            }
        }
        plan.limit = 0
        // Every text that the predicate leaves.
        var all = UnindexedTexts(words)
        let columns =
            [FetchColumn(name: "self", expression: .evaluatedObject)]
            + words.names.map { FetchColumn(name: $0, expression: .keyPath(operand: .evaluatedObject, [$0])) }
        try store.source.forEachTuple(plan, columns: columns, distinct: false, groupBy: [], having: nil) { tuple in
            guard let key = tuple.key(0) else { return }
            let texts = words.names.indices.map { index -> String? in
                if case .string(let text) = tuple[index + 1] { text } else { nil }
            }
            if texts.contains(where: { $0 != nil }) { all.add(object(for: key, in: store), texts) }
        }
        return try all.matches(WordRequest.columns(of: translation.entity, in: []))
    }

    private func textsInParent(
        _ translation: FetchTranslation, _ words: WordRequest, limit: Int
    ) throws -> [FoundText] {
        struct Found {
            let storeIndex: Int32
            let key: RowKey
            let rank: Double
            let excerpts: [String?]
        }
        adoptPermanentKeys()
        guard let own = translation.request.copy() as? AnyFetchRequest else {
            throw CoreDataErrors.invalidRequest("The search's request cannot be copied.")
        }
        own.includesPendingChanges = true
        own.fetchLimit = limit
        own.fetchOffset = 0
        let found = try withParent { parent in
            try parent.foundTexts(own, words).compactMap { found -> Found? in
                let object = found.object
                guard let store = object.home.store ?? parent.storeForNew(object.runtime) else { return nil }
                return Found(
                    storeIndex: store.index, key: RowKey(entity: object.runtime.ordinal, primaryKey: object.primaryKey),
                    rank: found.rank, excerpts: found.excerpts)
            }
        }
        adoptPermanentKeys()
        return found.compactMap { found in
            guard let store = store(at: found.storeIndex) else { return nil }
            return FoundText(object: object(for: found.key, in: store), rank: found.rank, excerpts: found.excerpts)
        }
    }

    /// Removes objects that do not match any more, and collects those that may match now.
    private func overlay(
        _ pending: PendingObjects, on found: inout [FoundText], _ translation: FetchTranslation, _ words: WordRequest,
        _ loose: inout UnindexedTexts
    ) throws {
        guard !pending.isEmpty else { return }
        realiseAll(pending.changed)
        var changed: [ObjectReference: Bool] = [:]
        for object in pending.changed where !object.isDeleted {
            changed[ObjectReference(object)] = try translation.matches(object)
        }
        let slots = words.search.slots
        func keeps(_ object: NSManagedObject) -> Bool {
            if object.isDeleted { return false }
            guard let matches = changed[ObjectReference(object)] else { return true }
            return matches && !slots.contains { object.isChanged($0) }
        }
        found.removeAll { !keeps($0.object) }
        loose.removeAll { $0.isDeleted || changed[ObjectReference($0)] != nil }
        let known = Set(found.map { ObjectReference($0.object) })
        let matching = pending.changed.filter {
            changed[ObjectReference($0)] == true && !known.contains(ObjectReference($0))
        }
        let inserted = try pending.inserted.filter { try translation.matches($0) }
        for object in matching + inserted {
            loose.add(
                object, slots.map { if case .value(.string(let text)) = object.operand($0) { text } else { nil } })
        }
    }
}

/// Texts that no index contains in their current form.
private struct UnindexedTexts {
    private let words: WordRequest
    private var texts: [(object: NSManagedObject, texts: [String?])] = []

    init(_ words: WordRequest) { self.words = words }

    mutating func add(_ object: NSManagedObject, _ texts: [String?]) { self.texts.append((object, texts)) }

    mutating func removeAll(where isGone: (NSManagedObject) -> Bool) { texts.removeAll { isGone($0.object) } }

    /// Returns those that match, the best first.
    func matches(_ columns: WordColumns) throws -> [FoundText] {
        guard !texts.isEmpty else { return [] }
        let scratch = try ScratchWords(columns) { try SQLStore.makeDatabase($0) }
        try scratch.add(texts.enumerated().map { (Int64($0 + 1), $1.texts) }, slots: words.search.slots)
        return try scratch.matches(words.search).map {
            FoundText(object: texts[Int($0.id) - 1].object, rank: -$0.relevance, excerpts: $0.excerpts)
        }
    }
}
