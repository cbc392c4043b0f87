import CoreData
import Foundation
import LivePages

// The pages Prepare and Shop.
extension App {
    func preparePage(_ visit: AccountVisit) throws -> Reply {
        guard let list = try visit.list() else { return missing(Self.noList) }
        let base: HTML = "/lists/\(list.id.path)"
        let search = visit.visit.query["q"]?.trimmed ?? ""
        let path = "/lists/\(list.id.path)/prepare" + (search.isEmpty ? "" : "?q=\(search.percentEncoded)")
        let all = list.prepare.count
        let content: HTML
        if !search.isEmpty {
            content = try results(search, list, visit)
        } else if all == 0 {
            let what: HTML =
                list.mayChange
                ? "<p>Add what you buy one by one. The others see it at once.</p><p><a class=\"button main\" href=\"\(base)/items/new\">Add an item</a></p>"
                : "<p>The other members add what they buy, and it shows here at once.</p>"
            content = "<div class=empty><h2>Nothing here yet</h2>\(what)</div>"
        } else {
            content = list.prepare.html(for: visit.visit, of: "item")
        }
        let add: HTML =
            list.mayChange
            ? "<a class=add href=\"\(base)/items/new\" aria-label=\"New item\">\(Icon.plus)<span>New item</span></a>"
            : ""
        let clear: HTML = list.mayChange ? "<p class=end>\(list.counts.clearLink)</p>" : ""
        return .page(
            listPage(
                "Prepare", .prepare, list, visit,
                """
                <header class=top><h1>\(list.list.title)</h1>\(add)</header>
                <form id=search class=search role=search action="\(base)/prepare"><input type=search id=q name=q value="\(search)" \
                placeholder="\(all == 0 ? "Search" : "Search \(Count.items(all))")" aria-label=Search autocomplete=off \
                enterkeyhint=search maxlength=100><button class=sr>Search</button></form>
                \(rows(list, visit, "class=\"prepare detailed\"", "\(base)/prepare", "data-tick=listed", back: path, content))
                \(clear)
                """))
    }

    /// The list: a form whose buttons tick, or for viewers a list of links.
    private func rows(
        _ list: ListView, _ visit: AccountVisit, _ kind: HTML, _ action: HTML, _ data: HTML, back: String,
        _ content: HTML
    ) -> HTML {
        guard list.mayChange else { return "<div id=list \(kind)>\(content)</div>" }
        return """
            <form id=list \(kind) method=post action="\(action)" \(data)>\(visit.token)<input type=hidden name=back value="\(back)">
            \(content)</form>
            """
    }

    private func listPage(
        _ title: String, _ tab: ListTab, _ list: ListView, _ visit: AccountVisit, _ content: HTML
    ) -> Page {
        let frame = visit.frame(of: list)
        return page(
            "\(title), \(list.list.title)", frame.path(tab), in: frame, live: "\(list.id.path).\(tab.rawValue)",
            view: visit.view, content)
    }

    private func results(_ search: String, _ list: ListView, _ visit: AccountVisit) throws -> HTML {
        let limit = 200
        let items = try visit.view.items(of: list.list, matching: search, limit: limit + 1)
        let look = ItemRows(list: list.list, id: list.id, mayChange: list.mayChange)
        let rows = HTML.joined(
            items.prefix(limit).map { look.row($0, isPressed: $0.listed, .home, from: .prepare) })
        let isKnown = items.contains { $0.title.compare(search, options: .caseInsensitive) == .orderedSame }
        let add: HTML =
            isKnown || !list.mayChange
            ? ""
            : """
            <p class=addnow>\(Page.once)<button name=add value="\(search)" formaction="/lists/\(list.id.path)/items/quick">\
            \(Icon.plus)<span>Add “\(search)” to the list</span></button></p>

            """
        let found = items.count > limit ? "More than \(limit) items" : Count.items(items.count)
        let rest: HTML =
            items.count > limit
            ? "<p class=end>These are the first \(limit). Type more of the name to find the others.</p>\n" : ""
        return """
            \(add)<section data-found="\(items.count)"><h2>Found <span>\(found)</span></h2><ul>\(rows)</ul></section>
            \(rest)
            """
    }

    func shopPage(_ visit: AccountVisit) throws -> Reply {
        guard let list = try visit.list() else { return missing(Self.noList) }
        let base: HTML = "/lists/\(list.id.path)"
        let content: HTML =
            list.shop.count == 0
            ? """
            <div class=empty><h2>Nothing to buy</h2><p>What is ticked on the page Prepare shows here by aisle.</p>
            <p><a class="button main" href="\(base)/prepare">Prepare the list</a></p></div>
            """ : list.shop.html(for: visit.visit, of: "item")
        let clear: HTML =
            list.mayChange
            ? "<form class=end method=post action=\"\(base)/shop/clear\">\(visit.token)\(list.counts.clearButton)</form>"
            : ""
        return .page(
            listPage(
                "Shop", .shop, list, visit,
                """
                <header class=top><h1>\(list.list.title)</h1>
                \(list.counts.done)</header>
                \(rows(
                    list, visit, "class=\"shop detailed\"", "\(base)/shop", "data-remove=\"\(base)/shop/off\" data-tick=collected",
                    back: "/lists/\(list.id.path)/shop", content))
                \(clear)
                """))
    }

