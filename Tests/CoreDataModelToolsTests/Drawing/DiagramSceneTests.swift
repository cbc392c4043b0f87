import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

@Suite struct DiagramSceneTests {
    // MARK: What every drawing keeps

    /// Boxes apart; edges along the grid, from port to port, and through no box.
    private func check(_ scene: DiagramScene, _ name: String) {
        for (index, frame) in scene.frames.enumerated() {
            #expect(frame.x >= 0 && frame.y >= 0, "\(name)")
            for other in scene.frames[(index + 1)...] {
                #expect(!frame.overlaps(other, margin: 30), "\(name): \(frame) \(other)")
            }
        }
        for (edge, path) in zip(scene.diagram.edges, scene.paths) {
            #expect(path.count >= 2, "\(name): \(edge.title)")
            for (a, b) in zip(path, path.dropFirst()) {
                #expect((a.x == b.x) != (a.y == b.y), "\(name): \(edge.title) is not along the grid: \(path)")
                for (box, frame) in scene.frames.enumerated() {
                    let isInside =
                        max(a.x, b.x) > frame.x && min(a.x, b.x) < frame.maxX && max(a.y, b.y) > frame.y
                        && min(a.y, b.y) < frame.maxY
                    #expect(!isInside, "\(name): \(edge.title) runs through \(scene.diagram.boxes[box].name)")
                }
            }
            check(path[0], isAt: edge.from, in: scene)
            check(path[path.count - 1], isAt: edge.to, in: scene)
        }
    }

    private func check(_ tip: DiagramScene.Point, isAt port: ModelDiagram.Port, in scene: DiagramScene) {
        let frame = scene.frames[port.box]
        let isAtSide =
            [frame.x, frame.maxX].contains(tip.x)
            && tip.y == frame.y + DiagramMetrics.portOffset(port.row, in: scene.diagram.boxes[port.box])
        let isAtTopOrBottom = [frame.y, frame.maxY].contains(tip.y) && tip.x > frame.x && tip.x < frame.maxX
        #expect(isAtSide || port.row == nil && isAtTopOrBottom)
    }

    /// Stretches that two edges run on together, unless they lead to the same parent.
    private func sharedStretches(_ scene: DiagramScene) -> Int {
        var users: [String: Set<String>] = [:]
        for (index, path) in scene.paths.enumerated() {
            let edge = scene.diagram.edges[index]
            let group = edge.kind == .inheritance ? "parent \(edge.to.box)" : "edge \(index)"
            for (a, b) in zip(path, path.dropFirst()) {
                let isVertical = a.x == b.x
                let (low, high) = isVertical ? (min(a.y, b.y), max(a.y, b.y)) : (min(a.x, b.x), max(a.x, b.x))
                for place in stride(from: low, to: high, by: 5) {
                    users[isVertical ? "\(a.x) |\(place)" : "\(place)| \(a.y)", default: []].insert(group)
                }
            }
        }
        return users.values.count { $0.count > 1 }
    }

    /// A made-up model: a tree of relationships and some across it.
    private func large(_ count: Int, seed: UInt64) -> ModelDocument {
        var numbers = SeededNumbers(seed: seed)
        var entities = (0..<count).map { index in
            EntityElement(name: "Entity\(index)").with { entity in
                for attribute in 0..<Int.random(in: 0...7, using: &numbers) {
                    entity.properties.append(TestSupport.attribute("attribute\(attribute)"))
                }
            }
        }
        func connect(_ a: Int, _ b: Int, _ name: String) {
            entities[a].properties.append(toMany("\(name)s", "Entity\(b)", inverse: "\(name)Owner"))
            entities[b].properties.append(toOne("\(name)Owner", "Entity\(a)", inverse: "\(name)s"))
        }
        for index in 1..<count {
            connect(Int.random(in: max(0, index - 6)..<index, using: &numbers), index, "tree\(index)")
        }
        for extra in 0..<count / 5 {
            connect(
                Int.random(in: 0..<count, using: &numbers), Int.random(in: 0..<count, using: &numbers), "extra\(extra)")
        }
        return ModelDocument().with { $0.entities = entities }
    }

