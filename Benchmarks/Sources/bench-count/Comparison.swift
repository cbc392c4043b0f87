import Foundation
import Measuring

/// What was counted beside what a baseline says.
struct Comparison {
    /// How far a count may be from the baseline's before somebody has to look.
    static let tolerance = 0.05

    let baseline: Baseline
    let found: Baseline

    /// Whether one of our counts is too high; never where versions differ, since then nobody knows why it is.
    var fails: Bool { !unknown.isEmpty || differences.isEmpty && !higher.isEmpty }

    var text: String {
        var lines = [table.text, ""]
        if !differences.isEmpty {
            lines.append("The baseline was counted with other versions, so nothing fails here:")
            lines += differences.map { "  " + $0 }
        }
        if !unknown.isEmpty {
            lines.append(
                "Not in the baseline: \(unknown.joined(separator: ", ")); commit a new one with make bench-baseline.")
        }
        if !higher.isEmpty {
            lines.append(
                "More than 5 % above the baseline: \(higher.joined(separator: ", ")). Find out why; where it has to be so, "
                    + "commit a new baseline with make bench-baseline.")
        }
        if !lower.isEmpty {
            lines.append(
                "More than 5 % below the baseline: \(lower.joined(separator: ", ")); "
                    + "commit a new baseline with make bench-baseline.")
        }
        if unknown.isEmpty, higher.isEmpty, lower.isEmpty { lines.append("All within 5 % of the baseline.") }
        return lines.joined(separator: "\n")
    }

    private var differences: [String] { found.versions.differences(from: baseline.versions) }
    private var unknown: [String] { names.filter { change($0, .ours) == nil } }
    private var higher: [String] { names.filter { (change($0, .ours) ?? 0) > Self.tolerance } }
    private var lower: [String] { names.filter { (change($0, .ours) ?? 0) < -Self.tolerance } }
    private var names: [String] { found.counts.keys.sorted() }

    private func change(_ name: String, _ side: SideName) -> Double? {
        guard let before = baseline.count(name, side), let now = found.count(name, side), before > 0 else { return nil }
        return Double(now) / Double(before) - 1
    }

    private var table: Table {
        var table = Table(
            ["workload", "", "n", "baseline", "now", "change", "", "raw now", "change", "ratio", "was"],
            leading: [0, 1, 6])
        for name in names {
            table.add([
                name, Workload(rawValue: name)?.title ?? "", Report.grouped(found.rows),
                Baseline.text(baseline.count(name, .ours)), Baseline.text(found.count(name, .ours)),
                Self.percent(change(name, .ours)), higher.contains(name) ? "✗" : "",
                Baseline.text(found.count(name, .raw)), Self.percent(change(name, .raw)),
                Baseline.text(found.ratio(name)), Baseline.text(baseline.ratio(name)),
            ])
        }
        return table
    }

    private static func percent(_ change: Double?) -> String {
        change.map { String(format: "%+.2f %%", $0 * 100) } ?? "–"
    }
}
