import CoreData
import Foundation

// Settings.
extension App {
    func settingsPage(_ visit: Visit) throws -> Reply {
        let token = Page.token(visit.token)
        let undo = groceries.undoManager
        let undoName = undo.undoActionName
        let redoName = undo.redoActionName
        return .page(
            page(
                "Settings", .settings,
                """
                <header class=top><a class="back phone" href=/more aria-label="Back to More">\(Icon.back)</a><h1>Settings</h1></header>
                <section class=card><h2>Undo</h2>
                <p>The last \(undo.levelsOfUndo) changes can be taken back, whoever made them here.</p>
                <form method=post action=/undo>\(token)<input type=hidden name=back value=/settings>
                <p class=row><button\(" disabled", if: !undo.canUndo)>Undo\(undo.canUndo ? ": \(undoName)" : "")</button>
                <button formaction=/redo\(" disabled", if: !undo.canRedo)>Redo\(undo.canRedo ? ": \(redoName)" : "")</button></p></form></section>
                <section class=card><h2>Default data</h2>
                <p>Common groceries with their units and places. What is there already stays as it is.</p>
                <form method=post action=/settings/default-data>\(token)<input type=hidden name=back value=/settings>
                <p class=row><button>Import default data</button></p></form></section>
                """))
    }

    func importDefaultData(_ visit: Visit) async throws -> Reply {
        let count = try await groceries.importDefaultData()
        let text = count == 0 ? "Everything was there already." : "\(Count.items(count)) added."
        return .redirect(visit.back(or: "/prepare"), Flash(text: text))
    }
}
