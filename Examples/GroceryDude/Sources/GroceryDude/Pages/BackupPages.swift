import CoreData
import Foundation

// Copies of the store.
extension App {
    func backupsPage(_ visit: Visit) -> Reply {
        let token = Page.token(visit.token)
        let backups = Backups.all(of: groceries.url)
        let rows = backups.map { backup -> HTML in
            """
            <li class=backup><div><b>\(backup.name)</b><small>\(Self.size(backup.size))</small></div>\
            <a class=button href="/backups/restore?name=\(backup.name.percentEncoded)">Restore…</a>\
            <a class="button danger quiet" href="/backups/delete?name=\(backup.name.percentEncoded)" \
            aria-label="Delete \(backup.name)">Delete…</a>
            """
        }
        let list: HTML =
            backups.isEmpty
            ? "<div class=empty><h2>No backups yet</h2><p>Make one before you try something out.</p></div>"
            : "<section><ul>\(rows)</ul></section>"
        return .page(
            page(
                "Backups", .backups,
                """
                <header class=top><a class="back phone" href=/more aria-label="Back to More">\(Icon.back)</a><h1>Backups</h1>
                <form method=post action=/backups>\(token)<button class=main>Back up now</button></form></header>
                <div id=list class=backups>\(list)</div>
                """))
    }

    private static func size(_ bytes: Int) -> String {
        bytes < 1_000_000 ? "\(max(1, bytes / 1000)) kB" : "\(Double(bytes / 100_000) / 10) MB"
    }

    func makeBackup(_ visit: Visit) async throws -> Reply {
        guard let store = groceries.store else { return .redirect("/backups") }
        guard Backups.all(of: groceries.url).count < Backups.limit else {
            return .redirect(
                "/backups", Flash(kind: .problem, text: "There are \(Backups.limit) backups. Delete one first."))
        }
        let coordinator = groceries.container.persistentStoreCoordinator
        let url = groceries.url
        try await coordinator.perform { try Backups.make(of: store, in: coordinator, at: url) }
        return .redirect("/backups", Flash(text: "The backup is made."))
    }

    func askBackup(_ visit: Visit, isRestoring: Bool) -> Reply {
        guard let backup = Backups.find(visit.query["name"] ?? "", of: groceries.url) else { return Self.noBackup }
        let action: HTML = isRestoring ? "/backups/restore" : "/backups/delete"
        let button: HTML = isRestoring ? "Restore" : "Delete for good"
        let title: HTML = isRestoring ? "Restore this backup?" : "Delete this backup for good?"
        let words: HTML =
            isRestoring
            ? "<p>Everything becomes as it was then, for everybody. A backup of how it is now is made first.</p>"
            : "<p>A deleted backup cannot be brought back.</p>"
        return .page(
            page(
                "Backups", .backups,
                """
                <div class=card><h1>\(title)</h1><p><b>\(backup.name)</b></p>\(words)
                <form method=post action=\(action)>\(Page.token(visit.token))<input type=hidden name=name value="\(backup.name)">
                <p class=row><button class=danger>\(button)</button> <a class=button href=/backups>Cancel</a></p></form></div>
                """))
    }

    private static let noBackup = Reply.redirect(
        "/backups", Flash(kind: .problem, text: "There is no such backup (any more)."))

    func deleteBackup(_ visit: Visit) throws -> Reply {
        guard let backup = Backups.find(visit.form["name"] ?? "", of: groceries.url) else { return Self.noBackup }
        try Backups.delete(backup)
        return .redirect("/backups", Flash(text: "The backup is deleted."))
    }

    func restoreBackup(_ visit: Visit) async throws -> Reply {
        guard let backup = Backups.find(visit.form["name"] ?? "", of: groceries.url), let onRestore else {
            return Self.noBackup
        }
        _ = try await makeBackup(visit)
        try await onRestore(backup.url)
        return .redirect("/prepare", Flash(text: "The backup “\(backup.name)” is restored."))
    }
}
