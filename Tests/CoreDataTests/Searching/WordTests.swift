import CoreData
import Foundation
import TestSupport
import Testing

/// Searching by words, with ranks and snippets.
@Suite struct WordTests {
    /// Files with an index, and files without.
    static let types: [NSPersistentStore.StoreType] = [.sqlite, .xml, .binary]

    private func fill(_ context: NSManagedObjectContext) throws {
        context.insertNote("Cream cheese", "Made of fresh cream and cream alone.")
        context.insertNote("Crème brûlée", "Eggs, sugar, vanilla; burn the sugar.")
        context.insertNote("Cheese board", "Goat, sheep, cow. No cream.")
        context.insertNote("Shopping", "Milk; rice-milk; bread")
        context.insertNote("Dear aunt", "Thank you for the cheesecake", entity: "Letter").setValue(
            "Bob Creamer", forKey: "sender")
        context.insertNote(nil)
        try context.save()
    }

    @Test("Words are found whatever their case, diacritics and order, the best first", arguments: types)
    func words(type: NSPersistentStore.StoreType) throws {
        try WordStack(type: type).open { (context) throws in
            try fill(context)
            #expect(try context.found("CRÈME") == ["Crème brûlée"])
            #expect(try context.found("cream") == ["Cream cheese", "Cheese board"])
            #expect(try context.found("cheese cream") == ["Cream cheese", "Cheese board"])
            #expect(try context.found("cheese cream", in: ["title"]) == ["Cream cheese"])
            #expect(try context.found("sugar brulee") == ["Crème brûlée"])
            #expect(try context.found("milk rice") == ["Shopping"])
            #expect(try context.found("rice-milk") == ["Shopping"])
            #expect(try context.found("milk goat") == [])
            #expect(try context.found("milk goat") { $0.matching = .anyWord }.sorted() == ["Cheese board", "Shopping"])
            #expect(try context.found("no cream") { $0.matching = .phrase } == ["Cheese board"])
            #expect(try context.found("cream no") { $0.matching = .phrase } == [])
            #expect(try context.found("chees").isEmpty)
            let begun = try context.found("chees") { $0.matchesPrefixes = true }
            #expect(begun.sorted() == ["Cheese board", "Cream cheese", "Dear aunt"])
            #expect(try context.found("creamer", in: ["sender"], entity: "Letter") == ["Dear aunt"])
            #expect(try context.found("cheesecake", entity: "Letter") == ["Dear aunt"])
            #expect(try context.found("cheesecake") { $0.includesSubentities = false } == [])
            #expect(try context.found("cream") { $0.limit = 1 } == ["Cream cheese"])
            #expect(try context.found("cream") { ($0.limit, $0.offset) = (1, 1) } == ["Cheese board"])
            #expect(try context.found("cream") { ($0.limit, $0.offset) = (.max, 1) } == ["Cheese board"])
            #expect(
                try context.found("cream") { $0.predicate = NSPredicate(format: "title BEGINSWITH 'Ch'") } == [
                    "Cheese board"
                ])
            for nothing in ["", "  ", "-", "…", "\u{0}", "\" ' ( ) * :"] {
                #expect(try context.found(nothing) == [], "\(nothing)")
                for matching in [TextSearch<NSManagedObject>.Matching.anyWord, .phrase] {
                    #expect(try context.found(nothing) { $0.matching = matching } == [], "\(nothing)")
                }
            }
        }
    }

    @Test("Nothing in a text is syntax, unless that is asked for", arguments: types)
    func syntax(type: NSPersistentStore.StoreType) throws {
        try WordStack(type: type).open { (context) throws in
            try fill(context)
            for text in [
                "cream OR", "cream AND NOT", "cream*", "\"cream", "cream)", "ZTITLE:cream", "NEAR(cream", "^cream",
                "-cream", "cream\u{0}",
                "{cream}", "+cream", "cream\"",
            ] {
                for matching in [TextSearch<NSManagedObject>.Matching.allWords, .anyWord, .phrase] {
                    #expect(throws: Never.self, "\(text)") { try context.found(text) { $0.matching = matching } }
                }
            }
            #expect(try context.found("cream \" * ) (").sorted() == ["Cheese board", "Cream cheese"])
            func expression(_ text: String) throws -> [String] {
                try context.found(text) { $0.matching = .expression }
            }
            #expect(try expression("cream NOT goat") == ["Cream cheese"])
            #expect(try expression("milk OR sugar").sorted() == ["Crème brûlée", "Shopping"])
            #expect(try expression("chees*").count == 3)
            #expect(try expression("ZTITLE : cheese").sorted() == ["Cheese board", "Cream cheese"])
            for wrong in [
                "cream AND", "\"cream", "(cream", "cream)", "a) OR (b", "NOT cream", "title : cream", "*", "NEAR(a b",
            ] {
                do {
                    let found = try expression(wrong)
                    Issue.record("'\(wrong)' found \(found)")
                } catch {
                    #expect(
                        error.localizedDescription.contains("'\(wrong)' is no expression of a search ("), "\(error)")
                }
            }
        }
    }

    @Test("A match tells its rank, and a part of the text around it", arguments: types)
    func ranks(type: NSPersistentStore.StoreType) throws {
        try WordStack(type: type).open { (context) throws in
            try fill(context)
            var search = TextSearch<NSManagedObject>("cream", in: ["title", "plain"], entityName: "Note")
            let matches = try context.search(search)
            #expect(matches.count == 2)
            #expect(matches[0].rank > matches[1].rank && matches[1].rank > 0)
            #expect(matches[0].snippets["title"]?.marked("[", "]") == "[Cream] cheese")
            #expect(matches[0].snippets["plain"]?.marked("[", "]") == "Made of fresh [cream] and [cream] alone.")
            #expect(matches[1].snippet.marked("<", ">") == "Goat, sheep, cow. No <cream>.")
            #expect(matches[1].snippets["title"]?.ranges == [])
            search.snippetLength = 3
            let short = try context.search(search)[1].snippet.marked("[", "]")
            #expect(short.hasPrefix("…") && short.contains("[cream]") && !short.contains("Goat"), "\(short)")
            let text = try #require(context.search(search).first?.snippet)
            #expect(text.ranges.map { String(text.text[$0]) } == ["Cream"])
            #expect(text.marked("<b>", "</b>") { $0.uppercased() } == "<b>CREAM</b> CHEESE")
            search.text = "cheese"
            search.weights = ["title": 0.01, "plain": 10]
            context.insertNote("Nothing", "cheese, cheese")
            try context.save()
            #expect(try context.search(search).first?.object.value(forKey: "title") as? String == "Nothing")
            search.weights = ["title": 10, "plain": 0.01]
            #expect(try context.search(search).last?.object.value(forKey: "title") as? String == "Nothing")
        }
    }

    @Test("An attribute without index, one that is not there, and a weight for nothing are told of")
    func mistakes() throws {
        try WordStack().open { (context) throws in
            func message(_ change: (inout TextSearch<NSManagedObject>) -> Void) -> String {
                do {
                    _ = try context.found("a", change)
                    return "nothing"
                } catch { return error.localizedDescription }
            }
            #expect(message { $0.keys = ["none"] }.contains("keypath none not found in entity Note"))
            #expect(message { $0.keys = ["folder"] }.contains("keypath folder not found in entity Note"))
            #expect(message { $0.weights = ["x": 1] }.contains("weight for 'x'"))
            #expect(message { $0.predicate = NSPredicate(format: "x == 1") }.contains("x not found in entity Note"))
            #expect(message { $0.entityName = "Nobody" }.contains("'Nobody' is not in the model"))
        }
        try WordStack(searched: false).open { (context) throws in
            do { _ = try context.found("a", in: ["title"]) } catch {
                #expect(
                    error.localizedDescription.contains("'title' of entity 'Note' has no word index: set hasWordIndex"))
            }
            #expect(throws: CocoaError.self) { try context.found("a", in: ["title"]) }
            #expect(throws: CocoaError.self) { try context.found("a") }
        }
    }

    @Test("Unsaved changes count: deleted ones are not found, new texts come last", arguments: types)
    func pending(type: NSPersistentStore.StoreType) throws {
        try WordStack(type: type).open { (context) throws in
            try fill(context)
            let byTitle = { (title: String) throws -> NSManagedObject in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.predicate = NSPredicate(format: "title == %@", title)
                return try #require(try context.fetch(request).first)
            }
            context.insertNote("New", "cream, cream, cream")
            try byTitle("Cream cheese").setValue("Butter", forKey: "title")
            try byTitle("Cheese board").setValue("Cheese plate", forKey: "title")
            try byTitle("Shopping").setValue("Cream", forKey: "plain")
            context.delete(try byTitle("Crème brûlée"))
            #expect(Set(try context.found("cream")) == ["New", "Butter", "Cheese plate", "Shopping"])
            #expect(try context.found("creme") == [])
            #expect(try context.found("milk") == [])
            #expect(try context.found("cream") { $0.limit = 2 }.count == 2)
            #expect(try context.found("cheese plate") == ["Cheese plate"])
            let ranks = try context.search(TextSearch<NSManagedObject>("cream", in: ["plain"], entityName: "Note"))
            // Of the two whose notes are as the store has them the titles alone changed.
            #expect(ranks.map { $0.rank > 0 } == [true, true, false, false])
            #expect(ranks.last?.snippet.ranges.isEmpty == false)
            let stored = try context.found("cream") { $0.includesPendingChanges = false }
            #expect(stored.count == 2)
            // In a child, whose own changes count, too.
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = context
            try child.performAndWait {
                #expect(Set(try child.found("cream")) == ["New", "Butter", "Cheese plate", "Shopping"])
                child.insertNote("Newer", "cream")
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.predicate = NSPredicate(format: "title == 'New'")
                child.delete(try #require(try child.fetch(request).first))
                #expect(Set(try child.found("cream")) == ["Newer", "Butter", "Cheese plate", "Shopping"])
                #expect(try child.found("cream") { ($0.limit, $0.offset) = (.max, .max) }.isEmpty)
                let limited = try child.found("cream") { $0.limit = 3 }
                #expect(limited.count == 3)
                #expect(
                    try child.found("cream") { $0.predicate = NSPredicate(format: "title BEGINSWITH 'N'") } == ["Newer"]
                )
                try child.save()
            }
            try context.save()
            #expect(Set(try context.found("cream")) == ["Newer", "Butter", "Cheese plate", "Shopping"])
            #expect(
                try context.search(TextSearch<NSManagedObject>("cream", entityName: "Note")).allSatisfy { $0.rank > 0 })
        }
    }

    @Test("The statements are few, and go by the index")
    func statements() throws {
        try WordStack().open { (context) throws in
            try fill(context)
            for number in 0..<50 { context.insertNote("Number \(number)", "cream") }
            try context.save()
            context.reset()
            let matches = try context.withStatementLimit(3) {
                try context.search(TextSearch<NSManagedObject>("cream", entityName: "Note"))
            }
            #expect(matches.count == 52)
        }
    }
}
