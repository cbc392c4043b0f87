import Hummingbird

extension Desk {
    /// Answers Undo and Redo.
    nonisolated package func addUndo(of store: LiveStore, to router: Router<BasicRequestContext>) {
        post(router, "/undo") { visit in
            let flash: Flash
            switch try store.undo(step: visit.form["step"].flatMap { Int($0) }) {
            case .done(let name):
                self.answers.forgetAll()
                flash = Flash(text: "Undone: \(name).", redo: true)
            case .superseded(let name):
                flash = Flash(kind: .problem, text: "Something else was done after that: \(name).")
            case .nothing: flash = Flash(kind: .problem, text: "There is nothing to undo.")
            }
            return .redirect(visit.back(or: self.site.home), flash)
        }
        post(router, "/redo") { visit in
            let flash: Flash
            if case .done(let name) = try store.redo() {
                flash = Flash(text: "Done again: \(name).", step: store.lastStep)
            } else {
                flash = Flash(kind: .problem, text: "There is nothing to do again.")
            }
            return .redirect(visit.back(or: self.site.home), flash)
        }
    }
}
