import Foundation

/// Something that a context can do, whose cost is measured beside doing without it.
package enum FeatureKind: String, CaseIterable, Codable, Sendable {
    case child = "F1"
    case merge = "F2"
    case undo = "F3"
    case undoAlone = "F3e"
    case upsert = "F4"
    case upsertHalf = "F4h"
    case batchInsert = "F5"
    case batchInsertList = "F5l"
    case batchInsertObjects = "F5o"
    case batchInsertRows = "F5r"
    case batchUpdate = "F6"
    case batchDelete = "F7"
    case list = "F8"
    case listEdit = "F9"
    case lightweight = "F10"
    case mapping = "F11"
    case mappingPolicy = "F11p"
    case xml = "F12"
    case binary = "F13"
    case trigram = "F14"
    case trigramScan = "F15"
    case words = "F16"
    case prefix = "F17"
    case groups = "F18"

    package var title: String {
        switch self {
        case .child: "insert all in a child, save it and its parent"
        case .merge: "merge a sibling's change of all"
        case .undo: "change all with an undo manager, save"
        case .undoAlone: "the same, but save"
        case .upsert: "upsert all by a constraint, all are there"
        case .upsertHalf: "the same, half are there"
        case .batchInsert: "batch insert all, a handler fills dictionaries"
        case .batchInsertList: "the same, an array of dictionaries"
        case .batchInsertObjects: "the same, a handler fills an object"
        case .batchInsertRows: "the same, a handler returns typed rows"
        case .batchUpdate: "batch update the listed half"
        case .batchDelete: "batch delete the listed half"
        case .list: "first page of a list of all in sections"
        case .listEdit: "one edit in a list of all in sections"
        case .lightweight: "lightweight migration of all"
        case .mapping: "migration of all by a mapping model"
        case .mappingPolicy: "the same with a policy of one's own"
        case .xml: "open an XML store of all, change one, save"
        case .binary: "the same with a binary store"
        case .trigram: "find a part of a text by a trigram index"
        case .trigramScan: "the same"
        case .words: "20 best by a word, with ranks and snippets"
        case .prefix: "BEGINSWITH[cd] with an index"
        case .groups: "count and sum by unit, as dictionaries"
        }
    }

    /// What it is compared with.
    package var other: String {
        switch self {
        case .child: "insert all, save"
        case .merge: "fetch all again"
        case .undo, .undoAlone: "without"
        case .upsert, .upsertHalf: "plain C, ON CONFLICT"
        case .batchInsert, .batchInsertList, .batchInsertObjects, .batchInsertRows: "plain C"
        case .batchUpdate, .batchDelete, .groups: "the statement alone"
        case .list: "its three statements in plain C"
        case .listEdit: "50 µs"
        case .lightweight: "the same SQL"
        case .mapping, .mappingPolicy: "plain C, read and insert"
        case .xml: "XMLParser, property list"
        case .binary: "property list, both ways"
        case .trigram, .words: "plain C, FTS5"
        case .trigramScan, .prefix: "without index"
        }
    }

    /// Whether there is more to see with more rows.
    package var isMeasuredWithMillion: Bool {
        switch self {
        case .batchInsert, .batchInsertList, .batchInsertObjects, .batchInsertRows, .batchUpdate, .batchDelete,
            .trigram, .trigramScan, .words, .prefix, .groups:
            true
        default: false
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
        case .batchInsert, .batchInsertList, .batchInsertObjects, .batchInsertRows: 1.2
        case .batchUpdate, .batchDelete, .groups: 1.1
        case .list: 1.5
        case .listEdit: 1
        case .lightweight: 1.2
        case .mapping, .mappingPolicy: 3
        case .xml, .binary: 1
        case .trigram: 1.3
        case .trigramScan: 0.02
        case .words, .prefix: nil
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
            let median = (Statistics.median(seconds) ?? 0) * 1000
            return String(format: median < 1 ? "%.3f" : "%.1f", median)
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
