import CoreData
import Foundation
import Hummingbird
import LivePages

// Movies, those that are shared, and one of them.
extension App {
    func moviesPage(_ visit: Visit) throws -> Reply {
        let search = String((visit.query["q"] ?? "").trimmed.prefix(100))
        let all = lists.movies.count
        let content: HTML
        if !search.isEmpty {
            content = try results(search)
        } else if all == 0 {
            content = """
                <div class=empty><h2>No movies yet</h2><p>Add the first one, and lend it to a friend.</p>
                <p><a class="button main" href=/movies/new>Add a movie</a></p></div>
                """
        } else {
            content = lists.movies.html(for: visit, of: "movie")
        }
        return .page(
            page(
                "Movies", .movies, live: "movies",
                """
                <header class=top><h1>Movies</h1>
                <a class=add href=/movies/new aria-label="New movie">\(Icon.plus)<span>New movie</span></a></header>
                <form id=search class=search role=search action=/movies><input type=search id=q name=q value="\(search)" \
                placeholder="\(all == 0 ? "Search" : "Search \(Count.movies(all))")" aria-label=Search autocomplete=off enterkeyhint=search maxlength=100>\
                <button class=sr>Search</button></form>
                <div id=list class="movies detailed">
                \(content)</div>
                """))
    }

    private func results(_ search: String) throws -> HTML {
        let limit = 200
        let found = try movies.movies(matching: search, limit: limit + 1)
        let count = found.count > limit ? "More than \(limit) movies" : Count.movies(found.count)
        let add: HTML =
            found.isEmpty
            ? """
            <p class=end><a class=button href="/movies/new?title=\(search.percentEncoded)">Add “\(search)”</a></p>

            """ : ""
        let rest: HTML =
            found.count > limit
            ? "<p class=end>These are the first \(limit). Type more of the title to find the others.</p>\n" : ""
        return """
            <section data-found="\(found.count)"><h2>Found <span>\(count)</span></h2>\
            <ul>\(found.prefix(limit).map(MovieRows.row))</ul></section>
            \(add)\(rest)
            """
    }

    func sharedPage(_ visit: Visit) throws -> Reply {
        let content: HTML =
            lists.shared.count == 0
            ? """
            <div class=empty><h2>Everything is at home</h2><p>What you share with a friend shows here.</p>
            <p><a class="button main" href=/movies>To the movies</a></p></div>
            """
            : """
            \(lists.shared.html(for: visit, of: "movie"))
            """
        return .page(
            page(
                "Shared", .shared, live: "shared",
                """
                <header class=top><h1>Shared</h1>\("<p class=hint>Tap what came back.</p>", if: lists.shared.count > 0)</header>
                <form id=list class="shared detailed" method=post action=/shared data-remove=/shared>\(Page.token(visit.token))\
                \(content)</form>
                """))
    }

    // MARK: One movie

    func moviePage(_ visit: Visit) throws -> Reply {
        guard let movie = movies.movie(visit.number) else { return missing("This movie does not exist (any more).") }
        let token = Page.token(visit.token)
        let path: HTML = "/movies/\(movie.number)"
        let text: HTML? = movie.movieDescription.map { "<p class=text>\($0)</p>" }
        let back: HTML = movie.lent ? "<button formaction=\(path)/back>It came back</button> " : ""
        return .page(
            page(
                movie.name, .movies, live: "movie", isDetail: true,
                """
                <header class=top><a class=back href=/movies aria-label="Back to Movies">\(Icon.back)</a>\
                <h1>\(movie.cellTitle)</h1></header>
                <div class="card sheet">\(cover(of: movie))
                <dl>\(facts(movie))</dl>
                \(text)
                <form method=post action=\(path)/watched>\(token)\(Page.once)
                <p class=row><a class="button main beside" href=\(path)/edit>Edit</a> \
                <button>Watched it</button> \(back)</p></form></div>
                <form class=end method=post action=\(path)/delete>\(token)\
                <button class="danger quiet">Delete movie</button></form>
                """))
    }

    private func cover(of movie: Movie) -> HTML? {
        movies.cover(of: movie).map { data in
            let path = Pictures.path("/movies/\(movie.number)/cover", data)
            return "<a href=\"\(path)\"><img class=cover src=\"\(path)\" alt=\"Cover of \(movie.name)\"></a>"
        }
    }

    private func facts(_ movie: Movie) -> HTML {
        var facts: HTML = ""
        if let year = movie.year, !year.isEmpty { facts += "<dt>Year<dd>\(year)\n" }
        if let format = movie.format, !format.isEmpty { facts += "<dt>Format<dd>\(format)\n" }
        let times = Int(movie.timesWatched)
        facts += "<dt>Watched<dd>\(times == 0 ? "not yet" : Count.of(times, "time"))\n"
        guard movie.lent else { return facts + "<dt>Shared<dd>no, it is at home" }
        let since: HTML = movie.lentOn.map { " since \(Day.text($0))" } ?? ""
        guard let friend = movie.lentToFriend else { return facts + "<dt>Shared<dd>yes\(since)" }
        return facts + "<dt>Shared<dd>with <a href=/friends/\(friend.number)>\(friend.name)</a>\(since)"
    }

    func watch(_ visit: Visit) throws -> Reply {
        guard let movie = movies.movie(visit.number) else { return .redirect("/movies", Self.gone) }
        let step = try movies.countWatching(movie)
        return .redirect("/movies/\(movie.number)", Flash(text: "\(movie.name) is watched once more.", step: step))
    }

    func giveBack(_ visit: Visit) throws -> Reply {
        guard let movie = movies.movie(visit.number) else { return .redirect("/movies", Self.gone) }
        return .redirect("/movies/\(movie.number)", try takeBack(movie))
    }

    func giveBackFromList(_ visit: Visit) throws -> Reply {
        guard let movie = movies.movie(Int(visit.form["i"] ?? "") ?? 0) else { return .redirect("/shared", Self.gone) }
        return .redirect("/shared", try takeBack(movie))
    }

    private func takeBack(_ movie: Movie) throws -> Flash {
        let friend = movie.lentToFriend?.name ?? "its friend"
        return Flash(text: "\(movie.name) is back from \(friend).", step: try movies.takeBack(movie))
    }

    func deleteMovie(_ visit: Visit) throws -> Reply {
        guard let movie = movies.movie(visit.number) else { return .redirect("/movies", Self.gone) }
        let name = movie.name
        return .redirect("/movies", Flash(text: "\(name) is deleted.", step: try movies.delete(movie)))
    }

    func cover(_ visit: Visit) throws -> Reply {
        guard let reply = Pictures.reply(movies.cover(of: movies.movie(visit.number)), visit) else {
            throw HTTPError(.notFound)
        }
        return reply
    }

    func thumbnail(_ visit: Visit) throws -> Reply {
        guard let reply = Pictures.reply(movies.movie(visit.number)?.thumbnail, visit) else {
            throw HTTPError(.notFound)
        }
        return reply
    }
}
