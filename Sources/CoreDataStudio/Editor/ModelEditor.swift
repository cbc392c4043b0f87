import CoreData
import CoreDataModel
import CoreDataModelTools
import CoreDataPrimitives
import Foundation
import Synchronization

/// The model that Studio shows.
package enum EditedModel: Sendable {
    /// A source that is edited, or a compiled model that is shown. An `.xcdatamodeld` that does not exist is made with
    /// the first change.
    case file(URL)
    /// The copy that a store keeps, or one inferred from its tables; read only.
    case store(ModelDocument)
    case none
}

/// The pages of the model editor.
///
/// Every change is saved at once, so that a crash loses none; undo and redo are changes, too.
final class ModelEditor: Sendable {
    /// Guards the open model: forms of several tabs are applied one after the other.
    private let session: Mutex<EditingSession?>
    private let messages: Messages

    /// - Throws: an error for a file that is no model.
    init(_ source: EditedModel, messages: Messages) throws {
        self.messages = messages
        switch source {
        case .file(let url):
            let isNew = url.pathExtension == "xcdatamodeld" && !FileManager.default.fileExists(atPath: url.path)
            session = Mutex(try isNew ? EditingSession(newModelAt: url) : EditingSession(url))
        case .store(let document):
            let name = document.name ?? "Model"
            let versions = ModelVersions(
                name: name, versions: [.init(name: name, document: document)], currentName: name)
            session = Mutex(
                EditingSession(
                    showing: versions, at: URL(fileURLWithPath: "/" + name),
                    reason: "it is the model of the open store; open its source to edit it"))
        case .none: session = Mutex(nil)
        }
    }

    func addRoutes(to router: inout Router) {
        router.get("/model") { [self] visit in try show([], visit) }
        router.get("/model/graph.svg") { [self] visit in try drawing(visit) }
        router.post("/model/edit") { [self] visit in try edit(visit) }
        router.post("/model/new") { [self] visit in try makeModel(visit) }
        router.get("/model/complete/:version/:entity") { [self] visit in try complete(visit) }
        router.get("/model/:1") { [self] visit in try show(["1"], visit) }
        router.get("/model/:1/:2") { [self] visit in try show(["1", "2"], visit) }
        router.get("/model/:1/:2/:3") { [self] visit in try show(["1", "2", "3"], visit) }
    }

    // MARK: Pages

    private func show(_ segments: [String], _ visit: Visit) throws -> StudioResponse {
        guard let place = EditorPlace(path: segments.map(visit.parameter)) else {
            throw PageFailure.missing("There is no such page.")
        }
        guard let current = session.withLock({ $0 }) else { return .html(NewModelPage.page(visit).html(for: visit)) }
        let view = try EditorView(current, place: place, version: visit.query.text("version"), visit: visit)
        return .html(try EditorPages.page(view).html(for: visit))
    }

    private func drawing(_ visit: Visit) throws -> StudioResponse {
        guard let current = session.withLock({ $0 }) else { throw PageFailure.missing("No model is open.") }
        let view = try EditorView(current, place: .graph, version: visit.query.text("version"), visit: visit)
        let text = SVGDrawing.text(DiagramScene(ModelDiagram(view.document)), title: "Model \(view.version)")
        return .download(.bytes(Data(text.utf8)), type: "image/svg+xml", name: "\(view.version).svg")
    }

    /// Completes a predicate; a model with errors completes nothing.
    private func complete(_ visit: Visit) throws -> StudioResponse {
        let text = visit.query["text"] ?? ""
        let caret = visit.query.number("caret") ?? text.utf16.count
        let document = session.withLock { $0?.bundle[visit.parameter("version")]?.document }
        let model = document.flatMap { try? NSManagedObjectModel(document: $0) }
        guard let entity = model?.entitiesByName[visit.parameter("entity")] else {
            throw PageFailure.missing("The model has no such entity, or has errors.")
        }
        let found = PredicateCompletion(text, caret: caret, of: entity)
        return try .json(Completion(start: found.start, end: found.end, items: found.items))
    }

    private func makeModel(_ visit: Visit) throws -> StudioResponse {
        let name = visit.form.text("name")?.trimmedBlanks ?? ""
        let stem = name.hasSuffix(".xcdatamodeld") ? String(name.dropLast(".xcdatamodeld".count)) : name
        let url = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
            .appendingPathComponent("\(stem).xcdatamodeld")
        do throws(ModelFailure) {
            guard !stem.contains("/") else {
                throw ModelFailure(diagnostics: [Diagnostic(.error, "A name of a model has no '/' in it")])
            }
            try session.withLock { current throws(ModelFailure) in
                // A second tab may have made one meanwhile.
                if current != nil { return }
                var new = try EditingSession(newModelAt: url)
                _ = try new.save()
                current = new
            }
        } catch {
            let page = NewModelPage.page(visit, problem: Self.text(of: error), name: name)
            return .html(page.html(for: visit), status: 422)
        }
        return .redirect(to: messages.address(Address("model"), saying: "Made \(url.lastPathComponent)"))
    }

    /// The answer to a script that completes a predicate.
    private struct Completion: Encodable {
        var start: Int
        var end: Int
        var items: [PredicateCompletion.Item]
    }

