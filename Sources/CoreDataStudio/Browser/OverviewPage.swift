import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The first page of a store: its entities with the numbers of their objects, and facts about the file.
struct OverviewPage: Sendable {
    let browser: StoreBrowser
    var editor: StoreEditor?

    func response(_ visit: Visit) async throws -> StudioResponse {
        let browser = browser
        let report = try await browser.work { try browser.counts.report() }
        let mode: HTML = browser.isWritable ? "<span class=tag>writable</span>" : "<span class=tag>read only</span>"
        let name = browser.name.split(separator: "/").last.map(String.init) ?? browser.name
        let content: HTML = """
            <div class=row><h1>\(name)</h1>\(mode)</div>
            \(editor.map { UndoButtons.html($0.names, visit) })
            <h2>Entities</h2>\(entities(report))
            <h2>Store</h2>\(facts(report))
            \(browser.notes.map { note -> HTML in "<p class=hint>\(note)</p>" })
            <div class=row><a class=button href="\(Address("store", "verify"))">Verify</a>\
            <a class=button href="\(Address("store", "compare"))">Compare with another store</a>\
            \(browser.recordsHistory ? "<a class=button href=\"\(Address("store", "history"))\">History</a>" : "")</div>
            """
        let page = Page(title: name, section: .store, side: await browser.side(current: nil), content: content)
        return .html(page.html(for: visit))
    }

    private func entities(_ report: PersistentStoreReport) -> HTML {
        let known = Set(browser.opened.entities.compactMap(\.name))
        let rows = EntityList(report).rows.filter { known.contains($0.name) }
        guard !rows.isEmpty else { return "<p>The store has no entities.</p>" }
        let lines = rows.map { row -> HTML in
            let entity = browser.opened.model.entitiesByName[row.name]
            let properties = entity.map { "\($0.attributesByName.count) / \($0.relationshipsByName.count)" } ?? ""
            let indent = String(repeating: "\u{2003}", count: row.depth)
            return """
                <tr><th scope=row>\(indent)<a href="\(RowQuery(entity: row.name).address())">\(row.name)</a>
                <td class=number>\(GroupedNumber.text(row.count))<td class=number>\(properties)\
                <td><a href="\(Address("store", "statistics", row.name))" aria-label="Statistics of \(row.name)">statistics</a>
                """
        }
        return """
            <div class=scroll tabindex=0 role=region aria-label=Entities><table><thead><tr><th scope=col>Entity\
            <th scope=col class=number>Objects<th scope=col class=number>Attributes / relationships\
            <th scope=col>More</thead><tbody>\(lines)</tbody></table></div>
            """
    }

    private func facts(_ report: PersistentStoreReport) -> HTML {
        var facts: [(String, String)] = [
            ("Path", report.path), ("Type", report.type ?? "unknown"), ("UUID", report.identifier),
        ]
        if let size = report.fileSize { facts.append(("Size", SizeText.text(size))) }
        if let size = report.logSize, size > 0 { facts.append(("Write-ahead log", SizeText.text(size))) }
        if let size = report.externalDataSize, let count = report.externalDataCount {
            facts.append(("External data", "\(SizeText.text(size)) in \(GroupedNumber.text(count, "file"))"))
        }
        if let mode = report.journalMode { facts.append(("Journal", mode)) }
        if let size = report.pageSize { facts.append(("Page size", "\(size) bytes")) }
        if report.hasHistory {
            facts.append(
                (
                    "History",
                    "\(GroupedNumber.text(report.transactionCount ?? 0, "transaction")), "
                        + GroupedNumber.text(report.changeCount ?? 0, "change")
                ))
        }
        if let indexes = report.searchIndexes { facts.append(("Search indexes", indexes.joined(separator: ", "))) }
        if !report.applicationMetadataKeys.isEmpty {
            facts.append(("Metadata", report.applicationMetadataKeys.joined(separator: ", ")))
        }
        let terms = facts.map { name, value -> HTML in "<dt>\(name)<dd>\(value)\n" }
        return "<dl class=facts>\(terms)</dl>"
    }
}
