import CoreDataModel
import CoreDataModelTools
import Foundation

/// Shows the files that another program changed, beside the editor's.
struct ConflictPage {
    let view: EditorView

    var page: Page {
        get throws {
            let conflicts = try view.session.conflicts()
            if conflicts.isEmpty {
                return view.page(
                    "Files on disk", "<h1>Files on disk</h1><p>The files on disk are those of the editor.</p>")
            }
            return view.page(
                "Files on disk",
                """
                <h1>Another program changed the model</h1>
                <p>Nothing was overwritten. Take the files on disk, and undo brings yours back; or keep the editor's, \
                which replaces the files on disk. Versions that only exist on disk are kept.</p>
                <div class=row>\(choice("take", "Take the files on disk"))\
                \(choice("keep", "Keep the editor's files"))</div>
                \(conflicts.map(difference))
                """, isWide: true)
        }
    }

    private func choice(_ action: String, _ title: HTML) -> HTML {
        """
        <form method=post action="/model/edit" class=inline>\(view.visit.formField)\
        <input type=hidden name=do value="\(action)"><input type=hidden name=at value="/model">\
        <button class=main>\(title)</button></form>
        """
    }

    private func difference(_ conflict: FileConflict) -> HTML {
        let mine = lines(conflict.mine)
        let theirs = lines(conflict.theirs)
        var rows: [HTML] = []
        var (a, b) = (0, 0)
        let change = theirs.difference(from: mine)
        let removed = Set(change.removals.map { Self.offset($0) })
        let inserted = Set(change.insertions.map { Self.offset($0) })
        while a < mine.count || b < theirs.count {
            if removed.contains(a), a < mine.count {
                rows.append("<tr class=removed><td>Editor<td><code>\(mine[a])</code>")
                a += 1
            } else if inserted.contains(b), b < theirs.count {
                rows.append("<tr class=added><td>Disk<td><code>\(theirs[b])</code>")
                b += 1
            } else {
                a += 1
                b += 1
            }
        }
        return """
            <h2>\(conflict.path)</h2><div class=scroll tabindex=0><table class=difference>\
            <thead><tr><th>In<th>Line</thead>\
            <tbody>\(rows)</tbody></table></div>
            """
    }

    private func lines(_ data: Data?) -> [String] {
        guard let data else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    private static func offset(_ change: CollectionDifference<String>.Change) -> Int {
        switch change {
        case .insert(let offset, _, _), .remove(let offset, _, _): offset
        }
    }
}
