import Foundation

/// Lines of columns: the first column to the left, the others to the right.
package struct Table {
    private var lines: [[String]]
    /// Columns that stand to the left, as the first does.
    private let leading: Set<Int>

    package init(_ heads: [String], leading: Set<Int> = [0]) {
        lines = [heads]
        self.leading = leading
    }

    package mutating func add(_ line: [String]) { lines.append(line) }

    package var text: String {
        let columns = lines.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            lines.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return lines.map { line in
            line.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return leading.contains(column) ? text + space : space + text
            }.joined(separator: "  ").trimmingSuffix { $0 == " " }
        }.joined(separator: "\n")
    }
}

extension String {
    fileprivate func trimmingSuffix(while condition: (Character) -> Bool) -> String {
        var end = endIndex
        while end > startIndex, condition(self[index(before: end)]) { end = index(before: end) }
        return String(self[..<end])
    }
}

extension Report {
    /// Times, ratios and goals; a ✗ marks a ratio above its goal.
    package func workloadTable(_ time: TimeKind) -> String {
        var table = Table(
            [
                "workload", "", "n", "ours ms", "raw ms", "ratio", "goal", "", "GRDB", "peak MiB", "raw", "GRDB",
            ], leading: [0, 1, 7])
        for result in workloads {
            table.add([
                result.workload.rawValue, result.workload.title, Self.grouped(result.rows),
                Self.milliseconds(result.median(.ours, time)), Self.milliseconds(result.median(.raw, time)),
                Self.ratio(result.ratio(.ours, time)), Self.ratio(result.workload.goal),
                result.meetsGoal(time) == false ? "✗" : "", Self.ratio(result.ratio(.grdb, time)),
                Self.mebibytes(result.peaks[SideName.ours.rawValue]),
                Self.mebibytes(result.peaks[SideName.raw.rawValue]),
                Self.mebibytes(result.peaks[SideName.grdb.rawValue]),
            ])
        }
        return table.text
    }

    /// Bytes per object and peaks.
    package var memoryTable: String {
        var table = Table(["W13", "side", "n", "bytes per object", "goal", "", "peak MiB"], leading: [0, 1, 5])
        for result in memory {
            let goal = result.side == .ours ? result.kind.goal : nil
            table.add([
                result.kind.rawValue, result.side.rawValue, Self.grouped(result.rows),
                String(format: "%.0f", result.bytesPerObject), goal.map { String(format: "%.0f", $0) } ?? "",
                goal.map { result.bytesPerObject <= $0 ? "" : "✗" } ?? "", Self.mebibytes(result.peak),
            ])
        }
        return table.text
    }

    private static func milliseconds(_ seconds: Double?) -> String {
        guard let seconds else { return "–" }
        let value = seconds * 1000
        return String(format: value < 1 ? "%.4f" : value < 100 ? "%.2f" : "%.1f", value)
    }

    private static func ratio(_ value: Double?) -> String { value.map { String(format: "%.2f", $0) } ?? "–" }

    private static func mebibytes(_ value: Int?) -> String { value.map { "\($0 >> 20)" } ?? "–" }

    package static func grouped(_ number: Int) -> String {
        var digits = String(number)
        var position = digits.count - 3
        while position > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: position))
            position -= 3
        }
        return digits
    }
}
