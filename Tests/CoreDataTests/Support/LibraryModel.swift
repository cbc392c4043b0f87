import CoreData
import Foundation

// The domain of these tests: authors write books, readers borrow them, tags are on books.
//
//     Person (abstract): name!
//       Author: born, books ↔ Book.author
//       Reader: loans ↔ Loan.reader, cascade
//     Book: title! (1…100 characters), pages ≥ 0, price, isbn (unique), published, cover, identifier, website, rating,
//           isLent, note (transient), author, chapters (ordered, cascade), tags (many-to-many),
//           sequels (ordered many-to-many with itself) ↔ prequels, loans (deny)
//     Chapter: title, book        Tag: name (unique), books        Loan: date, book!, reader!

final class Author: NSManagedObject {
    static let nameKey = PropertyKey<String?>("name")
    static let booksKey = PropertyKey<Set<Book>>("books")
    var name: String? {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
    var books: Set<Book> {
        get { self[Self.booksKey] }
        set { self[Self.booksKey] = newValue }
    }
}

final class Book: NSManagedObject {
    static let titleKey = PropertyKey<String?>("title")
    static let pagesKey = PropertyKey<Int32>("pages")
    static let priceKey = PropertyKey<Decimal?>("price")
    static let isbnKey = PropertyKey<String?>("isbn")
    static let publishedKey = PropertyKey<Date?>("published")
    static let coverKey = PropertyKey<Data?>("cover")
    static let identifierKey = PropertyKey<UUID?>("identifier")
    static let websiteKey = PropertyKey<URL?>("website")
    static let ratingKey = PropertyKey<Double>("rating")
    static let isLentKey = PropertyKey<Bool>("isLent")
    static let noteKey = PropertyKey<String?>("note")
    static let authorKey = PropertyKey<Author?>("author")
    static let chaptersKey = PropertyKey<[Chapter]>("chapters")
    static let tagsKey = PropertyKey<Set<Tag>>("tags")
    static let sequelsKey = PropertyKey<[Book]>("sequels")
    static let prequelsKey = PropertyKey<Set<Book>>("prequels")
    static let loansKey = PropertyKey<Set<Loan>>("loans")

    var title: String? {
        get { self[Self.titleKey] }
        set { self[Self.titleKey] = newValue }
    }
    var pages: Int32 {
        get { self[Self.pagesKey] }
        set { self[Self.pagesKey] = newValue }
    }
    var price: Decimal? {
        get { self[Self.priceKey] }
        set { self[Self.priceKey] = newValue }
    }
    var isbn: String? {
        get { self[Self.isbnKey] }
        set { self[Self.isbnKey] = newValue }
    }
    var published: Date? {
        get { self[Self.publishedKey] }
        set { self[Self.publishedKey] = newValue }
    }
    var cover: Data? {
        get { self[Self.coverKey] }
        set { self[Self.coverKey] = newValue }
    }
    var identifier: UUID? {
        get { self[Self.identifierKey] }
        set { self[Self.identifierKey] = newValue }
    }
    var website: URL? {
        get { self[Self.websiteKey] }
        set { self[Self.websiteKey] = newValue }
    }
    var rating: Double {
        get { self[Self.ratingKey] }
        set { self[Self.ratingKey] = newValue }
    }
    var isLent: Bool {
        get { self[Self.isLentKey] }
        set { self[Self.isLentKey] = newValue }
    }
    var note: String? {
        get { self[Self.noteKey] }
        set { self[Self.noteKey] = newValue }
    }
    var author: Author? {
        get { self[Self.authorKey] }
        set { self[Self.authorKey] = newValue }
    }
    var chapters: [Chapter] {
        get { self[Self.chaptersKey] }
        set { self[Self.chaptersKey] = newValue }
    }
    var tags: Set<Tag> {
        get { self[Self.tagsKey] }
        set { self[Self.tagsKey] = newValue }
    }
    var sequels: [Book] {
        get { self[Self.sequelsKey] }
        set { self[Self.sequelsKey] = newValue }
    }
    var prequels: Set<Book> {
        get { self[Self.prequelsKey] }
        set { self[Self.prequelsKey] = newValue }
    }
    var loans: Set<Loan> {
        get { self[Self.loansKey] }
        set { self[Self.loansKey] = newValue }
    }