    // MARK: Ticks

    /// The item of the row that was tapped, and what is wanted of it: a row's button says `on` or `off`, so that two people who tap at
    /// once do not cancel each other.
    private func tapped(_ visit: AccountVisit) throws -> (item: Item, isWanted: Bool)? {
        for (name, isWanted) in [("on", true), ("off", false)] {
            if let id = visit.form[name] { return try visit.view.item(id).map { ($0, isWanted) } }
        }
        return nil
    }

    private func path(_ tab: ListTab, of item: Item?, _ visit: AccountVisit) -> String {
        (item?.list?.id ?? UUID(uuidString: visit.visit.id)).map { "/lists/\($0.path)/\(tab.rawValue)" } ?? "/"
    }

    func tapListed(_ visit: AccountVisit) throws -> Reply {
        guard let (item, isWanted) = try tapped(visit) else {
            return .redirect(path(.prepare, of: nil, visit), Self.gone)
        }
        let step = try visit.view.setListed(isWanted, item)
        return .redirect(
            visit.visit.back(or: path(.prepare, of: item, visit)),
            Flash(text: item.listed ? "\(item.title) is on the list." : "\(item.title) is off the list.", step: step))
    }

    func tapCollected(_ visit: AccountVisit) throws -> Reply {
        guard let (item, isWanted) = try tapped(visit) else {
            return .redirect(path(.shop, of: nil, visit), Self.gone)
        }
        let step = try visit.view.setCollected(isWanted, item)
        return .redirect(
            path(.shop, of: item, visit),
            Flash(text: item.collected ? "\(item.title) is collected." : "\(item.title) is still to buy.", step: step))
    }

    /// Answers a tick that was made without a connection, perhaps long ago, with the state that was wished for: it may come twice.
    func setTick(_ visit: AccountVisit) throws -> Reply {
        guard let item = try visit.view.item(visit.form["i"] ?? "") else { return .redirect("/", Self.gone) }
        let isOn = visit.form["on"] == "1"
        if visit.form["tick"] == "listed" {
            let step = try visit.view.setListed(isOn, item)
            return .redirect(
                path(.prepare, of: item, visit),
                Flash(text: "\(item.title) is \(isOn ? "on" : "off") the list.", step: step))
        }
        guard item.listed || !isOn else {
            return .redirect(
                path(.shop, of: item, visit), Flash(kind: .problem, text: "It is not on the list any more."))
        }
        let step = try visit.view.setCollected(isOn, item)
        return .redirect(
            path(.shop, of: item, visit),
            Flash(text: "\(item.title) is \(isOn ? "collected" : "still to buy").", step: step))
    }

    /// Takes an item off the list, which stays at home.
    func takeOff(_ visit: AccountVisit) throws -> Reply {
        guard let item = try visit.view.item(visit.form["i"] ?? "") else {
            return .redirect(path(.shop, of: nil, visit), Self.gone)
        }
        let step = try visit.view.setListed(false, item)
        return .redirect(
            path(.shop, of: item, visit), Flash(text: "\(item.title) is off the list.", step: step))
    }

    // MARK: Clearing

    func clearPage(_ visit: AccountVisit) throws -> Reply {
        guard let list = try visit.list() else { return missing(Self.noList) }
        let total = list.counts.open + list.counts.collected
        return .page(
            page(
                "Clear the list", visit.frame(of: list).path(.prepare), in: visit.frame(of: list), view: visit.view,
                """
                <div class=card><h1>Clear the list?</h1>
                <p>\(Count.items(total)) \(total == 1 ? "goes" : "go") off the shopping list. Nothing is deleted.</p>
                \(Self.change(list.mayChange, """
                <form method=post action="/lists/\(list.id.path)/clear">\(visit.token)
                <p class=row><button class=danger>Clear list</button> <a class=button href="/lists/\(list.id.path)/prepare">Cancel</a></p>
                </form>
                """))</div>
                """))
    }

    func clearList(_ visit: AccountVisit) throws -> Reply { try clear(visit, .prepare) }

    func clearCollected(_ visit: AccountVisit) throws -> Reply { try clear(visit, .shop) }

    private func clear(_ visit: AccountVisit, _ tab: ListTab) throws -> Reply {
        guard let list = try visit.list() else { return missing(Self.noList) }
        guard list.mayChange else { throw Self.refusal }
        let done = try visit.view.clear(list.list, collectedOnly: tab == .shop)
        return .redirect(
            path(tab, of: nil, visit), Flash(text: "\(Count.items(done.count)) taken off the list.", step: done.step))
    }
}
