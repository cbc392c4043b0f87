import CoreDataModel
import CoreDataPrimitives

/// Writes XML in Xcode's style: four spaces per level, one element per line, no final line break.
struct MarkupWriter {
    private(set) var text = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#
    private var depth = 0

    /// Writes an element; one without children is self-closing.
    mutating func element(
        _ name: String, _ attributes: [(String, String)], children: [(inout MarkupWriter) -> Void] = []
    ) {
        open(name, attributes, isEmpty: children.isEmpty)
        if children.isEmpty { return }
        depth += 1
        for child in children { child(&self) }
        depth -= 1
        startLine()
        text += "</\(name)>"
    }

    private mutating func open(_ name: String, _ attributes: [(String, String)], isEmpty: Bool) {
        startLine()
        text += "<\(name)"
        for (name, value) in attributes { text += " \(name)=\"\(Self.escaped(value))\"" }
        text += isEmpty ? "/>" : ">"
    }

    private mutating func startLine() { text += "\n" + String(repeating: "    ", count: depth) }

    static func escaped(_ text: String) -> String { TextEscapes.replacing(in: text, TextEscapes.attribute) }
}