    // What the hooks saw, in order.
    var events: [String] = []
    override func awakeFromInsert() { events.append("awakeFromInsert") }
    override func awakeFromFetch() { events.append("awakeFromFetch") }
    override func prepareForDeletion() { events.append("prepareForDeletion") }
    override func willSave() { events.append("willSave") }
    override func didSave() { events.append("didSave") }
    override func willTurnIntoFault() { events.append("willTurnIntoFault") }
    override func didTurnIntoFault() { events.append("didTurnIntoFault") }
}

final class Chapter: NSManagedObject {
    static let titleKey = PropertyKey<String?>("title")
    static let bookKey = PropertyKey<Book?>("book")
    var title: String? {
        get { self[Self.titleKey] }
        set { self[Self.titleKey] = newValue }
    }
    var book: Book? {
        get { self[Self.bookKey] }
        set { self[Self.bookKey] = newValue }
    }
}

final class Tag: NSManagedObject {
    static let nameKey = PropertyKey<String?>("name")
    static let booksKey = PropertyKey<Set<Book>>("books")
    var name: String? {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
    var books: Set<Book> {
        get { self[Self.booksKey] }
        set { self[Self.booksKey] = newValue }
    }
}

final class Reader: NSManagedObject {
    static let nameKey = PropertyKey<String?>("name")
    static let loansKey = PropertyKey<Set<Loan>>("loans")
    var name: String? {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
    var loans: Set<Loan> {
        get { self[Self.loansKey] }
        set { self[Self.loansKey] = newValue }
    }
}

final class Loan: NSManagedObject {
    static let dateKey = PropertyKey<Date?>("date")
    static let bookKey = PropertyKey<Book?>("book")
    static let readerKey = PropertyKey<Reader?>("reader")
    var date: Date? {
        get { self[Self.dateKey] }
        set { self[Self.dateKey] = newValue }
    }
    var book: Book? {
        get { self[Self.bookKey] }
        set { self[Self.bookKey] = newValue }
    }
    var reader: Reader? {
        get { self[Self.readerKey] }
        set { self[Self.readerKey] = newValue }
    }
}

enum Library {
    static func model() -> NSManagedObjectModel {
        let person = entity("Person", nil)
        person.isAbstract = true
        let author = entity("Author", "Author")
        let reader = entity("Reader", "Reader")
        let book = entity("Book", "Book")
        let chapter = entity("Chapter", "Chapter")
        let tag = entity("Tag", "Tag")
        let loan = entity("Loan", "Loan")

        person.properties = [attribute("name", .stringAttributeType, optional: false)]
        person.subentities = [author, reader]

        let title = attribute("title", .stringAttributeType, optional: false)
        title.setValidationPredicates(
            [NSPredicate(format: "length >= 1"), NSPredicate(format: "length <= 100")],
            withValidationWarnings: ["1670", "1660"])
        let pages = attribute("pages", .integer32AttributeType)
        pages.defaultValue = NSNumber(value: 0)
        pages.setValidationPredicates([NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["1620"])
        let isLent = attribute("isLent", .booleanAttributeType)
        isLent.defaultValue = NSNumber(value: false)
        let note = attribute("note", .stringAttributeType)
        note.isTransient = true

        let (bookAuthor, authorBooks) = pair("author", of: book, "books", of: author)
        let (chapterBook, bookChapters) = pair("book", of: chapter, "chapters", of: book)
        bookChapters.isOrdered = true
        bookChapters.deleteRule = .cascadeDeleteRule
        let (bookTags, tagBooks) = pair("tags", of: book, "books", of: tag, toMany: true)
        let (prequels, sequels) = pair("prequels", of: book, "sequels", of: book, toMany: true)
        sequels.isOrdered = true
        let (loanBook, bookLoans) = pair("book", of: loan, "loans", of: book)
        loanBook.isOptional = false
        bookLoans.deleteRule = .denyDeleteRule
        let (loanReader, readerLoans) = pair("reader", of: loan, "loans", of: reader)
        loanReader.isOptional = false
        readerLoans.deleteRule = .cascadeDeleteRule

        author.properties = [attribute("born", .dateAttributeType), authorBooks]
        reader.properties = [readerLoans]
        book.properties = [
            title, pages, attribute("price", .decimalAttributeType), attribute("isbn", .stringAttributeType),
            attribute("published", .dateAttributeType), attribute("cover", .binaryDataAttributeType),
            attribute("identifier", .UUIDAttributeType), attribute("website", .URIAttributeType),
            attribute("rating", .doubleAttributeType), isLent, note, bookAuthor, bookChapters, bookTags, prequels,
            sequels, bookLoans,
        ]
        book.uniquenessConstraints = [["isbn"]]
        chapter.properties = [attribute("title", .stringAttributeType), chapterBook]
        tag.properties = [attribute("name", .stringAttributeType), tagBooks]
        tag.uniquenessConstraints = [["name"]]
        loan.properties = [attribute("date", .dateAttributeType), loanBook, loanReader]

        let model = NSManagedObjectModel()
        model.entities = [person, author, reader, book, chapter, tag, loan]
        return model
    }

    static func entity(_ name: String, _ className: String?) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = className.map { "CoreDataTests.\($0)" }
        return entity
    }

    static func attribute(_ name: String, _ type: NSAttributeType, optional: Bool = true) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        return attribute
    }

    /// A to-one (or to-many) of one entity and the to-many of the other that is its inverse.
    static func pair(
        _ name: String, of entity: NSEntityDescription, _ inverseName: String, of destination: NSEntityDescription,
        toMany: Bool = false
    ) -> (NSRelationshipDescription, NSRelationshipDescription) {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = toMany ? 0 : 1
        let inverse = NSRelationshipDescription()
        inverse.name = inverseName
        inverse.destinationEntity = entity
        inverse.maxCount = 0
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
        relationship.deleteRule = .nullifyDeleteRule
        inverse.deleteRule = .nullifyDeleteRule
        return (relationship, inverse)
    }
}

/// A coordinator with one store in a folder of its own, and a context to use.
final class LibraryStack {
    let folder: URL
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    init(model: NSManagedObjectModel = Library.model()) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("Library.sqlite")
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
    }

    /// A stack on a store that another stack made.
    init(opening url: URL, model: NSManagedObjectModel = Library.model()) throws {
        folder = URL(fileURLWithPath: "/nonexistent")
        self.url = url
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
    }

    deinit {
        if folder.path != "/nonexistent" { try? FileManager.default.removeItem(at: folder) }
    }

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Runs the story on the context's queue.
    func story<R>(_ body: (NSManagedObjectContext) throws -> R) rethrows -> R {
        try context.performAndWait { try body(context) }
    }
}

extension NSManagedObjectContext {
    func all<T: NSManagedObject>(
        _ type: T.Type, _ entity: String, _ format: String? = nil, _ arguments: Any...
    ) throws
        -> [T]
    {
        let request = NSFetchRequest<T>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        return try fetch(request)
    }
}
