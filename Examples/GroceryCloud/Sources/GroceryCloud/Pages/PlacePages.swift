import CoreData
import CoreDataAccounts
import Foundation
import LivePages

// Units, home locations and shop locations of a household.
extension App {
    func placesPage(
        _ kind: PlaceKind, _ visit: AccountVisit, typed: String = "", problem: String? = nil
    ) throws -> Reply {
        guard let household = visit.household() else { return missing(Self.noHousehold) }
        let places = try visit.view.places(kind, of: household.groupID)
        let rows = places.map { place -> HTML in
            let count = (place.value(forKey: "items") as? NSSet)?.count ?? 0
            return """
                <li><a class=name href="/\(kind.rawValue)/\((place.value(forKey: "id") as? UUID)?.path ?? "")">\
                <span>\(visit.view.name(of: place, kind))</span> <small>\(Count.items(count))</small></a>

                """
        }
        let path = "households/\(household.groupID.path)/\(kind.rawValue)"
        let empty: HTML =
            places.isEmpty
            ? "<div class=empty><h2>None yet</h2><p>For example \(kind.example). Items can make one, too.</p></div>"
            : ""
        let add: HTML =
            household.role.mayChange
            ? """
            <form class=addbar method=post action="/\(path)">\(visit.token)\(Page.once)\
            <input id=name name=name value="\(typed)" placeholder="New \(kind.noun)" aria-label="New \(kind.noun)" \
            maxlength=100 required autocomplete=off\(Self.invalid, if: problem != nil)><button class=main>Add</button></form>
            \(problem.map { "<p class=problem id=problem role=alert>\($0)</p>" as HTML })
            """ : ""
        return .page(
            page(
                kind.title, path, in: try frame(of: household, visit), view: visit.view,
                """
                <header class=top><a class=back href="/households/\(household.groupID.path)" aria-label="Back to the household">\(Icon.back)</a>\
                <h1>\(kind.title)</h1></header>
                \(add)<div class=places><section><ul>\(rows)</ul></section>\(empty)</div>
                """), status: problem == nil ? 200 : 422)
    }

    private static var invalid: HTML { " aria-invalid=true aria-describedby=problem" }

    /// The navigation of the household's first list.
    private func frame(of household: Membership, _ visit: AccountVisit) throws -> Frame {
        let list = try visit.view.lists(of: household.groupID).first?.id.flatMap { try visit.view.list($0) }
        return Frame(household: household, list: list)
    }

    func addPlace(_ kind: PlaceKind, _ visit: AccountVisit) throws -> Reply {
        guard let household = visit.household() else { return missing(Self.noHousehold) }
        let typed = visit.form["name"] ?? ""
        do {
            let step = try visit.view.addPlace(kind, named: typed, in: household.groupID)
            return .redirect(
                "/households/\(household.groupID.path)/\(kind.rawValue)",
                Flash(text: "“\(typed.trimmed)” is added.", step: step))
        } catch let problem as NameProblem {
            return try placesPage(kind, visit, typed: typed, problem: problem.message)
        }
    }

    /// The place of the address with its household, if the account sees it.
    private func place(
        _ kind: PlaceKind, _ visit: AccountVisit
    ) throws -> (place: NSManagedObject, household: Membership)? {
        guard let place = try visit.view.object(NSManagedObject.self, kind.entityName, visit.visit.id),
            let household = (place.value(forKey: "household") as? UUID).flatMap(visit.person.membership)
        else { return nil }
        return (place, household)
    }

    private func noPlace(_ kind: PlaceKind) -> Reply {
        missing("There is no such \(kind.noun), or it is of a household of others.")
    }

