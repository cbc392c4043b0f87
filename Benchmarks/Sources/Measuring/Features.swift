import Foundation

/// Something that a context can do, whose cost is measured beside doing without it.
package enum FeatureKind: String, CaseIterable, Codable, Sendable {
    case child = "F1"
    case merge = "F2"
    case undo = "F3"
    case undoAlone = "F3e"
    case upsert = "F4"
    case upsertHalf = "F4h"

    package var title: String {
        switch self {
        case .child: "insert all in a child, save it and its parent"
        case .merge: "merge a sibling's change of all"
        case .undo: "change all with an undo manager, save"
        case .undoAlone: "the same, but save"
        case .upsert: "upsert all by a constraint, all are there"
        case .upsertHalf: "the same, half are there"
        }
    }

    /// What it is compared with.
    package var other: String {
        switch self {
        case .child: "insert all, save"
        case .merge: "fetch all again"
        case .undo, .undoAlone: "without"
        case .upsert, .upsertHalf: "plain C, ON CONFLICT"
        }
    }

    package var goal: Double? {
        switch self {
        case .child: 1.6
        case .merge: 0.6
        case .undo: 1.25
        // What is left without the save is little to begin with.
        case .undoAlone: nil
        case .upsert, .upsertHalf: 2
        }
    }
}

/// Seconds of processor time of each round, with the feature and beside it.
package struct FeatureResult: Codable {
    package let kind: FeatureKind
    package let rows: Int
    package let seconds: [Double]
    package let other: [Double]

    package init(kind: FeatureKind, rows: Int, seconds: [Double], other: [Double]) {
        self.kind = kind
        self.rows = rows
        self.seconds = seconds
        self.other = other
    }

    /// The median of what each round says by itself.
    package var ratio: Double { Statistics.median(zip(seconds, other).map { $0 / max($1, 1e-9) }) ?? 0 }
    package var meetsGoal: Bool { kind.goal.map { ratio <= $0 } ?? true }
}

extension Report {
    /// Milliseconds of each; a ✗ marks a ratio above its goal.
    package var featureTable: String {
        var table = Table(["feature", "", "n", "ms", "beside", "ms", "ratio", "goal", ""], leading: [0, 1, 4, 8])
        func milliseconds(_ seconds: [Double]) -> String {
            String(format: "%.1f", (Statistics.median(seconds) ?? 0) * 1000)
        }
        for result in features {
            table.add([
                result.kind.rawValue, result.kind.title, Self.grouped(result.rows), milliseconds(result.seconds),
                result.kind.other, milliseconds(result.other), String(format: "%.2f", result.ratio),
                result.kind.goal.map { String(format: "%.2f", $0) } ?? "", result.meetsGoal ? "" : "✗",
            ])
        }
        return table.text
    }
}
