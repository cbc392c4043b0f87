import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

@Suite struct ModelPageTests {
    private func page(_ document: ModelDocument, names: ModelStoreNames = .init()) throws -> String {
        ModelPage(document, model: try ModelCompiler.compile(document), names: names).html
    }

    /// The values of an attribute everywhere in a page.
    private func values(of attribute: String, in html: String) -> [String] {
        html.components(separatedBy: " \(attribute)=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
    }

    private func checkLinks(_ html: String, _ name: String) {
        let ids = values(of: "id", in: html)
        #expect(Set(ids).count == ids.count, "\(name): \(ids)")
        for link in values(of: "href", in: html) {
            #expect(link.hasPrefix("#") && ids.contains(String(link.dropFirst())), "\(name): \(link)")
        }
    }

    private let library = model(
        entity(
            "Author", attribute("name", default: "Nobody", optional: false),
            toMany("books", "Book", inverse: "author", ordered: true)),
        entity("Book", attribute("born", .date, default: "0"), toOne("author", "Author", inverse: "books"))
            .with {
                $0.uniquenessConstraints = [["born"]]
                $0.userInfo = ["key": "a value"]
                var index = FetchIndexElement(name: "byDate")
                index.elements = [.init(propertyName: "born")]
                $0.fetchIndexes = [index]
            }
    ).with {
        $0.name = "Library"
        var request = FetchRequestElement(name: "allBooks")
        request.entityName = "Book"
        request.predicate = "born > $DATE"
        $0.fetchRequests = [request]
        var configuration = ConfigurationElement(name: "Cloud")
        configuration.entityNames = ["Book"]
        $0.configurations = [configuration]
    }

    @Test func everythingIsOnThePage() throws {
        var names = ModelStoreNames()
        names.tables = ["Book": "ZBOOK"]
        names.columns = ["Book.author": "ZAUTHOR"]
        let html = try page(library, names: names)
        for text in [
            "<title>Library — data model</title>", "2 entities · 2 attributes · 2 relationships", "<svg ",
            "<code>ZBOOK</code>",
            "<code>ZAUTHOR</code>", "<code>Nobody</code>", "2001-01-01T00:00:00Z", "to-many", "ordered",
            "(<code>born</code>)", "<code>key</code> = a value", "<code>byDate</code>", "<code>born &gt; $DATE</code>",
            "<code>Cloud</code>",
        ] {
            #expect(html.contains(text), "\(text)")
        }
        let model = try ModelCompiler.compile(library)
        for entity in model.entities { #expect(html.contains(entity.versionHash.hex)) }
        #expect(html.contains(CompiledModel.versionChecksum(entities: model.entities)))
        checkLinks(html, "Library")
    }

    @Test func whatAModelDoesNotHaveIsLeftOut() throws {
        let html = try page(model(entity("Book", attribute("title"))))
        for text in ["Fetch requests", "Configurations", "Composites", "Relationships of", "Indexes of", "Validation"] {
            #expect(!html.contains(text), "\(text)")
        }
    }

    @Test func textOfTheModelCannotBecomeMarkup() throws {
        var document = library
        document.name = "<script>1</script>"
        document.entities[1].userInfo = ["<b>": "</dd><script>2</script>"]
        document.fetchRequests[0].predicate = "name == \"<img onerror='x'>\""
        let html = try page(document)
        #expect(!html.contains("<script>") && !html.contains("<img") && !html.contains("<b>"))
        checkLinks(html, "escaped")
    }

    @Test func namesThatDifferInSignsOnlyHaveTheirOwnAnchors() {
        #expect(Markup.anchor("a_b") != Markup.anchor("a b"))
        #expect(Markup.anchor("a", "b") != Markup.anchor("a-b"))
        #expect(Markup.anchor("Ä").allSatisfy { $0.isASCII })
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func pagesOfFixturesHaveNoBrokenLinks() throws {
        for url in Fixtures.models.map(Fixtures.url) {
            let document = try #require(try ModelReader.read(contentsOf: url).current)
            checkLinks(try page(document), url.lastPathComponent)
        }
    }
}
