import CoreData
import Foundation
import LivePages

// Settings.
extension App {
    func settingsPage(_ visit: Visit) throws -> Reply {
        let token = Page.token(visit.token)
        let history = groceries.live.history(of: visit.token)
        let (undoName, redoName) = (history?.undoName, history?.redoName)
        let undoText: String = undoName.map { ": \($0)" } ?? ""
        let redoText: String = redoName.map { ": \($0)" } ?? ""
        return .page(
            page(
                "Settings", .settings,
                """
                <header class=top><a class="back phone" href=/more aria-label="Back to More">\(Icon.back)</a><h1>Settings</h1></header>
                <section class=card><h2>Undo</h2>
                <p>Your last \(StepHistory.levels) changes in this browser can be undone, unless another user has changed the same \
                things since.</p>
                <form method=post action=/undo>\(token)<input type=hidden name=back value=/settings>
                <p class=row><button\(" disabled", if: undoName == nil)>Undo\(undoText)</button>
                <button formaction=/redo\(" disabled", if: redoName == nil)>Redo\(redoText)</button></p></form></section>
                <section class=card><h2>Default data</h2>
                <p>Common groceries with their units and places. What is there already stays as it is.</p>
                <form method=post action=/settings/default-data>\(token)<input type=hidden name=back value=/settings>
                <p class=row><button>Import default data</button></p></form></section>
                <section class=card><h2>Duplicates</h2>
                <p>Of things whose names differ in capitals and blanks only, such as “kg” and “Kg”, the one with most in it stays, \
                with all that belonged to the others. A backup is made first.</p>
                <form method=post action=/settings/duplicates>\(token)<p class=row><button>Merge duplicates</button></p></form></section>
                \(statistics)
                <section class=card><h2>SQL</h2><p>What the app asks its store.</p>
                <p class=row><a class=button href=/settings/sql>Show the last statements</a></p></section>
                """))
    }

    /// What the store has and how large it is.
    private var statistics: HTML {
        guard let report = try? NSPersistentStoreCoordinator.report(onPersistentStoreAt: groceries.url) else {
            return ""
        }
        let rows = report.entities.filter { $0.name != "Location" }.map { entity -> HTML in
            "<dt>\(entity.name.replacingOccurrences(of: "_", with: " "))<dd>\(entity.rowCount)"
        }
        let size = (report.fileSize ?? 0) + (report.logSize ?? 0)
        return """
            <section class=card><h2>The store</h2><dl>\(rows)
            <dt>Size<dd>\(size / 1000) kB, and \((report.externalDataSize ?? 0) / 1000) kB of pictures beside it
            <dt>History<dd>\(Count.of(report.transactionCount ?? 0, "transaction"))
            <dt>Event streams open<dd>\(feed.subscriberCount)
            <dt>File<dd>\(URL(fileURLWithPath: report.path).lastPathComponent)</dl></section>
            """
    }

    func sqlPage(_ visit: Visit) -> Reply {
        let lines = SQLRecord.shared.newest.map { line -> HTML in "\(line)\n" }
        return .page(
            page(
                "SQL", .settings,
                """
                <header class=top><a class=back href=/settings aria-label="Back to Settings">\(Icon.back)</a><h1>SQL</h1></header>
                <section class=card><h2>The last statements, the newest first</h2>
                <pre tabindex=0>\(lines)</pre></section>
                """))
    }

    func mergeDuplicates(_ visit: Visit) async throws -> Reply {
        let done = try await groceries.mergeDuplicates()
        let text =
            done.count == 0
            ? "There are no duplicates." : "\(Count.of(done.count, "duplicate")) merged. A backup has how it was."
        return .redirect("/settings", Flash(text: text, step: done.step))
    }

    func importDefaultData(_ visit: Visit) async throws -> Reply {
        let count = try await groceries.importDefaultData()
        let text = count == 0 ? "Everything was there already." : "\(Count.items(count)) added."
        return .redirect(visit.back(or: "/prepare"), Flash(text: text))
    }
}
