import Foundation

// What is behind "More" on a phone.
extension App {
    func morePage(_ visit: Visit) -> Reply {
        let tabs = Page.Tab.allCases.filter { !$0.isInBar }
        let links = tabs.map { tab -> HTML in
            "<li><a class=name href=\"/\(tab.rawValue)\">\(Icon.of(tab))<span>\(tab.title)</span></a>"
        }
        return .page(
            page(
                "More", .more,
                "<header class=top><h1>More</h1></header><div class=places><section><ul>\(links)</ul></section></div>"))
    }

    func undo(_ visit: Visit) throws -> Reply {
        let flash: Flash
        switch try groceries.undo(step: visit.form["step"].flatMap { Int($0) }) {
        case .done(let name): flash = Flash(text: "Undone: \(name).", redo: true)
        case .superseded(let name):
            flash = Flash(kind: .problem, text: "Something else was done after that: \(name). Settings can undo both.")
        case .nothing: flash = Flash(kind: .problem, text: "There is nothing to undo.")
        }
        return .redirect(visit.back(or: "/prepare"), flash)
    }

    func redo(_ visit: Visit) throws -> Reply {
        let flash: Flash
        if case .done(let name) = try groceries.redo() {
            flash = Flash(text: "Done again: \(name).", step: groceries.lastStep)
        } else {
            flash = Flash(kind: .problem, text: "There is nothing to do again.")
        }
        return .redirect(visit.back(or: "/prepare"), flash)
    }
}
