import CoreDataModel
import CoreDataModelTools

/// The graph of a version, with Xcode's places of the boxes. Boxes are dragged by the script, or moved by the form.
struct GraphPage {
    let view: EditorView

    var page: Page {
        let diagram = ModelDiagram(view.document)
        let scene = DiagramScene(diagram)
        let positions = GraphPositions(view.document, scene: scene)
        let drawing = GraphDrawing(scene: scene, positions: positions, view: view).html
        let names = view.entityNames.map { (value: $0, title: $0) }
        let move: HTML =
            names.isEmpty
            ? ""
            : """
            <details><summary>Move a box without dragging</summary>\
            \(view.form("position", class: "adding", """
                \(view.select("Box", "entity", names))\(view.textField("Left", "x", value: "0"))\
                \(view.textField("Top", "y", value: "0"))<button>Move box</button>
                """))</details>
            """
        let drag = view.form(
            "position",
            """
            <input type=hidden name=entity data-graph-entity><input type=hidden name=x data-graph-x>\
            <input type=hidden name=y data-graph-y>
            """)
        let places: HTML = diagram.boxes.isEmpty ? "<p>No entities yet.</p>" : ""
        return view.page(
            "Graph",
            """
            <h1>Graph</h1>\(places)
            <p class=hint>Drag a box, or choose it with Tab and move it with the arrow keys. Enter opens the entity.</p>
            <div class=row><button type=button data-zoom="1.25" hidden>Zoom in</button>\
            <button type=button data-zoom="0.8" hidden>Zoom out</button>\
            <a class=button href="\(Address("model", "graph.svg").with("version", view.version))">Save as SVG</a></div>
            <div class="scroll graph" tabindex=0 role=region aria-label=Graph data-graph>\(drawing)</div>
            <div hidden data-graph-form>\(drag)</div>\(move)
            """, isWide: true)
    }
}

/// Draws a scene as SVG whose style is in the style sheet.
struct GraphDrawing {
    let scene: DiagramScene
    let positions: GraphPositions
    let view: EditorView

    private static let margin = 30

