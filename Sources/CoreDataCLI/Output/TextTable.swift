/// A text table: columns are aligned by display width, numbers to the right.
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

    /// Returns the lines, without trailing spaces.
    ///
    /// - Parameter width: the maximum width of a line; the widest columns of the table are truncated.
    func lines(hasHeader: Bool = true, width: Int? = nil) -> [String] {
        let rows = rows.map { $0.map(Self.oneLine) }
        var widths = hasHeader ? columns.map { DisplayWidth.of($0.title) } : columns.map { _ in 0 }
        for row in rows {
            for (index, text) in row.enumerated() { widths[index] = max(widths[index], DisplayWidth.of(text)) }
        }
        if let width { widths = Self.narrowed(widths, to: width) }
        let header = hasHeader ? [columns.map(\.title), widths.map { String(repeating: "-", count: $0) }] : []
        return (header + rows).map { row in
            var line = ""
            for (index, text) in row.enumerated() {
                let text = DisplayWidth.cut(text, to: widths[index])
                let padding = String(repeating: " ", count: widths[index] - DisplayWidth.of(text))
                line += (index == 0 ? "" : "  ") + (columns[index].isRightAligned ? padding + text : text + padding)
            }
            line = String(line.reversed().drop { $0 == " " }.reversed())
            return width.map { DisplayWidth.cut(line, to: $0) } ?? line
        }
    }

    /// Returns the widths after narrowing the widest columns to fit the line; each keeps a minimum width.
    private static func narrowed(_ widths: [Int], to width: Int) -> [Int] {
        let room = width - 2 * (widths.count - 1)
        var cap = widths.max() ?? 0
        while cap > 8, widths.map({ min($0, cap) }).reduce(0, +) > room { cap -= 1 }
        var narrowed = widths.map { min($0, cap) }
        // The remaining space goes to the truncated columns.
        var rest = room - narrowed.reduce(0, +)
        for index in narrowed.indices where rest > 0 && narrowed[index] < widths[index] {
            let added = min(rest, widths[index] - narrowed[index])
            narrowed[index] += added
            rest -= added
        }
        return narrowed
    }

    /// Escapes line breaks and control characters, which would break the table, as in source code.
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
