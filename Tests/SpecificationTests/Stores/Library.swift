import CoreDataModel
import CoreDataPrimitives
import StoreTestSupport

/// What the specification's stores hold: authors write books, some of them novels; people lend one another a hand.
///
/// ```
/// Author ──< Book >──< Tag          a book's tags are ordered     Novel, Comic are Books; Thing is abstract, above Author
/// Book ──< Chapter (ordered)        Shelf ──> Tag, Book without inverse, books ordered
/// Person: friends >──< friends, mentor ──< pupils, spouse ── spouse, favourite ──> Book
/// Club >──< Person, ordered on both sides
/// ```
enum Library {
    static let model: CompiledModel = {
        do { return try makeModel() } catch { preconditionFailure("\(error)") }
    }()

    static var entities: [Entity] {
        [
            Entity("Thing", isAbstract: true).string("name"),
            Entity("Author", parent: "Thing").string("email").attribute("born", .date).attribute("rating", .double)
                .toMany("books", "Book", inverse: "author").unique("email"),
            Entity("Book").string("title", "code", "shelf").integer("place").attribute("pages", .integer32)
                .attribute("price", .decimal).attribute("isOut", .boolean).attribute("published", .date)
                .attribute("note", .string, transient: true)
                .toOne("author", "Author", inverse: "books").toMany("tags", "Tag", inverse: "books", ordered: true)
                .toMany("chapters", "Chapter", inverse: "book", ordered: true)
                .unique("code").unique("shelf", "place"),
            Entity("Novel", parent: "Book").string("genre"),
            Entity("Comic", parent: "Book").string("artist"),
            Entity("Chapter").string("title").integer("length").toOne("book", "Book", inverse: "chapters"),
            Entity("Tag").string("name").integer("heft").toMany("books", "Book", inverse: "tags"),
            Entity("Shelf").string("label").toMany("picks", "Tag").toMany("row", "Book", ordered: true),
            Entity("Person").string("name").toMany("friends", "Person", inverse: "friends")
                .toMany("pupils", "Person", inverse: "mentor").toOne("mentor", "Person", inverse: "pupils")
                .toOne("spouse", "Person", inverse: "spouse").toOne("favourite", "Book")
                .toMany("clubs", "Club", inverse: "members", ordered: true),
            Entity("Club").string("name").toMany("members", "Person", inverse: "clubs", ordered: true),
        ]
    }

    private static func makeModel() throws -> CompiledModel { try ModelCompiler.compile(document(entities)) }
}
