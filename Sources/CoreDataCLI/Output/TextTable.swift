/// A table for people: columns aligned by display width, numbers to the right.
///
///     name   quantity
///     -----  --------
///     Milk          2
struct TextTable {
    struct Column {
        var title: String
        var isRightAligned = false
    }

    var columns: [Column]
    var rows: [[String]] = []

    init(_ columns: [Column]) { self.columns = columns }

    /// The lines, without spaces at their ends.
    func lines(hasHeader: Bool = true) -> [String] {
        let rows = rows.map { $0.map(Self.oneLine) }
        var widths = hasHeader ? columns.map { DisplayWidth.of($0.title) } : columns.map { _ in 0 }
        for row in rows {
            for (index, text) in row.enumerated() { widths[index] = max(widths[index], DisplayWidth.of(text)) }
        }
        let header = hasHeader ? [columns.map(\.title), widths.map { String(repeating: "-", count: $0) }] : []
        return (header + rows).map { row in
            var line = ""
            for (index, text) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[index] - DisplayWidth.of(text))
                line += (index == 0 ? "" : "  ") + (columns[index].isRightAligned ? padding + text : text + padding)
            }
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// Line breaks and other controls would break the table; they show as in source code.
    private static func oneLine(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if scalar.properties.generalCategory == .control {
                    result += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
