import CoreDataToolkit
import Foundation

extension ImportSummary {
    /// The summary as text.
    var text: String {
        var table = TextTable(
            [.init(title: "entity")] + ["created", "updated", "linked"].map { .init(title: $0, isRightAligned: true) })
        table.rows = entities.sorted { $0.key < $1.key }.map { entity, counts in
            [entity] + [counts.created, counts.updated, counts.linked].map(Grouped.text)
        }
        let skippedText = skipped == 0 ? "" : ", \(Grouped.text(skipped)) skipped"
        let time = String(format: "%.2f", seconds)
        return "\(Grouped.text(records, "record")) imported\(skippedText) in \(time) s\n"
            + table.lines().joined(separator: "\n") + "\n"
    }

    var json: String {
        let entities = entities.sorted { $0.key < $1.key }.map { entity, counts in
            "\(JSONText.quoted(entity)): "
                + #"{"created": \#(counts.created), "updated": \#(counts.updated), "linked": \#(counts.linked)}"#
        }
        return #"{"records": \#(records), "skipped": \#(skipped), "seconds": \#(String(format: "%.3f", seconds)), "#
            + #""entities": {\#(entities.joined(separator: ", "))}}"# + "\n"
    }
}
