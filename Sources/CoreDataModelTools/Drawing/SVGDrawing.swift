import CoreDataModel
import CoreDataPrimitives

/// Draws a scene as SVG, in the light or dark mode of the viewer's system.
package enum SVGDrawing {
    /// - Parameter title: a description of the drawing for screen readers.
    package static func text(_ scene: DiagramScene, title: String) -> String {
        let margin = 30
        let width = scene.width + 2 * margin
        let height = scene.height + 2 * margin
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" \
            height="\(height)" role="img" aria-labelledby="model-title model-description" class="model">
            """,
            "<title id=\"model-title\">\(escaped(title))</title>",
            "<desc id=\"model-description\">\(escaped(description(scene.diagram)))</desc>",
            "<style>\(style)</style>",
            "<rect class=\"paper\" width=\"\(width)\" height=\"\(height)\"/>",
            "<g transform=\"translate(\(margin) \(margin))\">",
        ]
        for (edge, path) in zip(scene.diagram.edges, scene.paths) { lines += draw(edge, path) }
        for (box, frame) in zip(scene.diagram.boxes, scene.frames) { lines += draw(box, frame) }
        lines += ["</g>", "</svg>"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func description(_ diagram: ModelDiagram) -> String {
        let entities = diagram.boxes.map(\.name).joined(separator: ", ")
        let edges = diagram.edges.map(\.title).joined(separator: "; ")
        return "Entities: \(entities)." + (edges.isEmpty ? "" : " Relationships: \(edges).")
    }

    /// Escapes the five special characters of markup; control characters, which XML does not allow, become question
    /// marks.
    package static func escaped(_ text: String) -> String {
        TextEscapes.replacing(in: text) { scalar in
            switch scalar {
            case "'": return "&#39;"
            case "\n", "\t", "\r": return nil
            default:
                let isForbidden = scalar.value < 32 || scalar.value == 0xFFFE || scalar.value == 0xFFFF
                return isForbidden ? "?" : TextEscapes.markup(scalar)
            }
        }
    }

    /// The style sheet. All rules are scoped to `.model`, because the page may have other styles. Colours are repeated
    /// instead of using CSS variables, which some SVG viewers do not support.
    private static let style = """

        .model { font-family: "Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif; }
        .model .name { font-size: 13px; font-weight: bold; text-anchor: middle; }
        .model .abstract .name { font-style: italic; }
        .model .row { font-size: 12px; }
        .model .type { font-size: 11px; text-anchor: end; }
        .model .border, .model .edge { fill: none; }
        .model .edge, .model .triangle { stroke-width: 1.4; }
        .model .head, .model .triangle { stroke-linejoin: round; }
        \(rules(light))
        @media screen and (prefers-color-scheme: dark) {
        \(rules(dark))
        }

        """

    private typealias Colors = (
        paper: String, box: String, border: String, band: String, abstractBand: String, name: String, text: String,
        faint: String, rule: String, edge: String
    )

    private static let light: Colors = (
        "#ffffff", "#ffffff", "#9aa7b8", "#3f6fb5", "#75839a", "#ffffff", "#1c2430", "#6a7686", "#dde3ea", "#5b6b80"
    )
    private static let dark: Colors = (
        "#15191f", "#1f252d", "#4a5665", "#335f9e", "#505c6c", "#f4f7fb", "#e4e9f0", "#98a4b3", "#333d49", "#93a3b8"
    )

    private static func rules(_ colors: Colors) -> String {
        """
        .model .paper, .model .triangle { fill: \(colors.paper); }
        .model .box { fill: \(colors.box); }
        .model .border { stroke: \(colors.border); }
        .model .band { fill: \(colors.band); }
        .model .abstract .band { fill: \(colors.abstractBand); }
        .model .name { fill: \(colors.name); }
        .model .row { fill: \(colors.text); }
        .model .type { fill: \(colors.faint); }
        .model .rule { stroke: \(colors.rule); }
        .model .edge, .model .head, .model .triangle { stroke: \(colors.edge); }
        .model .head { fill: \(colors.edge); }
        """
    }

    // MARK: Boxes

    private static func draw(_ box: ModelDiagram.Box, _ frame: DiagramScene.Frame) -> [String] {
        typealias Metrics = DiagramMetrics
        let (x, y, width, height) = (frame.x, frame.y, frame.width, frame.height)
        let inset = Int(Metrics.inset)
        let title = TextMeasure.fitted(
            box.name, width: Double(width) - Metrics.inset, size: Metrics.titleSize, isBold: true)
        let radius = 7
        // The band has the box's rounded upper corners and a straight lower edge.
        let band = """
            M\(x) \(y + Metrics.titleHeight)V\(y + radius)Q\(x) \(y) \(x + radius) \(y)H\(x + width - radius)\
            Q\(x + width) \(y) \(x + width) \(y + radius)V\(y + Metrics.titleHeight)Z
            """
        let place = "x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\" rx=\"\(radius)\""
        var lines = [
            "<g class=\"entity\(box.isAbstract ? " abstract" : "")\">",
            "<title>\(escaped(box.name))\(box.isAbstract ? " (abstract)" : "")</title>",
            "<rect class=\"box\" \(place)/>",
            "<path class=\"band\" d=\"\(band)\"/>",
            "<text class=\"name\" x=\"\(x + width / 2)\" y=\"\(y + 20)\">\(escaped(title))</text>",
        ]
        var before: ModelDiagram.Row.Kind?
        for (index, row) in box.rows.enumerated() {
            let top = y + Metrics.bodyOffset(of: index, in: box)
            if before == .attribute, row.kind != .attribute {
                let line = top - Metrics.sectionGap / 2
                lines.append("<path class=\"rule\" d=\"M\(x) \(line)H\(x + width)\"/>")
            }
            before = row.kind
            let nameWidth = TextMeasure.width(of: row.name, size: Metrics.rowSize)
            let room = Double(width) - 2 * Metrics.inset
            let detail = TextMeasure.fitted(
                row.detail, width: max(room - nameWidth - 12, room / 3), size: Metrics.detailSize)
            let name = TextMeasure.fitted(
                row.name, width: room - 12 - TextMeasure.width(of: detail, size: Metrics.detailSize),
                size: Metrics.rowSize)
            lines.append("<text class=\"row\" x=\"\(x + inset)\" y=\"\(top + 14)\">\(escaped(name))</text>")
            lines.append("<text class=\"type\" x=\"\(x + width - inset)\" y=\"\(top + 14)\">\(escaped(detail))</text>")
        }
        lines += ["<rect class=\"border\" \(place)/>", "</g>"]
        return lines
    }

    // MARK: Edges

    private static func draw(_ edge: ModelDiagram.Edge, _ path: [DiagramScene.Point]) -> [String] {
        guard path.count > 1 else { return [] }
        return ["<g>", "<title>\(escaped(edge.title))</title>", "<path class=\"edge\" d=\"\(rounded(path, edge))\"/>"]
            + head(edge.fromHead, at: path[0], from: path[1])
            + head(edge.toHead, at: path[path.count - 1], from: path[path.count - 2]) + ["</g>"]
    }

    /// Returns the path with rounded corners, except where an arrowhead would be on the curve.
    private static func rounded(_ path: [DiagramScene.Point], _ edge: ModelDiagram.Edge) -> String {
        var text = "M\(path[0].x) \(path[0].y)"
        for index in path.indices.dropFirst().dropLast() {
            let (before, corner, after) = (path[index - 1], path[index], path[index + 1])
            let room = (
                index == 1 ? length(before, corner) - length(of: edge.fromHead) : length(before, corner) / 2,
                index == path.count - 2 ? length(corner, after) - length(of: edge.toHead) : length(corner, after) / 2
            )
            let radius = max(0, min(8, room.0, room.1))
            let start = moved(corner, towards: before, by: radius)
            let end = moved(corner, towards: after, by: radius)
            text += "L\(start.x) \(start.y)Q\(corner.x) \(corner.y) \(end.x) \(end.y)"
        }
        return text + "L\(path[path.count - 1].x) \(path[path.count - 1].y)"
    }

    private static func length(_ a: DiagramScene.Point, _ b: DiagramScene.Point) -> Int {
        abs(a.x - b.x) + abs(a.y - b.y)
    }

    private static func length(of head: ModelDiagram.Edge.Head) -> Int {
        switch head {
        case .none: 0
        case .one: 9
        case .many: 16
        case .triangle: 13
        }
    }

    private static func moved(
        _ point: DiagramScene.Point, towards other: DiagramScene.Point, by distance: Int
    ) -> DiagramScene.Point {
        .init(
            x: point.x + (other.x - point.x).signum() * distance, y: point.y + (other.y - point.y).signum() * distance)
    }

    private static func head(
        _ head: ModelDiagram.Edge.Head, at tip: DiagramScene.Point, from before: DiagramScene.Point
    ) -> [String] {
        // The direction from the tip back along the edge.
        let (dx, dy) = ((before.x - tip.x).signum(), (before.y - tip.y).signum())
        func triangle(_ name: String, _ start: Int, _ length: Int, _ half: Int) -> String {
            let (x, y) = (tip.x + dx * start, tip.y + dy * start)
            let (baseX, baseY) = (x + dx * length, y + dy * length)
            return """
                <path class="\(name)" d="M\(x) \(y)L\(baseX - dy * half) \(baseY - dx * half)\
                L\(baseX + dy * half) \(baseY + dx * half)Z"/>
                """
        }
        switch head {
        case .none: return []
        case .one: return [triangle("head", 1, 8, 4)]
        case .many: return [triangle("head", 1, 8, 4), triangle("head", 8, 8, 4)]
        case .triangle: return [triangle("triangle", 1, 12, 7)]
        }
    }
}
