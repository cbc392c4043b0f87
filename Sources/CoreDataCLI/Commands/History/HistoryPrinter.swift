import CoreData
import CoreDataToolkit
import Foundation

/// Prints transactions as text.
///
///     12  2026-05-01T08:30:00Z  import (Shop)  2 inserted, 1 updated
///         inserted Item/p12
///         updated  Item/p3: name, unit
struct HistoryPrinter: Sendable {
    var showsChanges: Bool
    var asJSON: Bool

    func text(_ transaction: NSPersistentHistoryTransaction) -> String {
        asJSON ? json(transaction) + "\n" : lines(transaction).joined(separator: "\n") + "\n"
    }

    /// Returns a time in whole seconds.
    static func text(_ date: Date) -> String {
        DateText.text(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down)))
    }

    private func lines(_ transaction: NSPersistentHistoryTransaction) -> [String] {
        let changes = transaction.changes ?? []
        let counts = NSPersistentHistoryChangeType.allInOrder.compactMap { type -> String? in
            let count = changes.count { $0.changeType == type }
            return count == 0 ? nil : "\(Grouped.text(count)) \(type.word)"
        }
        var who = transaction.author ?? "no author"
        if let name = transaction.contextName { who += " in \(name)" }
        var lines = [
            "\(transaction.transactionNumber)  \(Self.text(transaction.timestamp))  \(who) (\(transaction.processID))  "
                + (counts.isEmpty ? "no changes" : counts.joined(separator: ", "))
        ]
        guard showsChanges else { return lines }
        for change in changes {
            var line = "    \(change.changeType.word) \(Self.reference(change))"
            let details = Self.details(change)
            if !details.isEmpty { line += ": " + details }
            lines.append(line)
        }
        return lines
    }

    private static func reference(_ change: NSPersistentHistoryChange) -> String {
        let uri = change.changedObjectID.uriRepresentation()
        return "\(change.changedObjectID.entity.name ?? "")/\(uri.lastPathComponent)"
    }

    private static func details(_ change: NSPersistentHistoryChange) -> String {
        if let properties = change.updatedProperties { return properties.map(\.name).sorted().joined(separator: ", ") }
        return tombstone(change).map { "\($0.key) = \($0.value)" }.joined(separator: ", ")
    }

    private static func tombstone(_ change: NSPersistentHistoryChange) -> [(key: String, value: String)] {
        (change.tombstone ?? [:]).map { key, value in
            let text: String =
                switch value {
                case let date as Date: DateText.text(date)
                case let data as Data: data.base64EncodedString()
                default: "\(value)"
                }
            return ("\(key)", text)
        }.sorted { $0.key < $1.key }
    }

    // MARK: JSON

    private func json(_ transaction: NSPersistentHistoryTransaction) -> String {
        var fields = [
            #""number": \#(transaction.transactionNumber)"#,
            #""timestamp": \#(JSONText.quoted(DateText.text(transaction.timestamp)))"#,
            #""author": \#(transaction.author.map(JSONText.quoted) ?? "null")"#,
            #""contextName": \#(transaction.contextName.map(JSONText.quoted) ?? "null")"#,
            #""bundleID": \#(JSONText.quoted(transaction.bundleID))"#,
            #""processID": \#(JSONText.quoted(transaction.processID))"#,
        ]
        let changes = transaction.changes ?? []
        if showsChanges {
            fields.append(#""changes": [\#(changes.map(json).joined(separator: ", "))]"#)
        } else {
            fields += NSPersistentHistoryChangeType.allInOrder.map { type in
                #""\#(type.word)": \#(changes.count { $0.changeType == type })"#
            }
        }
        return "{" + fields.joined(separator: ", ") + "}"
    }

    private func json(_ change: NSPersistentHistoryChange) -> String {
        var fields = [
            #""type": "\#(change.changeType.word)""#,
            #""objectID": \#(JSONText.quoted(change.changedObjectID.uriRepresentation().absoluteString))"#,
        ]
        if let properties = change.updatedProperties {
            let names = properties.map(\.name).sorted().map(JSONText.quoted)
            fields.append(#""properties": [\#(names.joined(separator: ", "))]"#)
        }
        if change.tombstone != nil {
            let values = Self.tombstone(change).map { "\(JSONText.quoted($0.key)): \(JSONText.quoted($0.value))" }
            fields.append(#""tombstone": {\#(values.joined(separator: ", "))}"#)
        }
        return "{" + fields.joined(separator: ", ") + "}"
    }
}

extension NSPersistentHistoryChangeType {
    fileprivate static let allInOrder: [Self] = [.insert, .update, .delete]

    fileprivate var word: String {
        switch self {
        case .insert: "inserted"
        case .update: "updated"
        case .delete: "deleted"
        }
    }
}
