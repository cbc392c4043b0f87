import CoreData
import Foundation
import TestSupport
import Testing

/// Parts of texts that an index of ours finds.
@Suite struct TrigramTests {
    @Test("Parts of three scalars go by the index, in every comparison of parts; shorter ones go through all rows")
    func statements() throws {
        try TrigramStack().open { (context) throws in
            let filter =
                "t0.Z_PK IN (SELECT rowid FROM OCD_TRIGRAM_ZNOTE_ZTITLE WHERE text MATCH ? UNION ALL SELECT Z_PK FROM OCD_TRIGRAM_ZNOTE_ZTITLE_LOG)"
            let found = try context.explained("title CONTAINS[cd] 'Crème'")
            #expect(found.sql.hasSuffix(" WHERE \(filter) AND CDTextContains(t0.ZTITLE, ?, 3)"), "\(found.sql)")
            #expect(found.bindings.first?.hasPrefix("'(\"creme\") OR ") == true, "\(found.bindings)")
            #expect(found.plan.contains { $0.hasPrefix("SEARCH t0 USING INTEGER PRIMARY KEY") }, "\(found.plan)")
            #expect(found.hints.isEmpty)
            for format in [
                "title CONTAINS 'abc'", "title LIKE '*abc*'", "title LIKE[c] 'ab?cde'", "title ENDSWITH[d] 'abc'",
                "title BEGINSWITH[c] 'abc'", "'abc' IN title", "title CONTAINS 'ß'+'' OR title CONTAINS[c] 'aß'",
            ] where !format.contains("+") {
                #expect(try context.explained(format).sql.contains(filter), "\(format)")
            }
            for format in [
                "title CONTAINS 'ab'", "NOT title CONTAINS 'abc'", "title LIKE '*ab*cd*'", "title MATCHES '.*abc.*'",
                "plain CONTAINS 'abc'", "title == 'abc'",
            ] {
                #expect(!(try context.explained(format).sql.contains("MATCH ?")), "\(format)")
            }
            let hint = try context.explained("plain CONTAINS[cd] 'abc'").hints.first ?? ""
            #expect(hint.hasSuffix("give plain a trigram index (OpenCoreData.search = trigram in its user info)"))
            let letters = try context.explained("sender CONTAINS 'abc'", entity: "Letter").sql
            #expect(letters.contains("OCD_TRIGRAM_ZNOTE_ZSENDER"))
            let folders = try context.explained("ANY notes.title CONTAINS 'abc'", entity: "Folder").sql
            #expect(folders.contains("t1.Z_PK IN (SELECT rowid FROM OCD_TRIGRAM_ZNOTE_ZTITLE"))
            #expect(try context.explained("folder.name CONTAINS 'abc'").sql.contains("OCD_TRIGRAM_ZFOLDER_ZNAME"))
        }
    }

    private static let pieces = [
        "a", "A", "b", "s", "S", "ß", "ss", "é", "e", "e\u{301}", "\u{301}", "\u{338}", "=", "<", "ı", "İ", "i", "I",
        "ﬁ",
        "f", "K", "k", "1", "-", "Ω", "Ω", "σ", "ς", "Σ", "ᾳ", "\u{345}", "α", "ι", "日", "か", "\u{3099}", "が", "각", "ᄀ",
        "ᅡ", "ᆨ", "और", "ि", "😀", "👨‍👩‍👧", "🏳️‍🌈", "\"", "*", "?", "\\", "'", "%", " ", "\u{0}", "Ǆ", "ǆ", "ŉ", "ΐ", "ё", "е",
        "й", "и", "\u{306}", "ﬃ", "ﾊ", "ﾞ", "\u{F0000}",
    ]

    private func text(_ numbers: inout SeededNumbers, _ length: Int) -> String {
        (0..<length).map { _ in numbers.pick(Self.pieces) }.joined()
    }