    var html: HTML {
        let (width, height) = (scene.width + 2 * Self.margin, scene.height + 2 * Self.margin)
        let edges = zip(scene.diagram.edges, scene.paths).map(edge)
        let boxes = zip(scene.diagram.boxes, scene.frames).map(box)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" \
            width="\(width)" height="\(height)" class=model-graph data-scale="\(positions.percent)">\
            <defs>\(Self.markers)</defs>\
            <g transform="translate(\(Self.margin) \(Self.margin))">\(edges)\(boxes)</g></svg>
            """
    }

    private static let markers: HTML = """
        <marker id=one viewBox="0 0 10 10" refX=9 refY=5 markerWidth=8 markerHeight=8 orient=auto-start-reverse>\
        <path class=head d="M0 1L9 5L0 9Z"/></marker>\
        <marker id=many viewBox="0 0 18 10" refX=17 refY=5 markerWidth=14 markerHeight=8 orient=auto-start-reverse>\
        <path class=head d="M0 1L9 5L0 9ZM8 1L17 5L8 9Z"/></marker>\
        <marker id=triangle viewBox="0 0 14 14" refX=13 refY=7 markerWidth=11 markerHeight=11 \
        orient=auto-start-reverse>\
        <path class=triangle d="M1 1L13 7L1 13Z"/></marker>
        """

    private func edge(_ edge: ModelDiagram.Edge, _ path: [DiagramScene.Point]) -> HTML {
        guard let first = path.first else { return "" }
        let rest = path.dropFirst().map { point -> HTML in "L\(point.x) \(point.y)" }
        return """
            <g><title>\(edge.title)</title><path class=edge d="M\(first.x) \(first.y)\(rest)"\
            \(Self.marker("start", edge.fromHead))\(Self.marker("end", edge.toHead))/></g>
            """
    }

    private static func marker(_ end: HTML, _ head: ModelDiagram.Edge.Head) -> HTML {
        switch head {
        case .none: ""
        case .one: " marker-\(end)=\"url(#one)\""
        case .many: " marker-\(end)=\"url(#many)\""
        case .triangle: " marker-\(end)=\"url(#triangle)\""
        }
    }

    private func box(_ box: ModelDiagram.Box, _ frame: DiagramScene.Frame) -> HTML {
        let place = positions.place(of: box.name)
        let rows = box.rows.enumerated().map { index, row -> HTML in
            let y = frame.y + DiagramMetrics.bodyOffset(of: index, in: box) + 14
            return """
                <text class=row x="\(frame.x + 12)" y="\(y)">\(row.name)</text>\
                <text class=type x="\(frame.x + frame.width - 12)" y="\(y)">\(row.detail)</text>
                """
        }
        let kind: HTML = box.isAbstract ? "box abstract" : "box"
        let x = place?.x ?? frame.x
        let y = place?.y ?? frame.y
        return """
            <a href="\(view.address(.element(.entity(box.name))))" class="\(kind)" data-box="\(box.name)" \
            data-x="\(x)" data-y="\(y)" aria-label="Entity \(box.name)">\
            <rect class=frame x="\(frame.x)" y="\(frame.y)" width="\(frame.width)" height="\(frame.height)" rx=7 />\
            <path class=band d="M\(frame.x) \(frame.y + 30)v-23q0-7 7-7h\(frame.width - 14)q7 0 7 7v23Z"/>\
            <text class=name x="\(frame.x + frame.width / 2)" y="\(frame.y + 20)">\(box.name)</text>\(rows)</a>
            """
    }
}

/// Xcode's places of the boxes, and those of the drawing, which is larger where boxes have more rows than in Xcode.
struct GraphPositions: Sendable {
    /// The places in the file, or those of the drawing for boxes that have none.
    private let places: [String: DiagramScene.Point]
    private let stored: Set<String>
    /// The scale of the drawing.
    let percent: Int

    init(_ document: ModelDocument, scene: DiagramScene? = nil) {
        let scene = scene ?? DiagramScene(ModelDiagram(document))
        let frames = Dictionary(
            zip(scene.diagram.boxes.map(\.name), scene.frames), uniquingKeysWith: { first, _ in first })
        var places: [String: DiagramScene.Point] = [:]
        for element in document.diagram where frames[element.name] != nil {
            guard let x = element.attributes["positionX"].flatMap(Double.init),
                let y = element.attributes["positionY"].flatMap(Double.init), x.magnitude < 100_000,
                y.magnitude < 100_000
            else { continue }
            places[element.name] = DiagramScene.Point(x: Int(x), y: Int(y))
        }
        stored = Set(places.keys)
        percent = Self.percent(places, frames)
        for (name, frame) in frames where places[name] == nil {
            places[name] = DiagramScene.Point(x: frame.x, y: frame.y)
        }
        self.places = places
    }

    /// Compares the two boxes that are farthest apart in the file.
    private static func percent(
        _ places: [String: DiagramScene.Point], _ frames: [String: DiagramScene.Frame]
    ) -> Int {
        guard let left = places.min(by: { ($0.value.x, $0.key) < ($1.value.x, $1.key) }),
            let right = places.max(by: { ($0.value.x, $0.key) < ($1.value.x, $1.key) }),
            let top = places.min(by: { ($0.value.y, $0.key) < ($1.value.y, $1.key) }),
            let bottom = places.max(by: { ($0.value.y, $0.key) < ($1.value.y, $1.key) })
        else { return 100 }
        let (width, height) = (right.value.x - left.value.x, bottom.value.y - top.value.y)
        let ratio =
            if width >= height, width > 0 {
                Double((frames[right.key]?.x ?? 0) - (frames[left.key]?.x ?? 0)) / Double(width)
            } else if height > 0 {
                Double((frames[bottom.key]?.y ?? 0) - (frames[top.key]?.y ?? 0)) / Double(height)
            } else {
                1.0
            }
        return min(260, max(100, Int((ratio * 5).rounded()) * 20))
    }

    func place(of name: String) -> DiagramScene.Point? { places[name] }

    /// Returns the edits that move a box, and give each box without a place the one that it is drawn at.
    func edits(moving name: String, toX x: Int, y: Int) -> [ModelEdit] {
        let others = places.filter { $0.key != name && !stored.contains($0.key) }.sorted { $0.key < $1.key }
        return [.setPosition(entity: name, x: x, y: y)]
            + others.map { .setPosition(entity: $0.key, x: $0.value.x, y: $0.value.y) }
    }
}
