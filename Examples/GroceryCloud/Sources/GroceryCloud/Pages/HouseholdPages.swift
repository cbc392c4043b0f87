import CoreDataAccounts
import CoreDataPermissions
import Foundation
import LivePages

// The households of an account, and their lists.
extension App {
    /// The list that the account has to do with, or what to do first.
    func start(_ visit: AccountVisit) throws -> Reply {
        for membership in visit.person.memberships {
            if let id = try visit.view.lists(of: membership.groupID).first?.id {
                return .redirect("/lists/\(id.path)/prepare", visit.visit.flash)
            }
        }
        return .redirect("/households", visit.visit.flash)
    }

    func householdsPage(
        _ visit: AccountVisit, typed: String = "Home", problem: String? = nil, status: Int = 200
    ) throws -> Reply {
        let memberships = visit.person.memberships
        let sections = try memberships.map { membership -> HTML in
            let lists = try visit.view.lists(of: membership.groupID).map { list -> HTML in
                "<li><a class=name href=\"/lists/\(list.id?.path ?? "")/prepare\">\(Icon.prepare)<span>\(list.title)</span></a>"
            }
            return """
                <section><h2>\(membership.groupName) <span>\(membership.role.rawValue)</span></h2><ul>\(lists)\
                <li><a class=name href="/households/\(membership.groupID.path)">\(Icon.house)<span>Members and settings</span></a></ul></section>

                """
        }
        let empty: HTML =
            memberships.isEmpty
            ? """
            <div class=empty><h2>No household yet</h2><p>Make one below and invite the others. If you were invited, open the \
            link that you got.</p><p><a class=button href=/join>Open an invitation</a></p></div>
            """ : ""
        return .page(
            page(
                "Households", "households", in: .none, view: visit.view,
                """
                <header class=top><h1>Households</h1></header>
                \(empty)<div class=places>\(sections)</div>
                <section class=card><h2>A new household</h2>
                <form method=post action=/households>\(visit.token)\(Page.once)
                <div class=field><label for=name>Name</label><input id=name name=name value="\(typed)" required maxlength=100 \
                autocomplete=off\(" aria-invalid=true aria-describedby=problem", if: problem != nil)>\
                \(problem.map { "<p class=problem id=problem>\($0)</p>" as HTML })</div>
                <p class=row><button class=main>Make the household</button></p></form></section>
                """), status: status)
    }

    func makeHousehold(_ visit: AccountVisit) async throws -> Reply {
        let typed = visit.form["name"] ?? ""
        let membership: Membership
        do {
            membership = try await accounts.createGroup(named: typed, by: visit.person.account.id)
        } catch {
            guard case .invalidGroupName(let reason) = error else { throw error }
            return try householdsPage(
                visit, typed: typed, problem: "Choose another name: \(reason).", status: 422)
        }
        // The rights of the present view do not cover the new household.
        let view = try AccountView(
            store, Accessor(account: visit.person.account, visit.person.memberships + [membership]))
        defer { view.close() }
        let list = try view.makeList(named: "Groceries", in: membership.groupID)
        return .redirect(
            "/lists/\(list.id?.path ?? "")/prepare",
            Flash(text: "\(membership.groupName) has its first list. Invite the others on the page Households."))
    }

    // MARK: Lists

    func addList(_ visit: AccountVisit) throws -> Reply {
        guard let household = visit.household() else { return missing(Self.noHousehold) }
        let path = "/households/\(household.groupID.path)"
        do {
            let list = try visit.view.makeList(
                named: try NameProblem.checked(visit.form["name"] ?? ""), in: household.groupID)
            return .redirect("/lists/\(list.id?.path ?? "")/prepare", Flash(text: "The list \(list.title) is added."))
        } catch let problem as NameProblem {
            return .redirect(path, Flash(kind: .problem, text: problem.message))
        }
    }

    static let noHousehold = "There is no such household, or you are no member of it."
    static let noList = "There is no such list, or you are no member of its household."

    /// What is behind "More" on a phone, and the settings of the list.
    func morePage(_ visit: AccountVisit, problem: String? = nil, status: Int = 200) throws -> Reply {
        guard let list = try visit.list() else { return missing(Self.noList) }
        let frame = visit.frame(of: list)
        let links = frame.site.tabs.filter { $0.place == .column }.map { tab -> HTML in
            "<li><a class=name href=\"/\(tab.path)\">\(tab.icon)<span>\(tab.title)</span></a>"
        }
        let path: HTML = "/lists/\(list.id.path)"
        let settings: HTML =
            list.mayChange
            ? """
            <section class=card><h2>The list \(list.list.title)</h2>
            <form method=post action="\(path)/name">\(visit.token)
            <div class=field><label for=name>Name</label><input id=name name=name value="\(list.list.title)" required maxlength=100 \
            autocomplete=off\(" aria-invalid=true aria-describedby=problem", if: problem != nil)>\
            \(problem.map { "<p class=problem id=problem>\($0)</p>" as HTML })</div>
            <p class=row><button class=main>Rename</button> <a class="button danger quiet" href="\(path)/deletion">Delete list…</a></p>
            </form></section>
            """ : ""
        return .page(
            page(
                "More", "lists/\(list.id.path)/more", in: frame, view: visit.view,
                """
                <header class=top><h1>More</h1></header><div class=places><section><ul>\(links)</ul></section></div>
                \(settings)
                """), status: status)
    }

    func renameList(_ visit: AccountVisit) throws -> Reply {
        guard let list = try visit.list() else { return missing(Self.noList) }
        do {
            let name = try NameProblem.checked(visit.form["name"] ?? "")
            let step = try visit.view.live.perform("Rename the list") { list.list.name = name }.step
            return .redirect(
                "/lists/\(list.id.path)/prepare", Flash(text: "The list is called \(name) now.", step: step))
        } catch let problem as NameProblem {
            return try morePage(visit, problem: problem.message, status: 422)
        }
    }

    func listDeletionPage(_ visit: AccountVisit) throws -> Reply {
        guard let list = try visit.list() else { return missing(Self.noList) }
        let count = visit.view.count("list == %@", list.list)
        return .page(
            page(
                "Delete the list", "households", in: visit.frame(of: list), view: visit.view,
                """
                <div class=card><h1>Delete the list \(list.list.title)?</h1>
                <p>\(Count.items(count)) \(count == 1 ? "is" : "are") deleted with it, for all members of the household.</p>
                \(Self.change(list.mayChange, """
                <form method=post action="/lists/\(list.id.path)/deletion">\(visit.token)
                <p class=row><button class=danger>Delete list</button> <a class=button href="/lists/\(list.id.path)/prepare">Cancel</a></p>
                </form>
                """))</div>
                """))
    }

    func deleteList(_ visit: AccountVisit) throws -> Reply {
        guard let list = try visit.list() else { return missing(Self.noList) }
        let title = list.list.title
        let step = try visit.view.live.perform("Delete the list \(title)") { visit.view.context.delete(list.list) }.step
        return .redirect("/households", Flash(text: "The list \(title) is deleted.", step: step))
    }

    /// Controls for those who may change something, or why there are none.
    static func change(_ mayChange: Bool, _ controls: HTML) -> HTML {
        mayChange
            ? controls : "<p class=hint>You are a viewer of this household: you see everything and change nothing.</p>"
    }
}