    // MARK: Changes

    private enum Outcome: Sendable {
        case done(EditorPlace, version: String, String)
        case refused(EditingSession, EditorView.Refusal, status: Int)
        case conflict
    }

    private func edit(_ visit: Visit) throws -> StudioResponse {
        guard let place = EditorPlace(address: visit.form["at"] ?? "") else {
            throw PageFailure(400, "The form names no page of the editor.")
        }
        let outcome = try session.withLock { session throws(PageFailure) -> Outcome in
            guard var changed = session else { throw .missing("No model is open.") }
            let outcome = try Self.apply(visit, place, &changed)
            session = changed
            return outcome
        }
        switch outcome {
        case .done(let next, let version, let text):
            let current = session.withLock { $0?.bundle.currentName }
            let address = next.address.with("version", version == current ? nil : version)
            return .redirect(to: messages.address(address, saying: text))
        case .refused(let current, let refusal, let status):
            let version = visit.form.text("version").flatMap { current.bundle[$0] == nil ? nil : $0 }
            var view = try EditorView(current, place: place, version: version, visit: visit)
            view.refusal = refusal
            let page = (try? EditorPages.page(view)) ?? EditorPages.missing(view)
            return .html(page.html(for: visit), status: status)
        case .conflict:
            return .redirect(to: EditorPlace.conflict.address)
        }
    }

    private static func apply(
        _ visit: Visit, _ place: EditorPlace, _ session: inout EditingSession
    ) throws(PageFailure) -> Outcome {
        let form = visit.form
        let version = form.text("version") ?? session.bundle.currentName
        let before = session
        do throws(ModelFailure) {
            switch form["do"] ?? "" {
            case "take":
                try session.reload()
                let text = "Took the files on disk. Undo restores yours."
                return .done(.overview, version: session.bundle.currentName, text)
            case "keep":
                try session.acceptReplacing()
                return try saved(&session, place: .overview, version: version, "Kept the editor's files")
            default: break
            }
            if try !session.conflicts().isEmpty { return .conflict }
            guard form.number("revision") == session.revision || form["do"] == "save" else {
                return .refused(session, stale(form), status: 409)
            }
            switch form["do"] ?? "" {
            case "save": return try saved(&session, place: place, version: version, "Saved")
            case "undo":
                let title = session.undoTitle ?? ""
                if !session.undo() { return .done(place, version: version, "There is nothing to undo") }
                return try saved(&session, place: place, version: version, "Undone: \(title)")
            case "redo":
                let title = session.redoTitle ?? ""
                if !session.redo() { return .done(place, version: version, "There is nothing to redo") }
                return try saved(&session, place: place, version: version, "Done again: \(title)")
            default: break
            }
        } catch {
            return .refused(session, refusal(form, error), status: 422)
        }
        let view = try EditorView(session, place: place, version: version, visit: visit)
        let action = try EditorAction(view)
        do throws(ModelFailure) {
            try session.perform(action.command)
        } catch {
            session = before
            return .refused(session, refusal(form, error, field: field(action, session)), status: 422)
        }
        do throws(ModelFailure) {
            let isChanged = session.revision != before.revision
            let shown = if case .addVersion(let name, _) = action.command { name } else { version }
            let text = isChanged ? action.command.title : "Nothing was changed"
            return try saved(&session, place: action.next, version: shown, text)
        } catch {
            return .refused(session, refusal(form, error), status: 500)
        }
    }

    /// Writes the changed files, and returns to the page.
    private static func saved(
        _ session: inout EditingSession, place: EditorPlace, version: String, _ text: String
    ) throws(ModelFailure) -> Outcome {
        let shown = session.bundle[version] == nil ? session.bundle.currentName : version
        return switch try session.save() {
        case .saved: .done(place, version: shown, text)
        case .conflict: .conflict
        }
    }

    /// The setting whose edit fails first.
    private static func field(_ action: EditorAction, _ session: EditingSession) -> String? {
        guard case .edit(let version, let edits) = action.command, action.settings.count == edits.count else {
            return nil
        }
        var trial = session
        for (edit, setting) in zip(edits, action.settings) {
            do { try trial.perform(.edit(version: version, [edit])) } catch { return setting.rawValue }
        }
        return nil
    }

    private static func stale(_ form: FormFields) -> EditorView.Refusal {
        EditorView.Refusal(
            form: form,
            notice: """
                The model changed after this form was opened, for example in another tab. Nothing was changed. \
                The page shows the model as it is now, with what you typed: check it and save again.
                """)
    }

    private static func refusal(
        _ form: FormFields, _ failure: ModelFailure, field: String? = nil
    ) -> EditorView.Refusal {
        EditorView.Refusal(
            form: form, notice: text(of: failure), field: field, column: failure.diagnostics.first?.location?.column)
    }

    /// The messages of a failure, each with its hint.
    private static func text(of failure: ModelFailure) -> String {
        failure.diagnostics.map { diagnostic in
            let message = diagnostic.message.capitalizedFirst
            return diagnostic.hint.map { "\(message): \($0)" } ?? message
        }.joined(separator: "\n")
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
