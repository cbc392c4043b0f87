import CoreDataModel
import CoreDataStudio
import Foundation
import TestSupport
import Testing

/// Mistakes, several tabs, other programs and hostile models.
@Suite struct EditorSafetyTests {
    private func library() async throws -> EditorStory {
        let story = try await EditorStory()
        try await story.send("add-entity", ("name", "Book"))
        try await story.send("add-attribute", on: "/model/entity/Book", ("name", "pages"), ("type", "Integer 16"))
        return story
    }

    @Test func mistakesStandBesideTheirField() async throws {
        let story = try await library()
        let before = try Data(contentsOf: story.url.appendingPathComponent("Model.xcdatamodel/contents"))
        let answer = try await story.set(
            "/model/property/Book/pages", status: 422, ("optional", nil), ("defaultValueString", "ma<ny"))
        #expect(answer.text.contains("value=\"ma&lt;ny\""))
        #expect(
            answer.text.contains(
                "id=\"set-defaultValueString-problem\">Default Value of &#39;Book.pages&#39; cannot be"))
        #expect(answer.text.contains("aria-invalid=true"))
        #expect(try Data(contentsOf: story.url.appendingPathComponent("Model.xcdatamodel/contents")) == before)
        try await story.send("add-entity", status: 422, ("name", "Book"))
        try await story.send("add-entity", status: 422, ("name", "two words"))
        try await story.send("nonsense", status: 400)
        try await story.send(
            "rename", on: "/model/property/Book/none", of: story.page("/model"), status: 422, ("name", "x"))
    }

    @Test func mistakesInPredicatesHaveAMark() async throws {
        let story = try await library()
        try await story.send("add-request", ("name", "long"), ("entity", "Book"))
        let answer = try await story.set(
            "/model/request/long", status: 422, ("predicateString", "pages > > 1"))
        #expect(answer.text.contains("pages &gt; &gt; 1\n        ^"))
    }

    @Test func predicatesAreCompleted() async throws {
        let story = try await library()
        let version = try story.versions().currentName
        let answer = try await story.page("/model/complete/\(version)/Book?text=pa&caret=2").text
        #expect(answer.contains("\"text\":\"pages\"") && answer.contains("\"start\":0"))
        _ = try await story.page("/model/complete/\(version)/None?text=pa", status: 404)
    }

    @Test func everyChangeCanBeUndone() async throws {
        let story = try await library()
        try await story.send("delete", on: "/model/entity/Book")
        #expect(try story.document().entities.isEmpty)
        let undone = try await story.send("undo")
        #expect(try story.document().entities.map(\.name) == ["Book"])
        let page = try await story.page(undone.header("Location") ?? "")
        #expect(
            page.text.contains("Undone: Delete &#39;Book&#39;")
                && page.text.contains("title=\"Delete &#39;Book&#39;\">Redo"))
        try await story.send("redo")
        #expect(try story.document().entities.isEmpty)
    }

    @Test func aFormOfAFormerStateIsShownAndNotApplied() async throws {
        let story = try await library()
        let tab = try await story.page("/model/entity/Book")
        try await story.send("add-attribute", on: "/model/entity/Book", ("name", "title"), ("type", "String"))
        let answer = try await story.send(
            "add-attribute", on: "/model/entity/Book", of: tab, status: 409, ("name", "price"), ("type", "Decimal"))
        #expect(answer.text.contains("changed after this form was opened") && answer.text.contains("value=\"price\""))
        #expect(try story.document().entities[0].properties.map(\.name) == ["pages", "title"])
        // The page that it was answered with is up to date.
        try await story.send(
            "add-attribute", on: "/model/entity/Book", of: answer, ("name", "price"), ("type", "Decimal"))
        #expect(try story.document().entities[0].properties.count == 3)
    }

    @Test func filesThatChangedOnDiskAreShownAndNotOverwritten() async throws {
        let story = try await library()
        let file = story.url.appendingPathComponent("Model.xcdatamodel/contents")
        let mine = try String(contentsOf: file, encoding: .utf8)
        let theirs = mine.replacing("pages", with: "sheets")
        try Data(theirs.utf8).write(to: file)
        #expect(try await story.page("/model").text.contains("Another program changed"))
        let answer = try await story.send("add-entity", ("name", "Author"))
        #expect(answer.header("Location") == "/model/conflict")
        #expect(try String(contentsOf: file, encoding: .utf8) == theirs)
        let page = try await story.page("/model/conflict")
        #expect(page.text.contains("<tr class=removed><td>Editor") && page.text.contains("<tr class=added><td>Disk"))
        try await story.send("take", of: page)
        #expect(try await story.page("/model/entity/Book").text.contains("sheets"))
        try await story.send("undo")
        #expect(try String(contentsOf: file, encoding: .utf8) == mine)
        try Data(theirs.utf8).write(to: file)
        try await story.send("keep", of: story.page("/model/conflict"))
        #expect(try String(contentsOf: file, encoding: .utf8) == mine)
    }

    // MARK: Hostile models

    private static let evil = "<script>alert(1)</script>\"'&<b>"

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }

    @Test func hostileNamesAreEscaped() async throws {
        let evil = Self.escaped(Self.evil)
        let story = try await EditorStory(
            contents: """
                <model><entity name="\(evil)" representedClassName="\(evil)" versionHashModifier="\(evil)">\
                <attribute name="\(evil)" attributeType="String" defaultValueString="\(evil)" elementID="\(evil)"/>\
                <relationship name="r" maxCount="1" destinationEntity="\(evil)" inverseName="\(evil)"/>\
                <fetchedProperty name="f"><fetchRequest name="x" entity="\(evil)" predicateString="\(evil)"/></fetchedProperty>\
                <fetchIndex name="\(evil)"><fetchIndexElement property="\(evil)"/></fetchIndex>\
                <uniquenessConstraints><uniquenessConstraint><constraint value="\(evil)"/></uniquenessConstraint>\
                </uniquenessConstraints><userInfo><entry key="\(evil)" value="\(evil)"/></userInfo></entity>\
                <entity name="Plain"/><fetchRequest name="\(evil)" entity="\(evil)" predicateString="\(evil)"/>\
                <configuration name="\(evil)"><memberEntity name="\(evil)"/></configuration>\
                <composite name="\(evil)"><attribute name="\(evil)" attributeType="String"/></composite></model>
                """)
        let name = Address.escaped(Self.evil)
        let addresses =
            ["", "/settings", "/lint", "/graph", "/compare", "/code", "/source", "/conflict"]
            + ["entity", "request", "configuration", "composite"].map { "/\($0)/\(name)" }
            + ["/property/\(name)/\(name)", "/property/\(name)/r", "/property/\(name)/f", "/index/\(name)/\(name)"]
            + ["/part/\(name)/\(name)"]
        for address in addresses {
            let page = try await story.page("/model" + address).text
            #expect(!page.contains("<script>alert") && !page.contains("<b>\""), "\(address)")
            #expect(!page.contains("\"'&<"), "\(address)")
        }
        let answer = try await story.send("rename", on: "/model/entity/\(name)", status: 303, ("name", "Tame"))
        #expect(answer.header("Location")?.hasPrefix("/model/entity/Tame") == true)
        #expect(try story.document().entities.map(\.name).sorted() == ["Plain", "Tame"])
    }

    @Test func pathsOfAttackersAreRefused() async throws {
        let story = try await library()
        for name in ["../evil", "a/b", ".hidden", "a:b", ""] {
            try await story.send("add-version", status: 422, ("name", name))
        }
        for address in ["/model/entity/none", "/model/nonsense", "/model/property/Book", "/model?version=none"] {
            _ = try await story.page(address, status: 404)
        }
        let folder = story.url.deletingLastPathComponent()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Model.xcdatamodeld"])
    }

    @Test func formsNeedTheirToken() async throws {
        let story = try await library()
        let request = story.client.request(
            "POST", "/model/edit", form: "do=delete&at=%2Fmodel%2Fentity%2FBook&revision=3&token=wrong")
        #expect(await story.client.studio.respond(to: request).status == 403)
        #expect(try story.document().entities.count == 1)
    }

    // MARK: Graph, read only

    @Test func boxesAreMoved() async throws {
        let story = try await library()
        try await story.send("add-entity", ("name", "Author"))
        let page = try await story.page("/model/graph").text
        #expect(page.contains("data-box=\"Book\"") && !page.contains("<style") && !page.contains(" style="))
        try await story.send("position", on: "/model/graph", ("entity", "Book"), ("x", "300"), ("y", "-40"))
        let diagram = try story.document().diagram
        #expect(diagram.map(\.name) == ["Author", "Book"])
        #expect(diagram[1].attributes["positionX"] == "300" && diagram[1].attributes["positionY"] == "-40")
        #expect(try await story.page("/model/graph").text.contains("data-x=\"300\" data-y=\"-40\""))
        let svg = try await story.page("/model/graph.svg")
        #expect(svg.header("Content-Type") == "image/svg+xml" && svg.text.hasPrefix("<svg"))
    }

    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)), arguments: Fixtures.models)
    func publicModelsAreShown(path: String) async throws {
        let story = try await EditorStory(Fixtures.url(path))
        for address in ["", "/lint", "/graph", "/compare", "/code", "/source"] {
            _ = try await story.page("/model" + address)
        }
        let page = try await story.page("/model")
        let isSource = try story.versions().current?.origin == .written && !page.text.contains("cannot be edited")
        #expect((page.hidden("revision") != nil) == isSource)
    }

    @Test func modelsAreMadeByAForm() async throws {
        let client = try await StudioClient(try Studio())
        let page = try await client.get("/model")
        #expect(page.text.contains("action=\"/model/new\""))
        let refused = try await client.post("/model/new", [("name", "../Evil")], of: page)
        #expect(refused.status == 422 && refused.text.contains("value=\"../Evil\""))
    }
}
