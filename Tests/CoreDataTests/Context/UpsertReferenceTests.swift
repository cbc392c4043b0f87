import CoreData
import Foundation
import TestSupport
import Testing

/// Semantics I10, I11: who referred to a new object whose unique values a row has refers to the row.
@Suite struct UpsertReferenceTests {
    private static let policies: [NSMergePolicy] = [
        .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    /// What must be in the store, by titles, names and ISBNs.
    private struct Wanted {
        var chapters: [String: String] = [:]
        var loans: [String: String] = [:]
        var tags: Set<[String]> = []
        var sequels: Set<[String]> = []
    }

    private final class Names {
        var isbn: [ObjectIdentifier: String] = [:]
        var tag: [ObjectIdentifier: String] = [:]
        var books: [Book] = []
        var tags: [Tag] = []
    }

    /// Makes books and tags, some of which are there already, and what refers to them.
    private func fill(
        _ context: NSManagedObjectContext, _ numbers: inout SeededNumbers, _ names: Names, present: Bool
    ) throws -> Wanted {
        var wanted = Wanted()
        if present {
            names.books += try context.all(Book.self, "Book").sorted { $0.isbn ?? "" < $1.isbn ?? "" }
            names.tags += try context.all(Tag.self, "Tag").sorted { $0.name ?? "" < $1.name ?? "" }
        }
        for _ in 0..<4 {
            let book = Book(context: context)
            (book.title, book.isbn) = ("new", "i\(numbers.below(6))")
            names.books.append(book)
            let tag = Tag(context: context)
            tag.name = "t\(numbers.below(6))"
            names.tags.append(tag)
        }
        for (index, _) in (0..<12).enumerated() {
            let (book, other, tag) = (numbers.pick(names.books), numbers.pick(names.books), numbers.pick(names.tags))
            let (isbn, second, name) = (book.isbn ?? "", other.isbn ?? "", tag.name ?? "")
            switch numbers.below(6) {
            case 0:
                let chapter = Chapter(context: context)
                (chapter.title, chapter.book) = ("c\(index)", book)
                wanted.chapters["c\(index)"] = isbn
            case 1:
                let chapter = Chapter(context: context)
                chapter.title = "c\(index)"
                book.mutableOrderedSetValue(forKey: "chapters").insert(chapter, at: 0)
                wanted.chapters["c\(index)"] = isbn
            case 2:
                let loan = Loan(context: context)
                (loan.book, loan.reader) = (book, Reader(context: context))
                loan.reader?.name = "r\(index)"
                wanted.loans["r\(index)"] = isbn
            case 3:
                tag.mutableSetValue(forKey: "books").add(book)
                wanted.tags.insert([name, isbn])
            case 4:
                book.mutableSetValue(forKey: "tags").add(tag)
                wanted.tags.insert([name, isbn])
            default:
                guard isbn != second else { continue }
                book.mutableOrderedSetValue(forKey: "sequels").add(other)
                wanted.sequels.insert([isbn, second])
            }
        }
        return wanted
    }

    private func check(_ context: NSManagedObjectContext, _ wanted: Wanted, _ what: Comment) throws {
        let books = try context.all(Book.self, "Book")
        #expect(Set(books.map(\.isbn)).count == books.count, what)
        for chapter in try context.all(Chapter.self, "Chapter") {
            #expect(
                chapter.book?.isbn == wanted.chapters[chapter.title ?? ""], "\(what) chapter \(chapter.title ?? "")")
            #expect(chapter.book?.chapters.contains(chapter) == true, what)
        }
        for loan in try context.all(Loan.self, "Loan") {
            #expect(loan.book?.isbn == wanted.loans[loan.reader?.name ?? ""], what)
            #expect(loan.book?.loans.contains(loan) == true, what)
        }
        #expect(try context.all(Chapter.self, "Chapter").count == wanted.chapters.count, what)
        #expect(try context.all(Loan.self, "Loan").count == wanted.loans.count, what)
        let tags = books.flatMap { book in book.tags.map { [$0.name ?? "", book.isbn ?? ""] } }
        #expect(Set(tags).isSuperset(of: wanted.tags), "\(what) tags \(wanted.tags.subtracting(tags))")
        let back = try context.all(Tag.self, "Tag").flatMap { tag in tag.books.map { [tag.name ?? "", $0.isbn ?? ""] } }
        #expect(Set(tags) == Set(back), what)
        let sequels = books.flatMap { book in book.sequels.map { [book.isbn ?? "", $0.isbn ?? ""] } }
        #expect(Set(sequels).isSuperset(of: wanted.sequels), "\(what) sequels \(wanted.sequels.subtracting(sequels))")
        let prequels = books.flatMap { book in book.prequels.map { [$0.isbn ?? "", book.isbn ?? ""] } }
        #expect(Set(sequels) == Set(prequels), what)
    }