    @Test("With an index the same objects are found as in memory", arguments: Trials.seeds(3))
    func sameResults(seed: UInt64) throws {
        try TrigramStack().open { (context) throws in
            var numbers = SeededNumbers(seed: seed)
            let titles = (0..<250).map { _ in text(&numbers, numbers.below(10)) }
            for title in titles { context.note(title) }
            context.note(nil)
            try context.save()
            let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
            var found = 0
            let count = Trials.count(150)
            for _ in 0..<count {
                var part = text(&numbers, 1 + numbers.below(4))
                if numbers.chance(2) {
                    // Something that is there, cut anywhere.
                    let scalars = Array(numbers.pick(titles).unicodeScalars)
                    let first = numbers.below(max(1, scalars.count))
                    var view = String.UnicodeScalarView()
                    view.append(contentsOf: scalars[min(first, scalars.count)...].prefix(2 + numbers.below(5)))
                    part = String(view)
                }
                for options in ["", "[c]", "[d]", "[cd]"] {
                    let formats = ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE"].map { "title \($0)\(options) %@" }
                    for format in formats {
                        let wanted = format.contains("LIKE") ? "*\(part)*" : part
                        let predicate = NSPredicate(format: format, argumentArray: [wanted])
                        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                        request.predicate = predicate
                        let objects = try Set(context.fetch(request))
                        #expect(
                            objects == Set(notes.filter { predicate.evaluate(with: $0) }),
                            "\(format) \(wanted.unicodeScalars.map { String($0.value, radix: 16) })")
                        found += objects.count
                    }
                }
            }
            #expect(found > (count == 150 ? 1000 : 150))
        }
    }

    @Test("What is saved, changed, deleted, taken back and written by batches is found")
    func saving() throws {
        try TrigramStack().open { (context) throws in
            let milk = context.note("Fresh milk")
            context.note("Buttermilk", entity: "Letter").setValue("Dairy", forKey: "sender")
            try context.save()
            #expect(try context.titles("title CONTAINS 'milk'") == ["Buttermilk", "Fresh milk"])
            milk.setValue("Fresh cream", forKey: "title")
            try context.save()
            #expect(try context.titles("title CONTAINS 'milk'") == ["Buttermilk"])
            #expect(try context.titles("title CONTAINS[c] 'CREAM'") == ["Fresh cream"])
            // Unsaved ones are held against the predicate in memory.
            context.note("Ice cream")
            #expect(try context.titles("title CONTAINS 'cream'") == ["Fresh cream", "Ice cream"])
            context.rollback()
            #expect(try context.titles("title CONTAINS 'cream'") == ["Fresh cream"])
            context.delete(milk)
            try context.save()
            #expect(try context.titles("title CONTAINS 'cream'") == [])

            let insert = NSBatchInsertRequest(
                entityName: "Note", objects: (0..<700).map { ["title": "Number \($0) of many"] })
            try context.execute(insert)
            #expect(try context.titles("title CONTAINS 'r 699 o'") == ["Number 699 of many"])
            let update = NSBatchUpdateRequest(entityName: "Note")
            update.predicate = NSPredicate(format: "title CONTAINS 'r 5 o'")
            update.propertiesToUpdate = ["title": "Five"]
            try context.execute(update)
            #expect(try context.titles("title CONTAINS 'Five'") == ["Five"])
            let delete = NSBatchDeleteRequest(
                fetchRequest: {
                    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Note")
                    request.predicate = NSPredicate(format: "title CONTAINS 'of many'")
                    return request
                }())
            try context.execute(delete)
            #expect(try context.titles("title CONTAINS 'of many'") == [])
            #expect(try context.titles("title CONTAINS 'Five' OR title CONTAINS 'milk'") == ["Buttermilk", "Five"])
        }
    }

    @Test("A save that fails leaves the index as it was")
    func failedSave() throws {
        let stack = try TrigramStack()
        try stack.open { (context) throws in
            let note = context.note("First title")
            try context.save()
            try stack.open { (other) throws in
                let same = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))[0]
                same.setValue("Second title", forKey: "title")
                try other.save()
            }
            note.setValue("Third title", forKey: "title")
            context.note("New title")
            #expect(throws: (any Error).self) { try context.save() }
            context.rollback()
            context.refreshAllObjects()
            #expect(try context.titles("title CONTAINS 'title'") == ["Second title"])
            #expect(try context.titles("title CONTAINS 'Third'") == [])
        }
    }
}