    func placePage(
        _ kind: PlaceKind, _ visit: AccountVisit, typed: String? = nil, problem: String? = nil,
        denial: DeniedDeletion? = nil
    ) throws -> Reply {
        guard let (place, household) = try place(kind, visit) else { return noPlace(kind) }
        let name = visit.view.name(of: place, kind)
        let items = ((place.value(forKey: "items") as? NSSet)?.allObjects as? [Item] ?? []).sorted {
            $0.title < $1.title
        }
        let path: HTML = "/\(kind.rawValue)/\(visit.visit.id)"
        let list = "households/\(household.groupID.path)/\(kind.rawValue)"
        let links = items.prefix(200).map {
            "<li><a class=name href=\"/items/\($0.id?.path ?? "")\"><span>\($0.title)</span></a>" as HTML
        }
        let controls: HTML = """
            <div class=card><form method=post action="\(path)" data-draft="\(path.text)">\(visit.token)
            <div class=field><label for=name>Name</label><input id=name name=name value="\(typed ?? name)" maxlength=100 \
            required autocomplete=off\(Self.invalid, if: problem != nil)>\
            \(problem.map { "<p class=problem id=problem>\($0)</p>" as HTML })</div>
            <p class=row><button class=main>Rename</button> <a class="button cancel" href="/\(list)">Cancel</a></p></form></div>
            """
        let delete: HTML = """
            <form class=end method=post action="\(path)/delete">\(visit.token)\
            <button class="danger quiet">Delete \(kind.noun)</button></form>
            """
        return .page(
            page(
                name, list, in: try frame(of: household, visit), view: visit.view,
                """
                <header class=top><a class=back href="/\(list)" aria-label="Back to \(kind.title)">\(Icon.back)</a>\
                <h1>\(name)</h1></header>
                \(denial.map(Self.denied))
                \(controls, if: household.role.mayChange)
                <section class=used><h2>Used by <span>\(Count.items(items.count))</span></h2><ul>\(links)</ul></section>
                \(delete, if: household.role.mayChange)
                """), status: denial != nil ? 409 : problem != nil ? 422 : 200)
    }

    /// "The unit “kg” is used by 14 items: Milk, Flour, …", each of them a link.
    private static func denied(_ denial: DeniedDeletion) -> HTML {
        let shown = denial.items.prefix(8).map { item -> HTML in "<a href=\"/items/\(item.id)\">\(item.title)</a>" }
        let more: HTML = denial.items.count > shown.count ? " and \(denial.items.count - shown.count) more" : ""
        let them = denial.items.count == 1 ? "it" : "them"
        return """
            <div class="notice problem" role=alert><p>The \(denial.noun) “\(denial.name)” is used by \
            \(Count.items(denial.items.count)): \(HTML.joined(shown, by: ", "))\(more). \
            Move \(them) to another \(denial.noun) first, then delete it.</p></div>
            """
    }

    func renamePlace(_ kind: PlaceKind, _ visit: AccountVisit) throws -> Reply {
        guard let (place, household) = try place(kind, visit) else { return noPlace(kind) }
        let typed = visit.form["name"] ?? ""
        do {
            let step = try visit.view.rename(place, kind, to: typed, in: household.groupID)
            return .redirect(
                "/households/\(household.groupID.path)/\(kind.rawValue)",
                Flash(text: "It is called “\(typed.trimmed)” now.", step: step))
        } catch let problem as NameProblem {
            return try placePage(kind, visit, typed: typed, problem: problem.message)
        }
    }

    func deletePlace(_ kind: PlaceKind, _ visit: AccountVisit) throws -> Reply {
        guard let (place, household) = try place(kind, visit) else { return noPlace(kind) }
        guard household.role.mayChange else { throw Self.refusal }
        let name = visit.view.name(of: place, kind)
        do {
            let step = try visit.view.deletePlace(place, kind)
            return .redirect(
                "/households/\(household.groupID.path)/\(kind.rawValue)",
                Flash(text: "“\(name)” is deleted.", step: step))
        } catch let denial as DeniedDeletion {
            return try placePage(kind, visit, denial: denial)
        }
    }
}