    @Test("I10, K3: what leads to a child's object that the child has not looked at since follows the upsert, too")
    func referencesToFaults() throws {
        let stack = try LibraryStack()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = stack.context
        try stack.story { context in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let (book, tag) = (Book(context: context), Tag(context: context))
            (book.title, book.isbn, tag.name) = ("row", "i", "t")
            try context.save()
        }
        try child.performAndWait {
            let known = try child.all(Book.self, "Book") + child.all(Tag.self, "Tag") as [NSManagedObject]
            let (book, tag, chapter) = (Book(context: child), Tag(context: child), Chapter(context: child))
            (book.title, book.isbn, tag.name, chapter.title) = ("new", "i", "t", "one")
            (chapter.book, book.tags) = (book, [tag])
            try child.save()
            #expect(chapter.book === book && tag.books == [book])
            child.refresh(book, mergeChanges: false)
            try stack.story { try $0.save() }
            let found = try child.all(Book.self, "Book")
            #expect(found.map(\.title) == ["new"] && known.contains(found[0]))
            #expect(chapter.book === found[0] && found[0].chapters == [chapter])
            #expect(found[0].tags.map(\.name) == ["t"] && found[0].tags.first?.books == [found[0]])
            #expect(!child.hasChanges)
        }
    }

    @Test("I10: references of every kind follow an upsert", arguments: policies, [false, true])
    func references(_ policy: NSMergePolicy, _ isChild: Bool) throws {
        for seed in Trials.seeds(30) {
            var numbers = SeededNumbers(seed: seed)
            let stack = try LibraryStack()
            try stack.story { context in
                for index in 0..<4 {
                    let book = Book(context: context)
                    (book.title, book.isbn) = ("row", "i\(index)")
                    let tag = Tag(context: context)
                    tag.name = "t\(index)"
                }
                try context.save()
                if numbers.chance(2) { context.reset() }
                context.mergePolicy = policy
            }
            let context = stack.context
            let writer = isChild ? NSManagedObjectContext(.privateQueue) : context
            if isChild { writer.parent = context }
            let names = Names()
            let what: Comment = "\(policy), child \(isChild), seed \(seed)"
            let wanted = try writer.performAndWait {
                let wanted = try fill(writer, &numbers, names, present: numbers.chance(2))
                try writer.save()
                return wanted
            }
            try context.performAndWait {
                try context.save()
                #expect(!context.hasChanges, what)
                try check(context, wanted, "\(what), in the context")
            }
            if isChild {
                try writer.performAndWait {
                    try check(writer, wanted, "\(what), in the child")
                    #expect(!writer.hasChanges, what)
                }
            }
            let fresh = stack.newContext()
            try fresh.performAndWait { try check(fresh, wanted, "\(what), in the store") }
        }
    }

    @Test(
        "I10: what was set on a new object whose unique values two rows have is in the one that stays",
        arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite] as [NSMergePolicy])
    func twoRows(_ policy: NSMergePolicy) throws {
        let entity = Library.entity("Unique", nil)
        entity.properties =
            ["code", "text"].map { Library.attribute($0, .stringAttributeType) }
            + ["a", "b"].map { Library.attribute($0, .integer32AttributeType) }
        entity.uniquenessConstraints = [["code"], ["a", "b"]]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try LibraryStack(model: model)
        func insert(_ code: String, _ number: Int, _ text: String?, _ context: NSManagedObjectContext) {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Unique", into: context)
            object.setValuesForKeys(["code": code, "a": number, "b": number])
            object.setValue(text, forKey: "text")
        }
        try stack.story { context in
            insert("c", 1, nil, context)
            insert("z", 3, nil, context)
            try context.save()
        }
        let other = stack.newContext()
        try other.performAndWait { () throws in
            other.mergePolicy = policy
            insert("c", 3, "q", other)
            try other.save()
            let found = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Unique"))
            #expect(found.map { $0.value(forKey: "code") as? String } == ["c"])
            #expect(
                found.map { $0.value(forKey: "a") as? Int } == [3] && found.map { $0.value(forKey: "b") as? Int } == [3]
            )
            #expect(found.map { $0.value(forKey: "text") as? String } == ["q"])
        }
    }
}
