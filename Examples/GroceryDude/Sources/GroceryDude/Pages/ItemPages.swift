import CoreData
import Foundation
import LivePages

// The item editor.
extension App {
    func newItemPage(_ visit: Visit) throws -> Reply {
        try editor(.blank(named: visit.query["name"] ?? ""), of: nil, visit)
    }

    func itemPage(_ visit: Visit) throws -> Reply {
        guard let item = groceries.item(visit.number) else {
            return missing("This item does not exist (any more).")
        }
        return try editor(ItemForm(item), of: item, visit)
    }

    func addItem(_ visit: Visit) throws -> Reply {
        let form = ItemForm(visit.form)
        let problems = form.problems()
        guard problems.isEmpty else { return try editor(form, of: nil, visit, problems: problems, status: 422) }
        let done = try groceries.add(form)
        return .redirect(path(of: done.item, visit), Flash(text: "\(done.item.title) is added.", step: done.step))
    }

    /// Adds what was searched for and not found, and puts it on the list.
    func addQuickly(_ visit: Visit) throws -> Reply {
        var form = ItemForm.blank(named: visit.form["add"] ?? "")
        form.fields.original = [:]
        if let problem = form.problems()[.name] {
            return .redirect(visit.back(or: "/prepare"), Flash(kind: .problem, text: problem))
        }
        let done = try groceries.add(form)
        return .redirect(
            visit.back(or: "/prepare"), Flash(text: "\(done.item.title) is on the list.", step: done.step))
    }

    func saveItem(_ visit: Visit) throws -> Reply {
        var form = ItemForm(visit.form)
        guard let item = groceries.item(visit.number) else {
            return try editor(form, of: nil, visit, isGone: true, status: 410)
        }
        let present = ItemForm(item)
        if let taken = visit.form["take"].flatMap(ItemField.init) {
            form.fields.take(taken, from: present.fields)
        }
        let problems = form.problems()
        let conflicts = form.fields.conflicts(with: present.fields)
        guard problems.isEmpty, conflicts.isEmpty else {
            // Shown once: who sends the form again has seen what the others wrote, and has what they made of other fields.
            form.fields.follow(present.fields)
            return try editor(
                form, of: item, visit, problems: problems, conflicts: conflicts, status: conflicts.isEmpty ? 422 : 409)
        }
        guard let step = try groceries.update(item, form) else { return .redirect(path(of: item, visit)) }
        return .redirect(path(of: item, visit), Flash(text: "\(item.title) is saved.", step: step))
    }

    func deleteItem(_ visit: Visit) throws -> Reply {
        let list = "/\(Tab.origin(of: visit).rawValue)"
        guard let item = groceries.item(visit.number) else { return .redirect(list, Self.gone) }
        let title = item.title
        let step = try groceries.delete(item)
        return .redirect(visit.back(or: list), Flash(text: "\(title) is deleted.", step: step))
    }

    /// The address of the item, with the list from which it was opened.
    func path(of item: Item, _ visit: Visit) -> String { "/items/\(item.number)\(Tab.origin(of: visit).query.text)" }

    // MARK: The page

    func editor(
        _ form: ItemForm, of item: Item?, _ visit: Visit, problems: [ItemField: String] = [:],
        conflicts: [ItemField: String] = [:], photoProblem: String? = nil, isGone: Bool = false, status: Int = 200
    ) throws -> Reply {
        let fields = try ItemEditor(
            form: form, problems: problems, conflicts: conflicts,
            places: Dictionary(
                uniqueKeysWithValues: PlaceKind.allCases.map { kind in
                    (
                        kind,
                        try groceries.places(kind).map { (String($0.number), groceries.name(of: $0, kind)) }
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
        let tab = Tab.origin(of: visit)
        let action = item.map { path(of: $0, visit) } ?? "/items\(tab.query.text)"
        // What is typed is kept under this name until it is sent.
        let draft = item.map { "/items/\($0.number)" } ?? "/items/new \(visit.query["name"] ?? "")"
        let button: HTML = isGone ? "Make it anew" : item == nil ? "Add item" : "Save"
        return .page(
            page(
                title, tab, live: item.map { _ in "item" }, isDetail: item != nil,
                """
                <header class=top><a class=back href="/\(tab.rawValue)" aria-label="Back to \(tab.title)">\(Icon.back)</a><h1>\(title)</h1></header>
                <div class=card>
                \(notice)<form method=post action="\(action)" class=editor data-draft="\(draft)">\(Page.token(visit.token))\(item == nil ? Page.once : "")
                \(fields.html)
                <p class=row><button class=main>\(button)</button> <a class="button cancel" href="/\(tab.rawValue)">Cancel</a></p></form>
                \(item.map { photoForm($0, visit, problem: photoProblem) })
                </div>
                \(item.map { deleteForm($0, visit) })
                """), status: status)
    }

    private func deleteForm(_ item: Item, _ visit: Visit) -> HTML {
        """
        <form class=end method=post action="/items/\(item.number)/delete\(Tab.origin(of: visit).query)">\(Page.token(visit.token))\
        <button class="danger quiet">Delete item</button></form>
        """
    }
}
