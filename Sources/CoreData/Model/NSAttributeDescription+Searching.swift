import CoreDataModel

extension NSAttributeDescription {
    /// Whether SQLite stores have a search index that finds a text by any part of it with at least three scalars.
    ///
    ///     name.hasTrigramIndex = true
    ///     request.predicate = NSPredicate(format: "name CONTAINS[cd] 'choc'")
    ///     // … WHERE t0.Z_PK IN (SELECT rowid FROM OCD_TRIGRAM_ZITEM_ZNAME WHERE text MATCH ? UNION ALL …) AND CDTextContains(…)
    ///
    /// It serves `CONTAINS`, `LIKE`, `ENDSWITH` and `BEGINSWITH` with any of `[cd]`, and `IN` of a text; the results
    /// are the same as without it. In a model file it is the entry `OpenCoreData.search` with the value `trigram` in
    /// the attribute's user info, which this property reads and sets. It has no effect on attributes that are not
    /// stored as text.
    ///
    /// Not in Apple's API; Apple's framework ignores the entry, which is not part of version hashes.
    public final var hasTrigramIndex: Bool {
        get { searchIndexes.contains(.trigram) }
        set { setSearchIndex(.trigram, newValue) }
    }

    /// Whether SQLite stores have a search index that finds a text by its words, with ranks and snippets; see
    /// ``NSManagedObjectContext/search(_:_:in:where:limit:)``.
    ///
    ///     title.hasWordIndex = true
    ///     let matches = try context.search(Note.self, "cream cheese", in: ["title", "body"], limit: 20)
    ///
    /// In a model file it is the entry `OpenCoreData.search` with the value `words` in the attribute's user info
    /// (`trigram, words` for both), which this property reads and sets. All such attributes of a table are in one
    /// index.
    ///
    /// Not in Apple's API; Apple's framework ignores the entry, which is not part of version hashes.
    public final var hasWordIndex: Bool {
        get { searchIndexes.contains(.words) }
        set { setSearchIndex(.words, newValue) }
    }

    private var searchIndexes: SearchIndexKinds {
        (userInfo?[SearchIndexKinds.key] as? String).map { SearchIndexKinds.parse($0).kinds } ?? []
    }

    private func setSearchIndex(_ kind: SearchIndexKinds, _ isWanted: Bool) {
        var kinds = searchIndexes
        guard isWanted != kinds.contains(kind) else { return }
        if isWanted { kinds.insert(kind) } else { kinds.remove(kind) }
        var info = userInfo ?? [:]
        info[SearchIndexKinds.key] = kinds.text
        userInfo = info
    }
}
