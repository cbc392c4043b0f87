import CoreData
import Foundation
import LivePages

// Friends.
extension App {
    func friendsPage(_ visit: Visit) throws -> Reply { friendsPage(visit, FieldForm(values: [:]), [:]) }

    private func friendsPage(
        _ visit: Visit, _ form: FieldForm<FriendField>, _ problems: [FriendField: String]
    ) -> Reply {
        let empty: HTML =
            lists.friends.count == 0
            ? "<div class=empty><h2>No friends yet</h2><p>Add the friends who borrow your movies above.</p></div>" : ""
        let problem = problems[.name] ?? problems[.email]
        return .page(
            page(
                "Friends", .friends, live: "friends",
                """
                <header class=top><h1>Friends</h1></header>
                <form class=addbar method=post action=/friends>\(Page.token(visit.token))\(Page.once)\
                <input id=name name=name value="\(form.value(.name))" placeholder="New friend" aria-label="New friend" \
                maxlength=100 required autocomplete=off\
                \(" aria-invalid=true aria-describedby=problem", if: problem != nil)>\
                <button class=main>Add</button></form>
                \(problem.map { "<p class=problem id=problem role=alert>\($0)</p>" as HTML })
                <div id=list class="places detailed">
                \(lists.friends.html(limit: .max))\(empty)</div>
                """), status: problems.isEmpty ? 200 : 422)
    }

    func addFriend(_ visit: Visit) throws -> Reply {
        var form = FieldForm<FriendField>(visit.form)
        form.original = [:]
        let problems = form.problems()
        guard problems.isEmpty else { return friendsPage(visit, form, problems) }
        let done = try movies.add(form)
        return .redirect("/friends", Flash(text: "\(done.friend.name) is added.", step: done.step))
    }

    func friendPage(_ visit: Visit) throws -> Reply {
        guard let friend = movies.friend(visit.number) else { return missing("This friend does not exist (any more).") }
        return page(friend, visit, FieldForm(friend))
    }

    func saveFriend(_ visit: Visit) throws -> Reply {
        guard let friend = movies.friend(visit.number) else { return .redirect("/friends", Self.gone) }
        var form = FieldForm<FriendField>(visit.form)
        let present = FieldForm<FriendField>(friend)
        if let taken = visit.form["take"].flatMap(FriendField.init) { form.take(taken, from: present) }
        let problems = form.problems()
        let conflicts = form.conflicts(with: present)
        guard problems.isEmpty, conflicts.isEmpty else {
            form.follow(present)
            return page(
                friend, visit, form, problems: problems, conflicts: conflicts, status: conflicts.isEmpty ? 422 : 409)
        }
        let path = "/friends/\(friend.number)"
        guard let step = try movies.update(friend, form) else { return .redirect(path) }
        return .redirect(path, Flash(text: "\(friend.name) is saved.", step: step))
    }

    func deleteFriend(_ visit: Visit) throws -> Reply {
        guard let friend = movies.friend(visit.number) else { return .redirect("/friends", Self.gone) }
        let name = friend.name
        do {
            return .redirect("/friends", Flash(text: "\(name) is deleted.", step: try movies.delete(friend)))
        } catch let denial as DeniedDeletion {
            return page(friend, visit, FieldForm(friend), denial: denial, status: 409)
        }
    }

    // MARK: The page

    private func page(
        _ friend: Friend, _ visit: Visit, _ form: FieldForm<FriendField>, problems: [FriendField: String] = [:],
        conflicts: [FriendField: String] = [:], denial: DeniedDeletion? = nil, status: Int = 200
    ) -> Reply {
        let token = Page.token(visit.token)
        let path: HTML = "/friends/\(friend.number)"
        let markup = FieldMarkup(form: form, problems: problems, conflicts: conflicts) { value, _ in
            value.isEmpty ? "nothing" : value
        }
        let lent = friend.movies
        return .page(
            page(
                friend.name, .friends, live: "friend", isDetail: true,
                """
                <header class=top><a class=back href=/friends aria-label="Back to Friends">\(Icon.back)</a>\
                <h1>\(friend.name)</h1></header>
                \(denial.map(Self.denied))
                <div class=card>\(conflicts.isEmpty ? "" : FieldMarkup<FriendField>.notice)
                <form method=post action=\(path) class=editor data-draft="\(path)">\(token)
                \(markup.html(.name, """
                    <input id=name name=name value="\(form.value(.name))" maxlength=100 required autocomplete=off\
                    \(markup.described(.name))>
                    """))\
                \(markup.html(.email, """
                    <input id=email name=email value="\(form.value(.email))" maxlength=254 inputmode=email autocomplete=off\
                    \(markup.described(.email))>
                    """))
                <p class=row><button class=main>Save</button></p></form></div>
                <section class=used><h2>Has <span>\(Count.movies(lent.count))</span></h2><ul>\(lent.map(Self.row))</ul></section>
                <form class=end method=post action=\(path)/delete>\(token)\
                <button class="danger quiet">Delete friend</button></form>
                """), status: status)
    }

    private static func row(_ movie: Movie) -> HTML {
        let since: HTML = movie.lentOn.map { " <small>since \(Day.text($0))</small>" } ?? ""
        return "<li><a class=\"name beside\" href=/movies/\(movie.number)><span>\(movie.cellTitle)</span>\(since)</a>"
    }

    /// "Amira still has 2 of your movies: Metropolis, Sunrise.", each of them a link.
    private static func denied(_ denial: DeniedDeletion) -> HTML {
        let shown = denial.movies.prefix(8).map { movie -> HTML in "<a href=/movies/\(movie.number)>\(movie.title)</a>"
        }
        let more: HTML = denial.movies.count > shown.count ? " and \(denial.movies.count - shown.count) more" : ""
        let them = denial.movies.count == 1 ? "it" : "them"
        return """
            <div class="notice problem" role=alert><p>\(denial.name) still has \(Count.movies(denial.movies.count)) of yours: \
            \(HTML.joined(shown, by: ", "))\(more). Take \(them) back first, then \(denial.name) can be deleted.</p></div>
            """
    }
}
