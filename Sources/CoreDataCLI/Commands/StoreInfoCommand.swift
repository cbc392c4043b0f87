import ArgumentParser
import CoreData
import CoreDataStoreTools
import Foundation

/// The command `coredata store info`.
struct StoreInfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Says what a store is and what it holds; needs no model.",
        discussion: """
            EXAMPLES
              coredata store info Library.sqlite
              coredata store info Library.sqlite --json | jq '.entities[].name'
            """)

    @Argument(help: "The store's file, or its postgresql:// URL.", completion: .file())
    var store: String

    @Flag(help: "Print it as JSON.")
    var json = false

    func run() throws {
        try StoreFile.checkExists(store)
        let report = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: StoreFile.url(store))
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(report), as: UTF8.self))
        } else {
            print(Self.text(report, width: Terminal.width), terminator: "")
        }
    }

    /// Returns the report as text.
    static func text(_ report: PersistentStoreReport, width: Int? = nil) -> String {
        // A single-file store has no tables and no entity numbers.
        let isOneFile = [NSXMLStoreType, NSBinaryStoreType].contains(report.type)
        var facts = TextTable([.init(title: ""), .init(title: "")])
        facts.rows = [
            ["Store", report.path],
            ["Type", report.type ?? "not said"],
            ["UUID", report.identifier.isEmpty ? "not said" : report.identifier],
            ["Framework", report.frameworkVersion.map(String.init) ?? "not said"],
            ["Journal", report.journalMode ?? (isOneFile ? "none: the file is written as a whole" : "unknown")],
            ["Size", size(report)],
            ["History", history(report)],
            ["Model", report.hasCachedModel ? "kept in the store" : "not kept in the store"],
        ]
        if let checksum = report.versionChecksum { facts.rows.append(["Checksum", checksum]) }
        let identifiers = report.versionIdentifiers.filter { !$0.isEmpty }
        if !identifiers.isEmpty { facts.rows.append(["Versions", identifiers.joined(separator: ", ")]) }
        if let indexes = report.searchIndexes { facts.rows.append(["Search", indexes.joined(separator: ", ")]) }
        if !report.applicationMetadataKeys.isEmpty {
            facts.rows.append(["Metadata", report.applicationMetadataKeys.joined(separator: ", ")])
        }
        var entities = TextTable([
            .init(title: "entity"), .init(title: "rows", isRightAligned: true),
            .init(title: "Z_ENT", isRightAligned: true), .init(title: "parent"), .init(title: "table"),
            .init(title: "version hash"),
        ])
        entities.rows = report.entities.map { entity in
            [
                entity.name + (entity.formerName.map { " (was \($0))" } ?? ""), Grouped.text(entity.rowCount),
                isOneFile ? "" : String(entity.number), entity.parent ?? "",
                entity.table ?? (isOneFile ? "" : "missing"),
                entity.versionHash.map { $0.prefix(8).map { String(format: "%02x", $0) }.joined() + "…" } ?? "none",
            ]
        }
        return facts.lines(hasHeader: false).joined(separator: "\n") + "\n\n"
            + entities.lines(width: width).joined(separator: "\n") + "\n"
    }

    private static func size(_ report: PersistentStoreReport) -> String {
        var text = "\(Grouped.text(report.fileSize ?? 0)) bytes"
        if let log = report.logSize, log > 0 { text += ", \(Grouped.text(log)) in the write-ahead log" }
        if let external = report.externalDataSize, let count = report.externalDataCount {
            text += ", \(Grouped.text(external)) in \(Grouped.text(count, "file")) beside it"
        }
        return text
    }

    private static func history(_ report: PersistentStoreReport) -> String {
        guard report.hasHistory else { return "none" }
        return Grouped.text(report.transactionCount ?? 0, "transaction") + ", "
            + Grouped.text(report.changeCount ?? 0, "change")
    }
}