    @Test(arguments: [(3, 1), (12, 2), (25, 3)] as [(Int, UInt64)])
    func madeUpModelsAreLaidOutCleanly(count: Int, seed: UInt64) {
        let scene = DiagramScene(ModelDiagram(large(count, seed: seed)))
        check(scene, "\(count) entities")
        #expect(sharedStretches(scene) == 0)
        #expect(scene.width < scene.height * 6 && scene.height < scene.width * 3)
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func fixturesAreLaidOutCleanly() throws {
        for url in Fixtures.models.map(Fixtures.url) {
            let document = try #require(try ModelReader.read(contentsOf: url).current)
            for usesPositions in [true, false] {
                let scene = DiagramScene(ModelDiagram(document), usesPositions: usesPositions)
                check(scene, url.lastPathComponent)
                #expect(sharedStretches(scene) == 0, "\(url.lastPathComponent)")
            }
        }
    }

    @Test func theSameModelLooksTheSame() {
        let document = large(10, seed: 4)
        let text = SVGDrawing.text(DiagramScene(ModelDiagram(document)), title: "")
        var shuffled = document
        shuffled.entities.reverse()
        #expect(SVGDrawing.text(DiagramScene(ModelDiagram(shuffled)), title: "") == text)
    }

    // MARK: Xcode's places

    private func placed(_ places: [(Int, Int)]) -> DiagramScene {
        let document = model(entity("A", attribute("x")), entity("B", toOne("a", "A")), entity("C")).with { document in
            document.diagram = zip(["A", "B", "C"], places).map { name, place in
                DiagramElement(
                    name: name,
                    attributes: ["positionX": "\(place.0)", "positionY": "\(place.1)", "width": "100", "height": "60"])
            }
        }
        return DiagramScene(ModelDiagram(document))
    }

    @Test func boxesStayWhereXcodeHasThem() {
        let scene = placed([(0, 0), (400, 300), (-300, 100)])
        check(scene, "placed")
        #expect(scene.frames[2].x < scene.frames[0].x && scene.frames[0].x < scene.frames[1].x)
        #expect(scene.frames[0].y < scene.frames[2].y && scene.frames[2].y < scene.frames[1].y)
        #expect(scene.frames[1].x - scene.frames[0].x == 400)
    }

    @Test func boxesThatOverlapInXcodeAreLaidOutAnew() {
        #expect(placed([(0, 0), (9, 9), (18, 18)]).frames == placed([]).frames)
        #expect(placed([(0, 0), (400, 0)]).frames == placed([]).frames)
    }

    @Test func boxesThatAreTooNearForOurSizeAreSpread() {
        let scene = placed([(0, 0), (110, 0), (220, 0)])
        check(scene, "near")
        #expect(scene.frames[0].y == scene.frames[1].y && scene.frames[0].x < scene.frames[1].x)
    }

    // MARK: SVG

    @Test func textOfTheModelCannotBecomeMarkup() throws {
        let nasty = "<script>alert(\"x\")</script>&amp;']]>\u{1}"
        let document = model(entity(nasty, attribute(nasty), toOne(nasty + "2", nasty)))
        let text = SVGDrawing.text(DiagramScene(ModelDiagram(document)), title: nasty)
        let root = try MarkupParser.parse(Data(text.utf8), file: nil)
        #expect(!text.contains("<script>"))
        #expect(
            root.name == "svg"
                && root.children(named: "title").first?.text == nasty.replacingOccurrences(of: "\u{1}", with: "?"))
    }

    @Test func drawingsAreNamedForThoseWhoCannotSeeThem() throws {
        let document = model(
            entity("Author", toMany("books", "Book", inverse: "author")),
            entity("Book", toOne("author", "Author", inverse: "books")))
        let text = SVGDrawing.text(DiagramScene(ModelDiagram(document)), title: "Model Library")
        let root = try MarkupParser.parse(Data(text.utf8), file: nil)
        #expect(root.attributes["role"] == "img" && root.children(named: "title").first?.text == "Model Library")
        #expect(
            root.children(named: "desc").first?.text
                == "Entities: Author, Book. Relationships: Author.books ↔ Book.author.")
        #expect(text.contains("@media screen and (prefers-color-scheme: dark)"))
        // Two heads at the book's end, one at the author's.
        #expect(text.components(separatedBy: "class=\"head\"").count == 4)
    }
}
