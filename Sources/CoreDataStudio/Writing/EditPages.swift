import CoreData
import CoreDataToolkit
import Foundation

/// The pages that change objects; only a writable store has them.
struct EditPages: Sendable {
    let browser: StoreBrowser
    let editor: StoreEditor
    let messages: Messages

    /// Ends a step whose form is not sound.
    private struct Unsound: Error {
        var form: EditForm
    }

    func addRoutes(to router: inout Router) {
        router.get("/store/edit/:entity/:key") { visit in try await show(visit) }
        router.post("/store/edit/:entity/:key") { visit in try await save(visit) }
        router.get("/store/new/:entity") { visit in try await showNew(visit) }
        router.post("/store/new/:entity") { visit in try await insert(visit) }
        router.get("/store/delete/:entity/:key") { visit in try await DeletionPage(browser: browser).response(visit) }
        router.post("/store/delete/:entity/:key") { visit in try await delete(visit) }
        router.post("/store/undo") { visit in try await replay(visit, isRedo: false) }
        router.post("/store/redo") { visit in try await replay(visit, isRedo: true) }
    }

    // MARK: Editing

    private func show(_ visit: Visit) async throws -> StudioResponse {
        let (browser, entity, key) = (browser, visit.parameter("entity"), visit.parameter("key"))
        let form = try await browser.read { EditForm(try browser.object(entity, key, in: $0)) }
        return page(visit, form, status: 200)
    }

    private func save(_ visit: Visit) async throws -> StudioResponse {
        let (browser, entity, key, fields) = (browser, visit.parameter("entity"), visit.parameter("key"), visit.form)
        return try await change(visit, "Edit \(entity)/\(key)", "Saved \(entity)/\(key)") { context, form in
            let object = try browser.object(entity, key, in: context)
            context.refresh(object, mergeChanges: false)
            var filled = EditForm(object)
            filled.take(fields)
            form = filled
            filled.apply(to: object, in: context, browser)
            form = filled
            guard filled.isSound else { throw Unsound(form: filled) }
            return ObjectLink(entity: entity, key: ObjectLink(object, readsLabel: false)?.key ?? 0).address
        }
    }

    private func showNew(_ visit: Visit) async throws -> StudioResponse {
        let (browser, name) = (browser, visit.parameter("entity"))
        let form = try await browser.read { context -> EditForm in
            let object = try Self.newObject(name, in: context, browser)
            defer { context.rollback() }
            return EditForm(object)
        }
        return page(visit, form, status: 200)
    }

    private func insert(_ visit: Visit) async throws -> StudioResponse {
        let (browser, name, fields) = (browser, visit.parameter("entity"), visit.form)
        return try await change(visit, "New \(name)", "Inserted an object of \(name)") { context, form in
            let object = try Self.newObject(name, in: context, browser)
            var filled = EditForm(object)
            filled.take(fields)
            filled.apply(to: object, in: context, browser)
            form = filled
            guard filled.isSound else { throw Unsound(form: filled) }
            try context.obtainPermanentIDs(for: [object])
            return ObjectLink(object, readsLabel: false)?.address ?? Address("store")
        }
    }

    private static func newObject(
        _ name: String, in context: NSManagedObjectContext, _ browser: StoreBrowser
    ) throws -> NSManagedObject {
        let entity = try browser.entity(name)
        guard !entity.isAbstract else {
            let names = entity.subentities.compactMap(\.name).sorted().joined(separator: ", ")
            throw PageFailure(400, "\(name) is abstract. Make an object of a subentity: \(names).")
        }
        return NSEntityDescription.insertNewObject(forEntityName: name, into: context)
    }

    /// Runs a step; its errors are shown in the form.
    private func change(
        _ visit: Visit, _ name: String, _ message: String,
        _ body: @escaping @Sendable (NSManagedObjectContext, inout EditForm?) throws -> Address
    ) async throws -> StudioResponse {
        let filled = FilledForm()
        do {
            let address = try await editor.perform(name) { context in
                var form: EditForm?
                defer { filled.form = form }
                return try body(context, &form)
            }
            return .redirect(to: messages.address(address, saying: message))
        } catch let failure as PageFailure { throw failure } catch let unsound as Unsound {
            let hasConflict = unsound.form.fields.contains { $0.conflict != nil }
            return page(visit, unsound.form, status: hasConflict ? 409 : 422)
        } catch {
            guard var form = filled.form else { throw error }
            form.note(error)
            return page(visit, form, status: 422)
        }
    }

    private func page(_ visit: Visit, _ form: EditForm, status: Int) -> StudioResponse {
        let (entity, key) = (visit.parameter("entity"), visit.parameter("key"))
        let title = key.isEmpty ? "New \(entity)" : "Edit \(entity)/\(key)"
        let back = key.isEmpty ? RowQuery(entity: entity).address() : Address("store", "object", entity, key)
        let target = key.isEmpty ? Address("store", "new", entity) : Address("store", "edit", entity, key)
        let content: HTML = """
            <h1>\(title)</h1>
            <form method=post action="\(target)">\(visit.formField)\(EditMarkup(form: form).html)
            <div class=row><button class=main>Save</button><a class=button href="\(back)">Cancel</a></div></form>
            """
        let page = Page(
            title: title, section: .store,
            crumbs: [.init("Store", Address("store")), .init(entity, RowQuery(entity: entity).address())],
            content: content)
        return .html(page.html(for: visit), status: status)
    }

    // MARK: Deleting and undoing

    private func delete(_ visit: Visit) async throws -> StudioResponse {
        let (browser, entity, key) = (browser, visit.parameter("entity"), visit.parameter("key"))
        do {
            let count = try await editor.perform("Delete \(entity)/\(key)") { context -> Int in
                let object = try browser.object(entity, key, in: context)
                context.delete(object)
                context.processPendingChanges()
                return context.deletedObjects.count
            }
            let address = messages.address(
                RowQuery(entity: entity).address(), saying: "Deleted \(GroupedNumber.text(count, "object"))")
            return .redirect(to: address)
        } catch let failure as PageFailure { throw failure } catch {
            throw PageFailure(422, "\(entity)/\(key) is not deleted: \(ErrorMessage.text(of: error))")
        }
    }

    private func replay(_ visit: Visit, isRedo: Bool) async throws -> StudioResponse {
        let name = try await editor.replay(isRedo: isRedo)
        let text = name.map { "\(isRedo ? "Done again" : "Undone"): \($0)" } ?? "There is nothing to undo."
        return .redirect(to: messages.address(Address("store"), saying: text))
    }
}

/// The form of a step that a save may still refuse.
// Safe because the step sets it before its caller reads it.
private final class FilledForm: @unchecked Sendable {
    var form: EditForm?
}

/// The buttons that undo and redo the last step.
enum UndoButtons {
    static func html(_ names: StoreEditor.Names, _ visit: Visit) -> HTML {
        let undo = names.undo.map { name -> HTML in button("undo", "Undo: \(name)", visit) }
        let redo = names.redo.map { name -> HTML in button("redo", "Redo: \(name)", visit) }
        guard undo != nil || redo != nil else { return "" }
        return "<div class=row>\(undo)\(redo)</div>"
    }

    private static func button(_ action: String, _ title: String, _ visit: Visit) -> HTML {
        """
        <form method=post action="\(Address("store", action))">\(visit.formField)<button>\(title)</button></form>
        """
    }
}
