import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// Returns the rows for which a test of their text may be true, if a trigram index finds them.
    ///
    ///     name CONTAINS[cd] "choc"   // t0.Z_PK IN (SELECT rowid FROM OCD_TRIGRAM_ZITEM_ZNAME WHERE text MATCH ? UNION ALL
    ///                                // SELECT Z_PK FROM OCD_TRIGRAM_ZITEM_ZNAME_LOG) AND CDTextContains(t0.ZNAME, ?, 3)
    ///
    /// The result is `nil` if there is no such index, or the searched text has fewer than three adjacent scalars.
    func trigramCandidates(_ text: QueryScalar, _ part: QueryScalar, _ leaf: Leaf) -> SQLExpression? {
        guard let search = text.search, case .bind(.text(let wanted)) = part.sql else { return nil }
        let query: String? =
            switch leaf.comparator {
            case .contains, .beginsWith, .endsWith, .in: SearchText.query(containing: wanted)
            case .like: SearchText.query(like: wanted)
            default: nil
            }
        return query.map { .inSelect(search.key, search.index.candidates($0)) }
    }
}
