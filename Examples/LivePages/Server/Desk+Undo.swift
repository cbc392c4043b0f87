import Hummingbird

extension Desk {
    /// Answers Undo and Redo of the browser's own steps.
    nonisolated package func addUndo(of store: LiveStore, to router: Router<BasicRequestContext>) {
        post(router, "/undo") { try self.undo($0, in: store) }
        post(router, "/redo") { try self.redo($0, in: store) }
    }

    /// Undoes a step of the browser, as the message about it asks.
    package func undo(_ visit: Visit, in store: LiveContext) throws -> Reply {
        let flash: Flash
        switch try store.undo(step: visit.form["step"].flatMap { Int($0) }, of: visit.token) {
        case .done(let name):
            self.answers.forgetAll()
            flash = Flash(text: "Undone: \(name).", redo: true)
        case .changedSince(let name): flash = Self.changedSince(name, "undone")
        case .superseded(let name):
            flash = Flash(kind: .problem, text: "Something else was done after that: \(name).")
        case .nothing: flash = Flash(kind: .problem, text: "There is nothing to undo.")
        }
        return .redirect(visit.back(or: self.site.home), flash)
    }

    /// Does the step again that the browser has undone last.
    package func redo(_ visit: Visit, in store: LiveContext) throws -> Reply {
        let flash: Flash
        switch try store.redo(of: visit.token) {
        case .done(let name): flash = Flash(text: "Done again: \(name).", step: store.lastStep)
        case .changedSince(let name): flash = Self.changedSince(name, "done again")
        case .superseded, .nothing: flash = Flash(kind: .problem, text: "There is nothing to do again.")
        }
        return .redirect(visit.back(or: self.site.home), flash)
    }

    private static func changedSince(_ name: String, _ action: String) -> Flash {
        Flash(
            kind: .problem, text: "“\(name)” is not \(action): another user has changed the same things since.")
    }
}
