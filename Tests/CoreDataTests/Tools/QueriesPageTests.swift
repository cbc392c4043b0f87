import CoreData
import Foundation
import Testing

/// The SQL in docs/queries.md is what requests make, so that it cannot rot.
///
/// Where the page is not as it should be the failing test shows the text that belongs there.
@Suite struct QueriesPageTests {
    private static let page: String = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        return (try? String(contentsOf: root.appendingPathComponent("docs/queries.md"), encoding: .utf8)) ?? ""
    }()

    /// Predicates of books, but for those that begin with the name of another entity.
    static let predicates = [
        "title == 'Emma'", "title == nil", "author.name BEGINSWITH 'Ja'", "author == nil", "pages IN {1, 2, 3}",
        "pages BETWEEN {10, 20}", "NOT title CONTAINS 'x'", "title LIKE 'E*a'", "title ==[cd] 'emma'",
        "pages * 2 + 1 > rating", "title.length > 4", "uppercase:(title) == 'EMMA'", "published > CAST(0, 'NSDate')",
        "TERNARY(isLent == YES, pages, 0) > 5", "ANY tags.name == 'new'", "ALL tags.name != 'old'",
        "NONE tags.name == 'old'",
        "ANY author.books.tags.name == 'new'", "tags.@count > 2", "author.books.@sum.pages > 100",
        "chapters[FIRST].title == 'I'", "chapters[SIZE] > 3", "SUBQUERY(tags, $t, $t.name BEGINSWITH 'n').@count > 0",
        "SUBQUERY(author.books, $b, SUBQUERY($b.tags, $t, $t.name == 'new').@count > 0).@count > 1",
        "Person: entity.name == 'Author'", "Author: books.@max.rating > 4", "Author: ANY books.pages > 300",
    ]

    /// What is asked for, in the words of a request.
    struct Shown: Sendable {
        var entity = "Book"
        var result: String?
        /// Names of properties, or `name: expression`.
        var fetched: [String] = []
        var groups: [String] = []
        var having: String?
        var predicate: String?
        /// `-` before a key that descends.
        var sorts: [String] = []
        var limit = 0
        var offset = 0
        var isDistinct = false
        var subentities = true

        var code: String {
            var lines: [String] = []
            func list(_ texts: [String]) -> String { "[" + texts.joined(separator: ", ") + "]" }
            if let result { lines.append("request.resultType = .\(result)") }
            if !fetched.isEmpty {
                let properties = fetched.map { text in
                    Self.parts(text).map { "column(\"\($0.name)\", \"\($0.format)\")" } ?? "\"\(text)\""
                }
                lines.append("request.propertiesToFetch = \(list(properties))")
            }
            if !groups.isEmpty { lines.append("request.propertiesToGroupBy = \(list(groups.map { "\"\($0)\"" }))") }
            if let having { lines.append("request.havingPredicate = NSPredicate(format: \"\(having)\")") }
            if let predicate { lines.append("request.predicate = NSPredicate(format: \"\(predicate)\")") }
            if !sorts.isEmpty {
                let descriptors = sorts.map {
                    "NSSortDescriptor(key: \"\($0.drop { $0 == "-" })\", ascending: \(!$0.hasPrefix("-")))"
                }
                lines.append("request.sortDescriptors = \(list(descriptors))")
            }
            if isDistinct { lines.append("request.returnsDistinctResults = true") }
            if !subentities { lines.append("request.includesSubentities = false") }
            if limit > 0 { lines.append("request.fetchLimit = \(limit)") }
            if offset > 0 { lines.append("request.fetchOffset = \(offset)") }
            return lines.joined(separator: "\n")
        }

        private static func parts(_ text: String) -> (name: String, format: String)? {
            let parts = text.components(separatedBy: ": ")
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }

        var request: NSFetchRequest<any NSFetchRequestResult> {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
            switch result {
            case "dictionaryResultType": request.resultType = .dictionaryResultType
            case "countResultType": request.resultType = .countResultType
            case "managedObjectIDResultType": request.resultType = .managedObjectIDResultType
            default: break
            }
            if !fetched.isEmpty {
                request.propertiesToFetch = fetched.map { text -> Any in
                    guard let (name, format) = Self.parts(text) else { return text }
                    let column = NSExpressionDescription()
                    column.name = name
                    column.expression = NSExpression(format: format)
                    return column
                }
            }
            if !groups.isEmpty { request.propertiesToGroupBy = groups }
            request.havingPredicate = having.map { NSPredicate(format: $0) }
            request.predicate = predicate.map { NSPredicate(format: $0) }
            request.sortDescriptors = sorts.map {
                NSSortDescriptor(key: String($0.drop { $0 == "-" }), ascending: !$0.hasPrefix("-"))
            }
            request.returnsDistinctResults = isDistinct
            request.includesSubentities = subentities
            (request.fetchLimit, request.fetchOffset) = (limit, offset)
            return request
        }
    }

    private static let dictionaries = "dictionaryResultType"

    static let results: [(title: String, shown: Shown)] = [
        (
            "A page of objects, sorted through a to-one",
            Shown(sorts: ["author.name", "-pages"], limit: 20, offset: 40)
        ),
        ("IDs only", Shown(result: "managedObjectIDResultType", predicate: "pages > 300")),
        ("The number of objects", Shown(result: "countResultType", predicate: "pages > 300")),
        (
            "Objects of the entity without subentities",
            Shown(entity: "Person", result: "countResultType", subentities: false)
        ),
        (
            "Dictionaries, with key paths, the ID and computed values",
            Shown(
                result: dictionaries, fetched: ["title", "author.name", "objectID", "half: pages / 2"])
        ),
        (
            "Distinct values",
            Shown(result: dictionaries, fetched: ["author.name"], sorts: ["author.name"], isDistinct: true)
        ),
        (
            "Aggregates of all rows",
            Shown(
                result: dictionaries,
                fetched: ["n: count:(SELF)", "sum: sum:(pages)", "mean: average:(rating)", "middle: median:(pages)"])
        ),
        (
            "Groups, filtered",
            Shown(
                result: dictionaries, fetched: ["author.name", "n: count:(SELF)", "most: max:(pages)"],
                groups: ["author.name"], having: "$n > 2 AND sum:(pages) > 100", sorts: ["author.name"])
        ),
        (
            "Aggregates of a to-many, for each row",
            Shown(
                entity: "Author", result: dictionaries, fetched: ["name", "n: books.@count", "most: max:(books.pages)"])
        ),
        (
            "Aggregates of a to-many, for each group",
            Shown(
                entity: "Author", result: dictionaries,
                fetched: ["name", "n: count:(books)", "least: min:(books.pages)"],
                groups: ["name"])
        ),
    ]

    /// The columns of whole rows are many.
    private static func short(_ sql: String) -> String {
        guard sql.hasPrefix("SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, "), let from = sql.range(of: " FROM ") else {
            return sql
        }
        return "SELECT …" + sql[from.lowerBound...]
    }

    private static func comment(_ sql: String) -> String {
        var lines: [String] = []
        var line = "//"
        for word in sql.split(separator: " ") {
            if line.count + word.count > 120 {
                lines.append(line)
                line = "//    "
            }
            line += " " + word
        }
        return (lines + [line]).joined(separator: "\n")
    }

    private func check(_ text: String) {
        #expect(Self.page.contains(text), "docs/queries.md lacks:\n\(text)")
    }

    @Test func predicatesAreShownWithTheirSQL() throws {
        try LibraryStack().story { context throws in
            var rows: [String] = []
            for text in Self.predicates {
                let parts = text.components(separatedBy: ": ")
                let request = NSFetchRequest<any NSFetchRequestResult>(entityName: parts.count > 1 ? parts[0] : "Book")
                request.predicate = NSPredicate(format: parts.last ?? "")
                request.resultType = .countResultType
                let sql = try #require(try request.sql(in: context).first).sql
                _ = try context.count(for: request)
                let body = try #require(sql.range(of: "SELECT COUNT(*) FROM ")).upperBound
                let code = "`\(text)`".replacingOccurrences(of: "|", with: "\\|")
                rows.append("| \(code) | `\(sql[body...].replacingOccurrences(of: "|", with: "\\|"))` |")
            }
            check("| predicate | `SELECT COUNT(*) FROM …` |\n| --- | --- |\n" + rows.joined(separator: "\n") + "\n")
        }
    }

    @Test func resultsAreShownWithTheirSQL() throws {
        try LibraryStack().story { context throws in
            var blocks: [String] = []
            for (title, shown) in Self.results {
                let request = shown.request
                let sql = try #require(try request.sql(in: context).first).sql
                _ = try context.fetch(request)
                blocks.append("\(title):\n\n```swift\n\(shown.code)\n\(Self.comment(Self.short(sql)))\n```\n")
            }
            check(blocks.joined(separator: "\n"))
        }
    }

    @Test func batchRequestsAreShownWithTheirSQL() throws {
        let stack = try LibraryStack()
        try stack.story { context throws in
            let author = Author(context: context)
            author.name = "Jane"
            try context.save()
            var blocks: [String] = []
            func show(_ title: String, _ code: String, _ request: NSPersistentStoreRequest) throws {
                let statements = try stack.statements { try context.execute(request) }
                let shown = statements.filter { !$0.contains("Z_PRIMARYKEY") }.map { Self.comment($0) }
                blocks.append("\(title):\n\n```swift\n\(code)\n\(shown.joined(separator: "\n"))\n```\n")
            }
            try show(
                "Insertion",
                "NSBatchInsertRequest(entityName: \"Tag\", objects: [[\"name\": \"new\"], [\"name\": \"old\"]])",
                NSBatchInsertRequest(entityName: "Tag", objects: [["name": "new"], ["name": "old"]]))
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.predicate = NSPredicate(format: "author.name == 'Jane'")
            update.propertiesToUpdate = ["pages": NSExpression(format: "pages + 1")]
            try show(
                "Update",
                "request.predicate = NSPredicate(format: \"author.name == 'Jane'\")\n"
                    + "request.propertiesToUpdate = [\"pages\": NSExpression(format: \"pages + 1\")]", update)
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag")
            fetch.predicate = NSPredicate(format: "name == 'old'")
            try show(
                "Deletion, including the reads that find references to the deleted rows",
                "fetch.predicate = NSPredicate(format: \"name == 'old'\")\nNSBatchDeleteRequest(fetchRequest: fetch)",
                NSBatchDeleteRequest(fetchRequest: fetch))
            check(blocks.joined(separator: "\n"))
        }
    }
}
