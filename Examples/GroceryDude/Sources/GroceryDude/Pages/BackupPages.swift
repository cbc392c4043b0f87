import CoreData
import CoreDataToolkit
import Foundation
import LivePages

// Copies of the store.
extension App {
    func backupsPage(_ visit: Visit) async throws -> Reply {
        let token = Page.token(visit.token)
        let backups = try await groceries.backup.list()
        let rows = backups.map { backup -> HTML in
            """
            <li class=backup><div><b>\(backup.title)</b><small>\(Self.size(backup.size))</small></div>\
            <a class=button href="/backups/restore?name=\(backup.name.percentEncoded)">Restore…</a>\
            <a class="button danger quiet" href="/backups/delete?name=\(backup.name.percentEncoded)" \
            aria-label="Delete \(backup.title)">Delete…</a>
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
                <form method=post action=/backups>\(token)\(Page.once)<button class=main>Back up now</button></form></header>
                <div id=list class=backups>\(list)</div>
                """))
    }

    private static func size(_ bytes: Int) -> String {
        bytes < 1_000_000 ? "\(max(1, bytes / 1000)) kB" : "\(Double(bytes / 100_000) / 10) MB"
    }

    func makeBackup(_ visit: Visit) async throws -> Reply {
        guard groceries.url.isFileURL else { return Self.onServer }
        guard try await groceries.backup.list().count < Groceries.mostBackups else {
            return .redirect(
                "/backups",
                Flash(kind: .problem, text: "There are \(Groceries.mostBackups) backups. Delete one first."))
        }
        try await groceries.backup.create(name: Groceries.freshBackupName())
        return .redirect("/backups", Flash(text: "The backup is made."))
    }

    func askBackup(_ visit: Visit, isRestoring: Bool) async throws -> Reply {
        guard let backup = try await groceries.findBackup(visit.query["name"] ?? "") else { return Self.noBackup }
        let action: HTML = isRestoring ? "/backups/restore" : "/backups/delete"
        let button: HTML = isRestoring ? "Restore" : "Delete for good"
        let title: HTML = isRestoring ? "Restore this backup?" : "Delete this backup for good?"
        let words: HTML =
            isRestoring
            ? """
            <p>Everything becomes as it was then, for all users. A backup of how it is now is made first.\
            \(" The list synchronises: what other devices have changed since comes back.", if: synchroniser.phase != .off)</p>
            """
            : "<p>A deleted backup cannot be brought back.</p>"
        return .page(
            page(
                "Backups", .backups,
                """
                <div class=card><h1>\(title)</h1><p><b>\(backup.title)</b></p>\(words)
                <form method=post action=\(action)>\(Page.token(visit.token))<input type=hidden name=name value="\(backup.name)">
                <p class=row><button class=danger>\(button)</button> <a class=button href=/backups>Cancel</a></p></form></div>
                """))
    }

    private static let onServer = Reply.redirect(
        "/backups",
        Flash(
            kind: .problem,
            text: "The list is on a server: its administrator backs it up, and coredata store copy makes a file of it.")
    )

    private static let noBackup = Reply.redirect(
        "/backups", Flash(kind: .problem, text: "There is no such backup (any more)."))

    func deleteBackup(_ visit: Visit) async throws -> Reply {
        guard let backup = try await groceries.findBackup(visit.form["name"] ?? "") else { return Self.noBackup }
        try await groceries.backup.delete(backup.name)
        return .redirect("/backups", Flash(text: "The backup is deleted."))
    }

    func restoreBackup(_ visit: Visit) async throws -> Reply {
        guard let backup = try await groceries.findBackup(visit.form["name"] ?? ""), let onRestore else {
            return Self.noBackup
        }
        // One more than there may be is better than none of how it is now.
        guard groceries.url.isFileURL else { return Self.onServer }
        let before = try await groceries.backup.create(name: Groceries.freshBackupName("before-restore"))
        do { try await onRestore(backup.name) } catch let error as ToolkitError {
            // Nothing was changed.
            try? await Groceries.backupFolder(of: groceries.url).delete(before.name)
            let text = StorePlace.withoutFolders(error.message, of: groceries.url)
            return .redirect("/backups", Flash(kind: .problem, text: text))
        }
        return .redirect("/prepare", Flash(text: "The backup “\(backup.title)” is restored."))
    }
}

extension BackupInfo {
    /// "2026-11-23 08.30.05 before restore": the name as people read it.
    var title: String {
        let parts = name.replacing(".zip", with: "").split(separator: "-")
        guard parts.count >= 5 else { return name }
        return parts[..<3].joined(separator: "-") + " " + parts[3..<(parts.count - 1)].joined(separator: " ")
    }
}
