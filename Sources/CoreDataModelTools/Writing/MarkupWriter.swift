import CoreDataModel

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

    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            // A parser would replace these by a space.
            case "\n": result += "&#10;"
            case "\r": result += "&#13;"
            case "\t": result += "&#9;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
