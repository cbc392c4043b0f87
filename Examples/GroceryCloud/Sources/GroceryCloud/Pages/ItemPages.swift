import CoreData
import Foundation
import LivePages

// The item editor.
extension App {
    func newItemPage(_ visit: AccountVisit) throws -> Reply {
        guard let list = try visit.list() else { return missing(Self.noList) }
        guard list.mayChange else { return missing("Viewers of a household add nothing to its lists.") }
        return try editor(.blank(named: visit.visit.query["name"] ?? ""), of: nil, on: list, visit)
    }

    /// The item of the address with its list, if the account sees it.
    private func item(_ visit: AccountVisit) throws -> (item: Item, list: ListView)? {
        guard let item = try visit.view.item(visit.visit.id), let id = item.list?.id,
            let list = try visit.view.list(id)
        else { return nil }
        return (item, list)
    }

    func itemPage(_ visit: AccountVisit) throws -> Reply {
        guard let (item, list) = try item(visit) else { return missing(Self.noItem) }
        return try editor(ItemForm(item), of: item, on: list, visit)
    }

    private static let noItem = "There is no such item, or it is of a household of others."

    func addItem(_ visit: AccountVisit) throws -> Reply {
        guard let list = try visit.list() else { return missing(Self.noList) }
        let form = ItemForm(visit.form)
        let problems = form.problems()
        guard problems.isEmpty else {
            return try editor(form, of: nil, on: list, visit, problems: problems, status: 422)
        }
        let done = try visit.view.add(form, to: list.list)
        return .redirect(path(of: done.item, visit), Flash(text: "\(done.item.title) is added.", step: done.step))
    }

    /// Adds what was searched for and not found, and puts it on the list.
    func addQuickly(_ visit: AccountVisit) throws -> Reply {
        guard let list = try visit.list() else { return missing(Self.noList) }
        let back = visit.visit.back(or: "/lists/\(list.id.path)/prepare")
        let form = ItemForm.blank(named: visit.form["add"] ?? "")
        if let problem = form.problems()[.name] { return .redirect(back, Flash(kind: .problem, text: problem)) }
        let done = try visit.view.add(form, to: list.list)
        return .redirect(back, Flash(text: "\(done.item.title) is on the list.", step: done.step))
    }

    func saveItem(_ visit: AccountVisit) throws -> Reply {
        var form = ItemForm(visit.form)
        guard let (item, list) = try item(visit) else {
            // The item was deleted meanwhile: what was typed makes another one, on the list that the form was opened for.
            guard let id = UUID(uuidString: visit.form["list"] ?? ""), let list = try visit.view.list(id),
                list.mayChange
            else { return missing(Self.noItem) }
            return try editor(form, of: nil, on: list, visit, isGone: true, status: 410)
        }
        // Another account may have saved a moment ago.
        visit.view.context.refresh(item, mergeChanges: true)
        let present = ItemForm(item)
        if let taken = visit.form["take"].flatMap(ItemField.init) { form.fields.take(taken, from: present.fields) }
        let problems = form.problems()
        let conflicts = form.fields.conflicts(with: present.fields)
        guard problems.isEmpty, conflicts.isEmpty else {
            // Shown once: a user who sends the form again has seen the values of the other one.
            form.fields.follow(present.fields)
            return try editor(
                form, of: item, on: list, visit, problems: problems, conflicts: conflicts,
                status: conflicts.isEmpty ? 422 : 409)
        }
        guard let step = try visit.view.update(item, form) else { return .redirect(path(of: item, visit)) }
        return .redirect(path(of: item, visit), Flash(text: "\(item.title) is saved.", step: step))
    }

    func deleteItem(_ visit: AccountVisit) throws -> Reply {
        guard let (item, list) = try item(visit) else { return .redirect(visit.visit.back(or: "/"), Self.gone) }
        let title = item.title
        let step = try visit.view.delete(item)
        return .redirect(
            visit.visit.back(or: "/\(visit.frame(of: list).path(ListTab.origin(of: visit.visit)))"),
            Flash(text: "\(title) is deleted.", step: step))
    }

    /// The address of the item, with the page from which it was opened.
    private func path(of item: Item, _ visit: AccountVisit) -> String {
        "/items/\(item.id?.path ?? "")\(ListTab.origin(of: visit.visit).query.text)"
    }

    // MARK: The page

    private func editor(
        _ form: ItemForm, of item: Item?, on list: ListView, _ visit: AccountVisit,
        problems: [ItemField: String] = [:], conflicts: [ItemField: String] = [:], isGone: Bool = false,
        status: Int = 200
    ) throws -> Reply {
        let view = visit.view
        let fields = ItemEditor(
            form: form, problems: problems, conflicts: conflicts,
            places: Dictionary(
                uniqueKeysWithValues: try PlaceKind.allCases.map { kind in
                    let places = try view.places(kind, of: list.household)
                    return (
                        kind, places.map { (($0.value(forKey: "id") as? UUID)?.path ?? "", view.name(of: $0, kind)) }
                    )
                }))
        let title = item?.title ?? (isGone ? "Deleted meanwhile" : "New item")
        var notice: HTML = ""
        if isGone {
            notice = """
                <div class="notice problem" role=alert><p>Another user has deleted this item meanwhile. Save to make it anew from \
                what you typed.</p></div>
                """
        } else if !conflicts.isEmpty {
            notice = FieldMarkup<ItemField>.notice
        }
        let tab = ListTab.origin(of: visit.visit)
        let frame = visit.frame(of: list)
        let back: HTML = "/\(frame.path(tab))"
        let content: HTML
        if list.mayChange {
            let action = item.map { path(of: $0, visit) } ?? "/lists/\(list.id.path)/items\(tab.query.text)"
            // What is typed is kept under this name until it is sent.
            let draft = item.map { "/items/\($0.id?.path ?? "")" } ?? "/items/new \(list.id.path)"
            let button: HTML = isGone ? "Make it anew" : item == nil ? "Add item" : "Save"
            content = """
                <div class=card>
                \(notice)<form method=post action="\(action)" class=editor data-draft="\(draft)">\(visit.token)\
                \(item == nil ? Page.once : "<input type=hidden name=list value=\"\(list.id.path)\">")
                \(fields.html)
                <p class=row><button class=main>\(button)</button> <a class="button cancel" href="\(back)">Cancel</a></p></form>
                </div>
                \(item.map { deleteForm($0, visit) })
                """
        } else {
            content = "<div class=card>\(fields.text)\(Self.change(false, ""))</div>"
        }
        return .page(
            page(
                title, frame.path(tab), in: frame, live: item.map { _ in "\(list.id.path).item" },
                isDetail: item != nil,
                view: view,
                """
                <header class=top><a class=back href="\(back)" aria-label="Back to \(tab.title)">\(Icon.back)</a><h1>\(title)</h1></header>
                \(content)
                """), status: status)
    }

    private func deleteForm(_ item: Item, _ visit: AccountVisit) -> HTML {
        """
        <form class=end method=post action="/items/\(item.id?.path ?? "")/delete\(ListTab.origin(of: visit.visit).query)">\(visit.token)\
        <button class="danger quiet">Delete item</button></form>
        """
    }
}
