import CoreData
import Foundation
import Measuring
import RawSQLite
import Sides

/// Searches of texts by what is in them: by our indexes, by the same tables in plain C, and by looking at every row.
///
/// Each note has four words of 20,000 three times over: with a trigram index and a word index, with an index of the model's, and bare.
struct Searches {
    let kind: FeatureKind
    let rows: Int
    let stores: Stores

    private static let searches = 20
    /// Going through all rows takes so long that fewer searches tell as much.
    private static let scans = 4
    private static let page = 20

    /// Seconds of one search.
    func round(isBeside: Bool) throws -> (seconds: Double, digest: Digest) {
        let store = try prepare()
        switch (kind, isBeside) {
        case (.trigram, true):
            return try raw(store, Self.searches) { number in
                """
                SELECT t.Z_PK, t.Z_ENT, t.Z_OPT, t.ZTITLE FROM OCD_TRIGRAM_ZNOTE_ZTITLE f JOIN ZNOTE t ON t.Z_PK = f.rowid
                WHERE f.text MATCH '"\(part(number))"'
                """
            }
        case (.words, true):
            return try raw(store, Self.searches) { number in
                """
                SELECT t.Z_PK, t.Z_ENT, snippet(OCD_WORDS_ZNOTE, 0, '[', ']', '…', 16), t.ZTITLE
                FROM OCD_WORDS_ZNOTE f JOIN ZNOTE t ON t.Z_PK = f.rowid
                WHERE OCD_WORDS_ZNOTE MATCH '"\(Self.word(number * 977 % 20_000))"' ORDER BY bm25(OCD_WORDS_ZNOTE), t.Z_PK LIMIT \(Self.page)
                """
            }
        case (.words, false):
            return try ours(store, Self.searches) { context, number in
                var search = TextSearch<NSManagedObject>(Self.word(number * 977 % 20_000), entityName: "Note")
                search.limit = Self.page
                return try context.search(search).map(\.object)
            }
        case (.trigram, false): return try fetches(store, "title CONTAINS[cd] %@", Self.searches) { part($0) }
        case (.trigramScan, false): return try fetches(store, "title CONTAINS[cd] %@", Self.searches) { part($0) }
        case (.trigramScan, true): return try fetches(store, "plain CONTAINS[cd] %@", Self.searches) { part($0) }
        case (.prefix, false): return try fetches(store, "name BEGINSWITH[cd] %@", Self.scans) { prefix($0) }
        default: return try fetches(store, "plain BEGINSWITH[cd] %@", Self.scans) { prefix($0) }
        }
    }

    // MARK: What is looked for

    private static let onsets = [
        "b", "br", "c", "ch", "d", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pr", "qu", "r", "s", "st",
        "t", "tr", "v",
        "w", "z",
    ]
    private static let vowels = ["a", "e", "i", "o", "u", "ai", "ea", "ou", "y"]
    private static let codas = ["", "", "n", "r", "s", "t", "l", "m", "ck", "nd", "st", "x"]

    /// A word of two or three syllables, with about as many different sequences of three letters as a language has; equal for equal
    /// numbers.
    private static func word(_ number: Int) -> String {
        var rest = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 ^ 0x5DEE_CE66_D1CE_4E5B
        func pick(_ parts: [String]) -> String {
            rest = rest &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return parts[Int(rest >> 40) % parts.count]
        }
        return (0..<2 + number % 2).map { _ in pick(onsets) + pick(vowels) + pick(codas) }.joined()
    }

    private static func text(_ row: Int) -> String {
        var state = UInt64(row) &* 0x9E37_79B9_7F4A_7C15 &+ 1
        return (0..<4).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return word(Int(state >> 33) % 20_000)
        }.joined(separator: " ")
    }

    /// The end of one word and the beginning of another, which few rows have.
    private func part(_ number: Int) -> String {
        let text = Self.text(number * 31 % rows).split(separator: " ")
        return String(text[1].suffix(5)) + " " + String(text[2].prefix(3))
    }

    private func prefix(_ number: Int) -> String { String(Self.text(number * 31 % rows).prefix(11)).uppercased() }

    // MARK: Stores

    private static func model(isSearched: Bool) -> NSManagedObjectModel {
        func text(_ name: String) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            attribute.isOptional = true
            return attribute
        }
        let (title, name, plain) = (text("title"), text("name"), text("plain"))
        title.hasTrigramIndex = isSearched
        title.hasWordIndex = isSearched
        let note = NSEntityDescription()
        note.name = "Note"
        note.managedObjectClassName = "NSManagedObject"
        note.properties = [title, name, plain]
        note.indexes = [
            NSFetchIndexDescription(
                name: "byName", elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
        ]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    private func prepare() throws -> URL {
        try FileManager.default.createDirectory(at: stores.folder, withIntermediateDirectories: true)
        let url = stores.folder.appendingPathComponent("search-\(rows).sqlite")
        guard !FileManager.default.fileExists(atPath: url.path) else { return url }
        let building = stores.folder.appendingPathComponent("building-search.sqlite")
        try stores.remove(building)
        try open(building, isSearched: false) { context in
            var row = 0
            let request = NSBatchInsertRequest(
                entityName: "Note",
                dictionaryHandler: { values in
                    guard row < rows else { return true }
                    let text = Self.text(row)
                    values["title"] = text
                    values["name"] = text
                    values["plain"] = text
                    row += 1
                    return false
                })
            _ = try context.execute(request)
        }
        try open(building, isSearched: true) { _ in }
        try RawSession(building).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try FileManager.default.moveItem(at: building, to: url)
        try stores.remove(building)
        return url
    }

    private func open<R>(
        _ store: URL, isSearched: Bool, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(isSearched: isSearched))
        let added = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: store, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let result = try context.performAndWait { try body(context) }
        try coordinator.remove(added)
        return result
    }

    // MARK: Sides

    private func fetches(
        _ store: URL, _ format: String, _ count: Int, _ wanted: (Int) -> String
    ) throws -> (seconds: Double, digest: Digest) {
        try ours(store, count) { context, number in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: format, wanted(number))
            return try context.fetch(request)
        }
    }

    private func ours(
        _ store: URL, _ count: Int, _ search: (NSManagedObjectContext, Int) throws -> [NSManagedObject]
    ) throws -> (seconds: Double, digest: Digest) {
        try open(store, isSearched: true) { context in
            // The first makes what the others use.
            _ = try search(context, count)
            var digest = Digest()
            var seconds = 0.0
            for number in 0..<count {
                context.reset()
                let (more, found) = try Stopwatch.time {
                    let objects = try search(context, number)
                    return (
                        objects.count,
                        objects.reduce(0) { $0 + (($1.value(forKey: "plain") as? String)?.utf8.count ?? 0) }
                    )
                }
                seconds += more
                digest.rows += found.0
                digest.bytes += found.1
            }
            return (seconds / Double(count), digest)
        }
    }

    private func raw(
        _ store: URL, _ count: Int, _ statement: (Int) -> String
    ) throws -> (seconds: Double, digest: Digest) {
        let session = try RawSession(store)
        _ = try session.digest { raw_sum($0, statement(count), $1) }
        var digest = Digest()
        var seconds = 0.0
        for number in 0..<count {
            let sql = statement(number)
            let (more, found) = try Stopwatch.time { try session.digest { raw_sum($0, sql, $1) } }
            seconds += more
            digest.rows += found.rows
            digest.bytes += found.bytes
        }
        return (seconds / Double(count), digest)
    }
}
