import CoreData
import CoreDataPostgreSQL
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Searches without case and diacritics: the server finds the rows that may meet them, memory decides, and the result is memory's.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct FoldedSearchTests {
    // MARK: The server's regular expressions

    private struct Search {
        var comparison: FoldedPattern.Comparison
        var constant: String
        var options: UInt

        func isTrue(of text: String) -> Bool {
            switch comparison {
            case .equal: TextComparison.equal(text, constant, options: options)
            case .beginsWith: TextComparison.beginsWith(text, constant, options: options)
            case .endsWith: TextComparison.endsWith(text, constant, options: options)
            case .contains: TextComparison.contains(text, constant, options: options)
            case .like: TextComparison.like(text, constant, options: options)
            }
        }
    }

    /// Hostile texts, searches of all kinds, and one statement that says what the server finds of each.
    @Test(arguments: Trials.seeds(4))
    func theServerMissesNoText(_ seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let texts = HostileTexts.texts(80, &numbers)
        let constants =
            ["ss", "\u{17F}", "i\u{307}", "[a-z]*.\\d", "%_"]
            + (0..<8).map { _ in
                HostileTexts.constant(from: numbers.pick(texts), &numbers)
            }
        var searches: [Search] = []
        var expressions: [String] = []
        for constant in constants {
            for comparison in [.equal, .beginsWith, .endsWith, .contains, .like] as [FoldedPattern.Comparison] {
                for options: UInt in 1...3 {
                    guard let pattern = FoldedPattern(comparison, constant, options: options) else { continue }
                    searches.append(Search(comparison: comparison, constant: constant, options: options))
                    expressions.append(pattern.regularExpression)
                }
            }
        }
        let server = try PostgreSQLServer.shared
        let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { connection.close() }
        func array(_ texts: [String]) throws -> SQLValue {
            .text(String(decoding: try JSONEncoder().encode(texts), as: UTF8.self))
        }
        let rows = try connection.rows(
            """
            WITH texts AS MATERIALIZED (
                SELECT text COLLATE "C" AS text, number FROM jsonb_array_elements_text(CAST($2::TEXT AS JSONB)) WITH ORDINALITY AS t(text, number))
            SELECT COALESCE(
                (SELECT STRING_AGG(CAST(number AS TEXT), ',') FROM texts WHERE texts.text ~ p.expression), '')
            FROM jsonb_array_elements_text(CAST($1::TEXT AS JSONB)) WITH ORDINALITY AS p(expression, number) ORDER BY p.number
            """, [array(expressions), array(texts)])
        try #require(rows.count == searches.count && searches.count > 100)
        var (matches, found) = (0, 0)
        for (search, row) in zip(searches, rows) {
            guard case .text(let list)? = row.first else { continue }
            let places = Set(list.split(separator: ",").compactMap { Int($0) })
            found += places.count
            for (index, text) in texts.enumerated() where search.isTrue(of: text) {
                matches += 1
                #expect(places.contains(index + 1), "\(search) is true of \(text.debugDescription)")
            }
        }
        #expect(matches > 100)
        #expect(found < texts.count * searches.count / 4, "\(found) of \(matches) texts were found")
    }

    // MARK: Whole fetches

    private func makeNotes(_ names: [String?]) throws -> Notes {
        let notes = try Notes(PostgreSQLServer.shared.url(schema: Notes.newSchema("f")))
        let context = notes.newContext()
        try context.performAndWait {
            for name in names {
                let note = Notes.insert("", in: context)
                note.setValue(name, forKey: "name")
            }
            try context.save()
        }
        return notes
    }

    private func request(_ format: String, _ arguments: [Any] = []) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    private func names(_ notes: [NSManagedObject]) -> [String] {
        notes.map { ($0.value(forKey: "name") as? String)?.debugDescription ?? "nil" }.sorted()
    }

    @Test func fetchesGiveWhatMemoryGives() throws {
        var numbers = SeededNumbers(seed: 7)
        let notes = try makeNotes(HostileTexts.texts(40, &numbers).map { $0 } + [nil])
        let context = notes.newContext()
        try context.performAndWait {
            let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
            for format in [
                "name CONTAINS[cd] 'e'", "name CONTAINS[c] 'ss'", "name ==[cd] 'A\u{30A}'", "name BEGINSWITH[c] 'K'",
                "name ENDSWITH[d] 'i'", "name LIKE[cd] '?s*'", "name IN[c] {'ß', 'ﬁ', 'x'}", "name !=[c] 'k'",
                "NOT name CONTAINS[cd] 's'", "name CONTAINS[c] 'k' OR count > 3", "name CONTAINS[cd] ''",
                "name ==[c] ''",
                "name CONTAINS[c] '%' OR name CONTAINS[c] '_'", "name CONTAINS[d] '\\\\'",
                "name CONTAINS[c] 'Σ' AND count == 0",
            ] {
                let request = request(format)
                let expected = all.filter { request.predicate?.evaluate(with: $0) == true }
                #expect(names(try context.fetch(request)) == names(expected), "\(format)")
                #expect(try context.count(for: request) == expected.count, "\(format)")
            }
        }
    }

    // MARK: Rows

    private final class RowCounter: SQLObserver {
        let rows = Mutex(0)
        let statements = Mutex(0)

        func didRun(_ sql: String, duration: Duration, rows count: Int) {
            guard sql.contains("\"Note\"") else { return }
            rows.withLock { $0 += count }
            statements.withLock { $0 += 1 }
        }

        /// The rows that came while the body ran, and by how many statements.
        func during<R>(_ body: () throws -> R) rethrows -> (result: R, rows: Int, statements: Int) {
            rows.withLock { $0 = 0 }
            statements.withLock { $0 = 0 }
            let result = try body()
            return (result, rows.withLock { $0 }, statements.withLock { $0 })
        }
    }

    @Test func fewRowsAreTransferred() throws {
        let cheeses = ["Käse", "kase", "KA\u{308}SE"]
        let others = (100..<400).map { "s \($0)" }
        let notes = try makeNotes(cheeses + others + ["zss", "zß"])
        let counter = RowCounter()
        try notes.engine.database.setObserver(counter)
        let context = notes.newContext()
        try context.performAndWait {
            let search = request("name CONTAINS[cd] %@", ["kase"])
            let fetched = try counter.during { try context.fetch(search) }
            #expect(names(fetched.result) == names(of: cheeses))
            #expect(fetched.rows == 3 && fetched.statements == 1)
            context.reset()
            let counted = try counter.during { try context.count(for: search) }
            #expect(counted == (3, 3, 1))
            // The letter with its mark is more than a pattern says.
            context.reset()
            let marked = try counter.during { try context.fetch(request("name ==[c] %@", ["käse"])) }
            #expect(names(marked.result) == names(of: ["Käse", "KA\u{308}SE"]))
            #expect(marked.rows == 3 && marked.statements == 1)
            // A limit: a quarter more than it says, and 16.
            context.reset()
            let limited = request("name BEGINSWITH[cd] %@", ["S"])
            limited.fetchLimit = 8
            limited.fetchOffset = 4
            let some = try counter.during { try context.fetch(limited) }
            #expect(names(some.result) == names(of: (104..<112).map { "s \($0)" }))
            #expect(some.rows == 31 && some.statements == 1)
        }
    }

    /// Patterns find an s where two are looked for, as in ß: where many rows are rejected more are read.
    @Test func aLimitIsMetThoughMostRowsAreRejected() throws {
        let notes = try makeNotes((100..<400).map { "s \($0)" } + ["zss", "zß"])
        let counter = RowCounter()
        try notes.engine.database.setObserver(counter)
        let context = notes.newContext()
        try context.performAndWait {
            let search = request("name CONTAINS[c] 'ss'")
            search.fetchLimit = 1
            let first = try counter.during { try context.fetch(search) }
            #expect(names(first.result) == names(of: ["zss"]))
            // 17, 68, 272, and all 302.
            #expect(first.rows == 17 + 68 + 272 + 302 && first.statements == 4)
            context.reset()
            search.fetchOffset = 1
            #expect(names(try context.fetch(search)) == names(of: ["zß"]))
            search.fetchOffset = 2
            #expect(try context.fetch(search).isEmpty)
        }
    }

    private func names(of names: [String]) -> [String] { names.map(\.debugDescription).sorted() }

    // MARK: Servers without

    @Test func enginesWithOtherExpressionsAreNotAsked() throws {
        for engine in [PostgreSQLEngine.postgreSQL, .aurora, .citus] {
            #expect(engine.traits.dialect(.postgreSQL).findsPatterns)
        }
        for engine in [PostgreSQLEngine.cockroachDB, .yugabyteDB] {
            #expect(!engine.traits.dialect(.postgreSQL).findsPatterns)
        }
    }

    /// Expressions count in the characters of the database's encoding.
    @Test func aDatabaseInAnotherEncodingIsNotAsked() throws {
        for encoding in ["LATIN1", "SQL_ASCII", "EUC_JP", nil] {
            #expect(!SQLDialect.postgreSQL.ofDatabase(encoding: encoding).findsPatterns)
        }
        let server = try PostgreSQLServer.shared
        let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { connection.close() }
        #expect(connection.plannedDialect === SQLDialect.postgreSQL)
    }
}
