import CoreData
import Foundation
import LivePages

// The pages Prepare and Shop.
extension App {
    func preparePage(_ visit: Visit) throws -> Reply {
        let search = visit.query["q"]?.trimmingCharacters(in: .whitespaces) ?? ""
        let path = search.isEmpty ? "/prepare" : "/prepare?q=\(search.percentEncoded)"
        let all = lists.prepare.count
        let content: HTML
        if !search.isEmpty {
            content = try results(search, visit, back: path)
        } else if all == 0 {
            content = try emptyPantry(visit)
        } else {
            content = lists.prepare.html(for: visit, of: "item")
        }
        return .page(
            page(
                "Prepare", .prepare, live: "prepare",
                """
                <header class=top><h1>Prepare</h1>
                <a class=add href=/items/new aria-label="New item">\(Icon.plus)<span>New item</span></a></header>
                <form id=search class=search role=search action=/prepare><input type=search id=q name=q value="\(search)" \
                placeholder="\(all == 0 ? "Search" : "Search \(Count.items(all))")" aria-label=Search autocomplete=off enterkeyhint=search maxlength=100>\
                <button class=sr>Search</button></form>
                <form id=list class="prepare detailed" method=post action=/prepare data-tick=listed>\(Page.token(visit.token))\
                <input type=hidden name=back value="\(path)">
                \(content)</form>
                <p class=end>\(counts.clearLink)</p>
                """))
    }

    private func results(_ search: String, _ visit: Visit, back: String) throws -> HTML {
        let limit = 200
        let items = try groceries.items(matching: search, limit: limit + 1)
        let rows = HTML.joined(items.prefix(limit).map { ItemRows.prepareRow($0, .home) })
        let isKnown = items.contains { $0.title.compare(search, options: .caseInsensitive) == .orderedSame }
        let add: HTML =
            isKnown
            ? ""
            : """
            <p class=addnow>\(Page.once)<button name=add value="\(search)" formaction=/items/quick>\
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

    /// What to do where there is nothing yet.
    private func emptyPantry(_ visit: Visit) throws -> HTML {
        """
        <div class=empty><h2>Nothing here yet</h2>
        <p>Begin with a list of groceries that most households buy, or add what you buy one by one.</p>
        <p><button class=main formaction=/settings/default-data>Begin with common groceries</button>
        <a class=button href=/items/new>Add an item</a></p></div>
        """
    }

    func shopPage(_ visit: Visit) throws -> Reply {
        let content: HTML =
            lists.shop.count == 0
            ? """
            <div class=empty><h2>Nothing to buy</h2><p>Tap what you need on the page Prepare, and it shows here by aisle.</p>
            <p><a class="button main" href=/prepare>Prepare the list</a></p></div>
            """ : lists.shop.html(for: visit, of: "item")
        return .page(
            page(
                "Shop", .shop, live: "shop",
                """
                <header class=top><h1>Shop</h1>
                \(counts.done)</header>
                <form id=list class="shop detailed" method=post action=/shop data-remove=/shop/off data-tick=collected>\(Page.token(visit.token))\
                <input type=hidden name=back value=/shop>
                \(content)</form>
                <form class=end method=post action=/shop/clear>\(Page.token(visit.token))\
                \(counts.clearButton)</form>
                """))
    }

    /// The item of the row that was tapped, and what is wanted of it: a row's button says `on` or `off`, so that two people who tap at
    /// once do not cancel each other.
    private func tapped(_ visit: Visit, _ state: KeyPath<Item, Bool>) -> (item: Item, isWanted: Bool)? {
        for (name, isWanted) in [("on", true), ("off", false)] {
            if let number = visit.form[name] { return groceries.item(Int(number) ?? 0).map { ($0, isWanted) } }
        }
        // Pages that were made before the rows said so.
        return groceries.item(Int(visit.form["i"] ?? "") ?? 0).map { ($0, !$0[keyPath: state]) }
    }

    func tapListed(_ visit: Visit) throws -> Reply {
        let back = visit.back(or: "/prepare")
        guard let (item, isWanted) = tapped(visit, \.listed) else { return .redirect(back, Self.gone) }
        let step = try groceries.setListed(isWanted, item)
        return .redirect(
            back,
            Flash(text: item.listed ? "\(item.title) is on the list." : "\(item.title) is off the list.", step: step))
    }

    func tapCollected(_ visit: Visit) throws -> Reply {
        guard let (item, isWanted) = tapped(visit, \.collected) else { return .redirect("/shop", Self.gone) }
        let step = try groceries.setCollected(isWanted, item)
        return .redirect(
            "/shop",
            Flash(text: item.collected ? "\(item.title) is collected." : "\(item.title) is still to buy.", step: step))
    }

    /// Answers a tick that was made without a connection, perhaps long ago, with the state that was wished for: it may come twice.
    func setTick(_ visit: Visit) throws -> Reply {
        guard let item = groceries.item(Int(visit.form["i"] ?? "") ?? 0) else { return .redirect("/shop", Self.gone) }
        let isOn = visit.form["on"] == "1"
        if visit.form["tick"] == "listed" {
            let step = try groceries.setListed(isOn, item)
            return .redirect("/prepare", Flash(text: "\(item.title) is \(isOn ? "on" : "off") the list.", step: step))
        }
        guard item.listed || !isOn else {
            return .redirect("/shop", Flash(kind: .problem, text: "It is not on the list any more."))
        }
        let step = try groceries.setCollected(isOn, item)
        return .redirect("/shop", Flash(text: "\(item.title) is \(isOn ? "collected" : "still to buy").", step: step))
    }

    /// Takes an item off the list, which stays at home.
    func takeOff(_ visit: Visit) throws -> Reply {
        guard let item = groceries.item(Int(visit.form["i"] ?? "") ?? 0) else { return .redirect("/shop", Self.gone) }
        return .redirect(
            "/shop", Flash(text: "\(item.title) is off the list.", step: try groceries.takeOff(item)))
    }

    /// The answer if the object was deleted after the page was made.
    static let gone = Flash(kind: .problem, text: "Another user has deleted this meanwhile.")

    func clearPage(_ visit: Visit) -> Reply {
        let total = counts.open + counts.collected
        return .page(
            page(
                "Clear the list", .prepare,
                """
                <div class=card><h1>Clear the list?</h1>
                <p>\(Count.items(total)) \(total == 1 ? "goes" : "go") off the shopping list. Nothing is deleted.</p>
                <form method=post action=/prepare/clear>\(Page.token(visit.token))
                <p class=row><button class=danger>Clear list</button> <a class=button href=/prepare>Cancel</a></p></form></div>
                """))
    }

    func clearList(_ visit: Visit) throws -> Reply {
        let done = try groceries.clearList()
        return .redirect("/prepare", Flash(text: "\(Count.items(done.count)) taken off the list.", step: done.step))
    }

    func clearCollected(_ visit: Visit) throws -> Reply {
        let done = try groceries.clearCollected()
        return .redirect("/shop", Flash(text: "\(Count.items(done.count)) taken off the list.", step: done.step))
    }
}
