import CoreData
import CoreDataModel
import CoreDataModelTools
import CoreDataToolkit
import Foundation

/// Compares two versions, and shows what a migration from one to the other would do.
struct VersionComparePage {
    let view: EditorView

    var page: Page {
        get throws {
            let names = view.bundle.versions.map(\.name)
            let to = view.visit.query.text("to").flatMap { names.contains($0) ? $0 : nil } ?? view.version
            let from =
                view.visit.query.text("from").flatMap { names.contains($0) ? $0 : nil }
                ?? view.bundle.previous(to: to)?.name ?? names.first { $0 != to }
            guard let from, names.count > 1 else {
                return view.page(
                    "Compare",
                    """
                    <h1>Compare</h1><p>The model has one version. Add one above, change it, and compare both here.</p>
                    """)
            }
            let choices = names.map { (value: $0, title: $0) }
            return view.page(
                "Compare",
                """
                <h1>Compare</h1>
                <form method=get action="\(EditorPlace.compare.address)" class=adding>\
                \(view.select("From", "from", choices, value: from))\(view.select("To", "to", choices, value: to))\
                <input type=hidden name=version value="\(view.version)"><button>Compare</button></form>
                \(report(from, to))
                """)
        }
    }

    private func report(_ from: String, _ to: String) -> HTML {
        guard let old = view.bundle[from]?.document, let new = view.bundle[to]?.document else { return "" }
        do {
            let report = try DifferenceReport(from: (from, old), to: (to, new))
            return "\(differences(report))\(migration(report, old, new))"
        } catch {
            return problem("The versions cannot be compared, because one of them has errors.", error.description)
        }
    }

    private func problem(_ text: HTML, _ details: String) -> HTML {
        "<div class=\"notice bad\"><p>\(text)</p><pre class=wrap>\(details)</pre></div>"
    }

    private func differences(_ report: DifferenceReport) -> HTML {
        if report.isSame { return "<p>No difference.</p>" }
        func rows(_ word: HTML, _ kind: HTML, _ names: [String]) -> [HTML] {
            names.map { name -> HTML in "<tr class=\"\(kind)\"><td>\(word)<th scope=row>\(name)<td>" }
        }
        let renamed = report.renamed.map { name -> HTML in
            "<tr class=renamed><td>Renamed<th scope=row>\(name.to)<td>was \(name.from)"
        }
        let changed = report.changes.map { change -> HTML in
            let tag: HTML = change.needsMigration ? " <span class=tag>migration</span>" : ""
            return "<tr><td>Changed<th scope=row>\(change.subject)<td>\(change.change)\(tag)"
        }
        return """
            <h2>Differences</h2><div class=scroll><table><thead><tr><th>Kind<th>Element<th>Change</thead><tbody>\
            \(rows("Added", "added", report.added))\(rows("Removed", "removed", report.removed))\(renamed)\(changed)\
            </tbody></table></div>
            """
    }

    // MARK: Migration

    private func migration(_ report: DifferenceReport, _ old: ModelDocument, _ new: ModelDocument) -> HTML {
        let title: HTML = "<h2>Migration from \(report.from)</h2>"
        let migration = report.migration
        guard migration.isNeeded else {
            return "\(title)<p>Version hashes are equal: stores of one open with the other.</p>"
        }
        let obstacles = migration.obstacles.map { item -> HTML in "<li><b>\(item.subject)</b>: \(item.reason)" }
        let cautions = migration.cautions.map { item -> HTML in "<li><b>\(item.subject)</b>: \(item.reason)" }
        let verdict: HTML =
            migration.canBeInferred
            ? "<p class=good>A lightweight migration can be inferred.</p>"
            : "<p class=bad>No lightweight migration can be inferred.</p><ul>\(obstacles)</ul>"
        let care: HTML = cautions.isEmpty ? "" : "<h3>Mind that</h3><ul>\(cautions)</ul>"
        guard migration.canBeInferred else { return "\(title)\(verdict)\(care)" }
        do {
            return "\(title)\(verdict)\(care)\(Self.plan(try MigrationPreview.plan(from: old, to: new)))"
        } catch {
            return "\(title)\(verdict)\(care)\(problem("The plan cannot be made.", ErrorMessage.text(of: error)))"
        }
    }

    private static func plan(_ plan: LightweightMigration.Plan?) -> HTML {
        guard let plan else { return "" }
        let entities = plan.entities.map { line -> HTML in "<li>\(line)" }
        let losses = plan.losses.map { loss -> HTML in "<li class=bad>drops \(loss.text)" }
        let steps = plan.steps.map { step -> HTML in
            let statements: HTML =
                step.statements.isEmpty ? "" : "<pre tabindex=0>\(step.statements.joined(separator: "\n"))</pre>"
            return "<li>\(step.words)\(statements)"
        }
        return """
            <h3>Mapping model, inferred</h3><ul>\(entities)\(losses)</ul>\
            <h3>Statements for a SQLite store</h3><ol>\(steps)</ol>
            """
    }
}

/// The plan of a migration of an empty store of the older version, as `coredata migrate plan --sql` prints it.
enum MigrationPreview {
    static func plan(from old: ModelDocument, to new: ModelDocument) throws -> LightweightMigration.Plan? {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("studio-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Empty.sqlite")
        let source = try NSManagedObjectModel(document: old)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: source)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        try coordinator.remove(store)
        let migration = LightweightMigration(
            to: try NSManagedObjectModel(document: new), configuration: nil, source: source)
        return try migration.plan(of: url)
    }
}
