import CoreDataModel

/// Writes diagrams in the languages of tools that compute the layout themselves.
package enum DiagramText {
    // MARK: Mermaid

    /// A Mermaid class diagram, which GitHub shows in Markdown.
    package static func mermaid(_ diagram: ModelDiagram) -> String {
        var lines = ["classDiagram"]
        for (index, box) in diagram.boxes.enumerated() {
            lines.append("    class \(mermaidName(index))[\"\(mermaidText(box.name))\"] {")
            if box.isAbstract { lines.append("        <<abstract>>") }
            for row in box.rows where row.kind == .attribute {
                lines.append("        \(mermaidText(row.name)) : \(mermaidText(row.detail))")
            }
            lines.append("    }")
        }
        for edge in diagram.edges {
            let (from, to) = (mermaidName(edge.from.box), mermaidName(edge.to.box))
            if edge.kind == .inheritance {
                lines.append("    \(to) <|-- \(from)")
                continue
            }
            let names = [edge.from, edge.to].compactMap { port in
                port.row.map { mermaidText(diagram.boxes[port.box].rows[$0].name) }
            }
            let arrow = edge.fromHead == .none ? "-->" : "--"
            lines.append(
                "    \(from) \(count(edge.fromHead))\(arrow) \(count(edge.toHead))\(to) : \(names.joined(separator: " / "))"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Names are in labels, so that none is parsed as syntax.
    private static func mermaidName(_ box: Int) -> String { "E\(box)" }

    private static func mermaidText(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            // Encode characters that Mermaid would parse as syntax or HTML.
            if "\"#<>{}()~;&`:\\".unicodeScalars.contains(scalar) || scalar.value < 32 {
                result += "#\(scalar.value);"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    private static func count(_ head: ModelDiagram.Edge.Head) -> String {
        switch head {
        case .one: "\"1\" "
        case .many: "\"*\" "
        case .none, .triangle: ""
        }
    }

    // MARK: DOT

    /// A graph for Graphviz.
    package static func dot(_ diagram: ModelDiagram) -> String {
        var lines = [
            "digraph model {", "    rankdir=LR; node [shape=plain fontname=\"Helvetica\" fontsize=11];",
            "    edge [dir=both fontname=\"Helvetica\" fontsize=9 color=\"#5b6b80\"];",
        ]
        for (index, box) in diagram.boxes.enumerated() {
            let title = SVGDrawing.escaped(box.name)
            var table = """
                <table border="0" cellborder="1" cellspacing="0" cellpadding="4">\
                <tr><td bgcolor="#3f6fb5"><font color="white">\(box.isAbstract ? "<i>\(title)</i>" : "<b>\(title)</b>")</font></td></tr>
                """
            for (row, shown) in box.rows.enumerated() {
                let text = SVGDrawing.escaped("\(shown.name): \(shown.detail)")
                table += "<tr><td align=\"left\" port=\"r\(row)\">\(text)</td></tr>"
            }
            lines.append("    e\(index) [label=<\(table)</table>>];")
        }
        for edge in diagram.edges {
            let heads = "arrowtail=\(arrow(edge.fromHead)) arrowhead=\(arrow(edge.toHead))"
            lines.append("    \(port(edge.from)) -> \(port(edge.to)) [\(heads)];")
        }
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }

    private static func port(_ port: ModelDiagram.Port) -> String {
        "e\(port.box)" + (port.row.map { ":r\($0)" } ?? "")
    }

    private static func arrow(_ head: ModelDiagram.Edge.Head) -> String {
        switch head {
        case .none: "none"
        case .one: "normal"
        case .many: "normalnormal"
        case .triangle: "empty"
        }
    }
}
