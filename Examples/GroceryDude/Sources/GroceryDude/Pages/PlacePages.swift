import CoreData
import Foundation
import LivePages

// Units, home locations and shop locations.
extension App {
    func placesPage(_ kind: PlaceKind, _ visit: Visit, typed: String = "", problem: String? = nil) throws -> Reply {
        let list = lists.places[kind]
        let rows = list?.html(limit: .max) ?? ""
        let empty: HTML =
            list?.count == 0
            ? """
            <div class=empty><h2>None yet</h2><p>Add the first one above, for example \(kind.example).</p></div>
            """ : ""
        return .page(
            page(
                kind.title, .of(kind), live: kind.rawValue,
                """
                <header class=top><a class="back phone" href=/more aria-label="Back to More">\(Icon.back)</a>\
                <h1>\(kind.title)</h1></header>
                <form class=addbar method=post action="/\(kind.rawValue)">\(Page.token(visit.token))\(Page.once)\
                <input id=name name=name value="\(typed)" placeholder="New \(kind.noun)" aria-label="New \(kind.noun)" \
                maxlength=100 required autocomplete=off\(invalid, if: problem != nil)>\
                <button class=main>Add</button></form>
                \(problem.map { "<p class=problem id=problem role=alert>\($0)</p>" as HTML })
                <div id=list class=places>
                \(rows)\(empty)</div>
                """), status: problem == nil ? 200 : 422)
    }

    private var invalid: HTML { " aria-invalid=true aria-describedby=problem" }

    func addPlace(_ kind: PlaceKind, _ visit: Visit) throws -> Reply {
        let typed = visit.form["name"] ?? ""
        do {
            let step = try groceries.addPlace(kind, named: typed)
            return .redirect("/\(kind.rawValue)", Flash(text: "“\(typed.trimmed)” is added.", step: step))
        } catch let problem as NameProblem {
            return try placesPage(kind, visit, typed: typed, problem: problem.message)
        }
    }

    func placePage(
        _ kind: PlaceKind, _ visit: Visit, typed: String? = nil, problem: String? = nil, denial: DeniedDeletion? = nil
    ) throws -> Reply {
        guard let place = groceries.place(kind, visit.number) else {
            return missing("This \(kind.noun) does not exist (any more).")
        }
        let name = groceries.name(of: place, kind)
        let items = ((place.value(forKey: "items") as? NSSet)?.allObjects as? [Item] ?? []).sorted {
            $0.title < $1.title
        }
        let path: HTML = "/\(kind.rawValue)/\(place.number)"
        let shown = visit.query["all"] == nil ? items.prefix(Self.mostItems) : items[...]
        let rest: HTML =
            shown.count == items.count
            ? ""
            : """
            <p class=end>The first \(shown.count) of \(items.count). \
            <a class=button href="\(path)?all">Show all \(Count.items(items.count))</a></p>
            """
        return .page(
            page(
                name, .of(kind),
                """
                <header class=top><a class=back href="/\(kind.rawValue)" aria-label="Back to \(kind.title)">\(Icon.back)</a>\
                <h1>\(name)</h1></header>
                \(denial.map(Self.denied))
                <div class=card><form method=post action="\(path)" data-draft="\(path)">\(Page.token(visit.token))
                <div class=field><label for=name>Name</label><input id=name name=name value="\(typed ?? name)" maxlength=100 \
                required autocomplete=off\(invalid, if: problem != nil)>\
                \(problem.map { "<p class=problem id=problem>\($0)</p>" as HTML })</div>
                <p class=row><button class=main>Rename</button> <a class="button cancel" href="/\(kind.rawValue)">Cancel</a></p></form></div>
                <section class=used><h2>Used by <span>\(Count.items(items.count))</span></h2>\
                <ul>\(shown.map(Self.link))</ul>\(rest)</section>
                <form class=end method=post action="\(path)/delete">\(Page.token(visit.token))\
                <button class="danger quiet">Delete \(kind.noun)</button></form>
                """), status: denial != nil ? 409 : problem != nil ? 422 : 200)
    }

    /// The number of items that the page of a place shows at first.
    static let mostItems = 200

    private static func link(_ item: Item) -> HTML {
        "<li><a class=name href=/items/\(item.number)><span>\(item.title)</span></a>"
    }

    /// "Unit 'kg' is used by 14 items: Milk, Flour, …", each of them a link.
    private static func denied(_ denial: DeniedDeletion) -> HTML {
        let shown = denial.items.prefix(8).map { item -> HTML in "<a href=/items/\(item.number)>\(item.title)</a>" }
        let more: HTML = denial.items.count > shown.count ? " and \(denial.items.count - shown.count) more" : ""
        let them = denial.items.count == 1 ? "it" : "them"
        return """
            <div class="notice problem" role=alert><p>The \(denial.noun) “\(denial.name)” is used by \
            \(Count.items(denial.items.count)): \(HTML.joined(shown, by: ", "))\(more). \
            Move \(them) to another \(denial.noun) first, then delete it.</p></div>
            """
    }

    func renamePlace(_ kind: PlaceKind, _ visit: Visit) throws -> Reply {
        guard let place = groceries.place(kind, visit.number) else { return .redirect("/\(kind.rawValue)", Self.gone) }
        let typed = visit.form["name"] ?? ""
        do {
            let step = try groceries.rename(place, kind, to: typed)
            return .redirect("/\(kind.rawValue)", Flash(text: "It is called “\(typed.trimmed)” now.", step: step))
        } catch let problem as NameProblem {
            return try placePage(kind, visit, typed: typed, problem: problem.message)
        }
    }

    func deletePlace(_ kind: PlaceKind, _ visit: Visit) throws -> Reply {
        guard let place = groceries.place(kind, visit.number) else { return .redirect("/\(kind.rawValue)", Self.gone) }
        let name = groceries.name(of: place, kind)
        do {
            let step = try groceries.deletePlace(place, kind)
            return .redirect("/\(kind.rawValue)", Flash(text: "“\(name)” is deleted.", step: step))
        } catch let denial as DeniedDeletion {
            return try placePage(kind, visit, denial: denial)
        }
    }
}
