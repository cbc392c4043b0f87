import CoreDataModel
import TestSupport
import Testing

@Suite struct DictionaryOrderTests {
    // "a": r = 1·257 + 97 = 354; 354 + (354 << 1) = 1062.
    @Test(arguments: [("", 0), ("a", 1062)] as [(String, UInt64)])
    func hashOfShortNames(name: String, hash: UInt64) {
        #expect(DictionaryOrder.hash(name) == hash)
    }

    /// The favorites of a browser's bookmarks name their join table, their inverse does not (store-format §4.2).
    @Test func leopardOrderPutsFavoritesFirst() {
        let names = [
            "children", "favoriteFolders", "favorites", "isFolder", "isPendingDeletion", "modifiedAt", "parent",
            "title", "url", "uuid",
        ]
        let order = DictionaryOrder.leopard(names)
        #expect(order.firstIndex(of: "favorites")! < order.firstIndex(of: "favoriteFolders")!)
    }

    @Test func orderDoesNotDependOnTheOrderGiven() {
        let names = (0..<50).map { "property\($0)" }
        for order in [DictionaryOrder.leopard, { DictionaryOrder.grown($0) }, DictionaryOrder.archived] {
            #expect(order(names.reversed()) == order(names))
            #expect(Set(order(names)) == Set(names))
        }
    }

    /// What is in no column takes no part, and foreign keys make the dictionary grow (store-format §4.3).
    @Test func grownOrderIsOfTheStoredPropertiesAndTheKeys() {
        // 9 entries lie in 13 buckets, 12 in 23.
        let names = ["a", "b", "c", "d", "e", "f"]
        func byBucket(_ count: UInt64) -> [String] {
            names.sorted { DictionaryOrder.hash($0) % count < DictionaryOrder.hash($1) % count }
        }
        #expect(byBucket(13) != byBucket(23))
        #expect(DictionaryOrder.grown(names) == byBucket(13))
        #expect(DictionaryOrder.grown(names, foreignKeyCount: 2) == byBucket(13))
        #expect(DictionaryOrder.grown(names, foreignKeyCount: 3) == byBucket(23))
        #expect(DictionaryOrder.grown(names + ["g"], without: ["g"], foreignKeyCount: 2) == byBucket(13))
    }

    /// Transient properties take no part, and foreign keys only make the dictionary grow: 11 entries lie in 13 buckets, more
    /// in 23 (store-format §4.3).
    @Test(
        arguments: [
            ([], 0, "owner note title lists shelf authors readers tags"),
            (["note"], 0, "owner shelf title lists authors readers tags"),
            ([], 1, "lists note owner readers authors tags shelf title"),
            (["note", "title", "shelf"], 9, "lists owner readers authors tags"),
        ] as [([String], Int, String)])
    func joinTablesFollowADictionaryOfWhatIsStored(left: [String], foreignKeys: Int, order: String) {
        let names = ["tags", "authors", "readers", "title", "shelf", "owner", "note", "lists"]
        let found = DictionaryOrder.grown(names, without: Set(left), foreignKeyCount: foreignKeys)
        #expect(found.joined(separator: " ") == order)
    }

    @Test(arguments: [96, 97, 200])
    func longNamesAreHashedInPart(length: Int) {
        let name = String(repeating: "x", count: length)
        var changed = Array(name)
        changed[length * 3 / 5 + 10] = "y"
        // Only beyond 96 units is there a part that the hash does not see.
        #expect((DictionaryOrder.hash(name) == DictionaryOrder.hash(String(changed))) == (length == 200))
    }
}
