import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

@Suite struct ModelDiagramTests {
    private func edges(_ document: ModelDocument) -> [String] {
        ModelDiagram(document).edges.map { "\($0.title) \($0.fromHead) \($0.toHead)" }
    }

    @Test func aPairOfRelationshipsIsOneEdge() {
        let document = model(
            entity("Author", toMany("books", "Book", inverse: "author")),
            entity("Book", toOne("author", "Author", inverse: "books")))
        #expect(edges(document) == ["Author.books ↔ Book.author one many"])
    }

    @Test func aRelationshipWithoutInverseLeadsToTheTitle() throws {
        let diagram = ModelDiagram(model(entity("Book", toMany("covers", "Image")), entity("Image")))
        #expect(diagram.edges.count == 1)
        let edge = try #require(diagram.edges.first)
        #expect(edge.from == .init(box: 0, row: 0) && edge.to == .init(box: 1, row: nil))
        #expect(edge.fromHead == .none && edge.toHead == .many)
    }

    @Test func relationshipsOfAnEntityWithItselfAreDrawnOnce() {
        let document = model(
            entity(
                "Folder", toMany("children", "Folder", inverse: "parent"),
                toOne("parent", "Folder", inverse: "children"),
                toMany("friends", "Folder", inverse: "friends")))
        #expect(
            edges(document) == [
                "Folder.children ↔ Folder.parent one many", "Folder.friends → Folder many many",
            ])
    }

    @Test func inheritedInversesAreDrawnWhereTheyAreDeclared() throws {
        let document = model(
            entity("Place", abstract: true, toMany("visits", "Visit", inverse: "cafe")),
            entity("Cafe", parent: "Place"), entity("Visit", toOne("cafe", "Cafe", inverse: "visits")))
        let diagram = ModelDiagram(document)
        #expect(diagram.edges.map(\.title) == ["Cafe is a Place", "Place.visits ↔ Visit.cafe"])
        #expect(diagram.edges[0].toHead == .triangle)
    }

    @Test func brokenModelsAreDrawnAsFarAsTheyGo() {
        let document = model(
            entity("A", parent: "B", toOne("lost", "Nowhere"), toOne("none", nil)),
            entity("B", parent: "A", toOne("a", "A", inverse: "nothing")))
        #expect(edges(document) == ["A is a B none triangle", "B is a A none triangle", "B.a → A none one"])
        #expect(!SVGDrawing.text(DiagramScene(ModelDiagram(document)), title: "").isEmpty)
    }

    @Test func anEmptyModelIsAnEmptyDrawing() throws {
        let text = SVGDrawing.text(DiagramScene(ModelDiagram(model())), title: "Empty")
        #expect(try MarkupParser.parse(Data(text.utf8), file: nil).name == "svg")
    }

    @Test func mermaid() {
        let document = model(
            entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
            entity("Book", parent: "Work", toOne("author", "Author", inverse: "books")), entity("Work", abstract: true))
        #expect(
            DiagramText.mermaid(ModelDiagram(document)) == """
                classDiagram
                    class E0["Author"] {
                        name : String?
                    }
                    class E1["Book"] {
                    }
                    class E2["Work"] {
                        <<abstract>>
                    }
                    E2 <|-- E1
                    E0 "1" -- "*" E1 : books / author

                """)
    }

    @Test func dot() {
        let document = model(entity("A<", toOne("b", "B")), entity("B"))
        let text = DiagramText.dot(ModelDiagram(document))
        #expect(text.contains("<b>A&lt;</b>") && text.contains("e0:r0 -> e1 [arrowtail=none arrowhead=normal];"))
    }

    @Test func widthsAreThoseOfTheWidestUsualFont() {
        #expect(abs(TextMeasure.width(of: "Wii", size: 1000) - (989 + 278 + 278)) < 0.01)
        #expect(TextMeasure.fitted("abcdefgh", width: 30, size: 12) == "abc…")
        #expect(TextMeasure.fitted("abc", width: 30, size: 12) == "abc")
    }
}
