import Foundation
import TestSupport
import Testing

@testable import CoreData

private typealias NSExpression = CoreData.NSExpression

/// A file of external data that is gone costs the one value that lay in it.
@Suite struct MissingExternalDataTests {
    private let cover = Data(repeating: 7, count: 200 << 10)

    /// A store with the books "Emma", whose required cover lay in a file, and "Persuasion", which has none.
    private func stack(required: Bool = false) throws -> LibraryStack {
        let model = Library.model()
        let attribute = try #require(model.entitiesByName["Book"]?.attributesByName["cover"])
        attribute.allowsExternalBinaryDataStorage = true
        attribute.isOptional = !required
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            for title in ["Emma", "Persuasion"] {
                let book = Book(context: context)
                book.title = title
                book.cover = title == "Emma" ? cover : Data([1])
                let author = Author(context: context)
                author.name = "Jane"
                book.author = author
            }
            try context.save()
            context.reset()
        }
        return stack
    }

    private func folder(_ stack: LibraryStack) -> URL {
        stack.folder.appendingPathComponent(".Library_SUPPORT/_EXTERNAL_DATA")
    }

    private func files(_ stack: LibraryStack) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder(stack).path)
    }

    /// Takes the file away, and returns where it was.
    private func removeFile(_ stack: LibraryStack) throws -> URL {
        let url = folder(stack).appendingPathComponent(try #require(try files(stack).first))
        try FileManager.default.removeItem(at: url)
        return url
    }

    private func emma(_ context: NSManagedObjectContext) throws -> Book {
        try #require(try context.all(Book.self, "Book", "title == 'Emma'").first)
    }

    @Test func theOneValueIsNilAndToldWithRowAttributeAndFile() throws {
        let stack = try stack()
        let file = try removeFile(stack)
        try stack.story { context in
            var told: [String] = []
            context.unreadableValueListener = { told.append($0) }
            let books = try context.all(Book.self, "Book")
            #expect(Set(books.map(\.title)) == ["Emma", "Persuasion"])
            #expect(told == [])
            let book = try emma(context)
            #expect(book.author?.name == "Jane")
            #expect(try context.all(Book.self, "Book", "cover != nil").count == 2)
            #expect(told == [])
            #expect(book.cover == nil)
            #expect(told.count == 1)
            #expect(told.first?.contains("'cover' of Book 1 could not be read") == true, "\(told)")
            #expect(told.first?.contains(file.path) == true, "\(told)")
            #expect(try #require(books.first { $0.title == "Persuasion" }).cover == Data([1]))
        }
    }

    @Test(arguments: [false, true]) func otherValuesAreSavedAndTheReferenceStays(required: Bool) throws {
        let stack = try stack(required: required)
        let file = try removeFile(stack)
        try stack.story { context in
            context.unreadableValueListener = { _ in }
            let book = try emma(context)
            #expect(book.cover == nil)
            book.pages = 474
            book.author = nil
            #expect(Set(book.changedValues().keys) == ["pages", "author"])
            try context.save()
            try context.validate(book)
        }
        // The file is back.
        try cover.write(to: file)
        try stack.story { context in
            #expect(try emma(context).cover == cover)
            context.reset()
            let book = try emma(context)
            #expect(book.cover == cover && book.pages == 474)
        }
    }

    @Test func aNewValueTakesItsPlace() throws {
        let stack = try stack()
        let file = try removeFile(stack)
        let other = Data(cover.reversed() + [1])
        try stack.story { context in
            let book = try emma(context)
            book.cover = other
            #expect(book.hasPersistentChangedValues)
            try context.save()
            #expect(try files(stack).count == 1 && files(stack) != [file.lastPathComponent])
            context.reset()
            #expect(try emma(context).cover == other)
        }
    }

    /// Nil is written only where somebody sets it.
    @Test func settingNilIsAChange() throws {
        let stack = try stack()
        _ = try removeFile(stack)
        try stack.story { context in
            let book = try emma(context)
            book.cover = nil
            #expect(book.hasPersistentChangedValues && book.changedValues()["cover"] is NSNull)
            try context.save()
            context.reset()
            #expect(try context.all(Book.self, "Book", "cover == nil").map(\.title) == ["Emma"])
        }
    }

    @Test func anObjectWithItCanBeDeleted() throws {
        let stack = try stack()
        _ = try removeFile(stack)
        try stack.story { context in
            context.delete(try emma(context))
            try context.save()
            #expect(try context.all(Book.self, "Book").map(\.title) == ["Persuasion"])
        }
    }

    @Test func dictionariesAreWithoutTheOneValue() throws {
        let stack = try stack()
        let file = try removeFile(stack)
        try stack.story { context in
            var told: [String] = []
            context.unreadableValueListener = { told.append($0) }
            let renamed = NSExpressionDescription()
            renamed.name = "picture"
            renamed.expression = NSExpression(forKeyPath: "cover")
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title", "cover", renamed]
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let rows = try context.fetch(request)
            #expect(rows.count == 2)
            #expect(rows.first == ["title": "Emma"])
            // The bytes themselves, not what the store keeps for them.
            #expect(rows.last == ["title": "Persuasion", "cover": Data([1]), "picture": Data([1])])
            #expect(told.count == 2)
            #expect(told.first?.contains("'cover' of Book 1 could not be read") == true, "\(told)")
            #expect(told.first?.contains(file.path) == true)
        }
    }
}

extension NSManagedObjectContext {
    fileprivate func validate(_ object: NSManagedObject) throws { try object.validateForUpdate() }
}
