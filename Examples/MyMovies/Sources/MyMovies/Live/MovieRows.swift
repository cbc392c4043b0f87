import CoreData
import Foundation
import LivePages

/// How movies look in lists.
@MainActor enum MovieRows {
    /// All movies: those that are lent first.
    static var all: LiveList.Form {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Movie")
        request.sortDescriptors = [NSSortDescriptor(key: "lent", ascending: false)] + .byName("title")
        request.relationshipKeyPathsForPrefetching = ["lentToFriend"]
        return LiveList.Form(
            request: request, sectionKeyPath: "lent", row: { ($0 as? Movie).map(row) ?? "" },
            section: { name, count, rows in section(name == "1" ? "Shared" : "Not Shared", count, rows) })
    }

    /// What is lent, by friend: the model's own fetch request, sorted.
    static func shared(_ context: NSManagedObjectContext) -> LiveList.Form {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Movie")
        request.sortDescriptors = .byName("lentToFriend.friendName") + .byName("title")
        request.relationshipKeyPathsForPrefetching = ["lentToFriend"]
        request.predicate = NSPredicate(format: "lent == YES")
        return LiveList.Form(
            request: request, sectionKeyPath: "lentToFriend.friendName",
            row: { ($0 as? Movie).map(sharedRow) ?? "" },
            section: { section($0.isEmpty ? "Unknown friend" : $0, $1, $2) })
    }

    static func row(_ movie: Movie) -> HTML {
        """
        <li id=i\(movie.number)><a class=movie href=/movies/\(movie.number)>\(poster(movie))<span>\(movie.cellTitle)</span> \
        <small>\(movie.details)</small></a>

        """
    }

    /// A row whose button takes the movie back.
    static func sharedRow(_ movie: Movie) -> HTML {
        let since = movie.lentOn.map { "since \(Day.text($0))" } ?? "lent"
        return """
            <li id=i\(movie.number)><button name=i value=\(movie.number) aria-pressed=false>\(movie.cellTitle)</button>\
            <a href=/movies/\(movie.number)>\(since)</a>

            """
    }

    /// The small cover, or a place for one.
    static func poster(_ movie: Movie) -> HTML {
        guard let data = movie.thumbnail else { return "<i class=poster>\(Tab.movies.icon)</i>" }
        let path = Pictures.path("/movies/\(movie.number)/thumbnail", data)
        return "<img class=poster src=\"\(path)\" alt=\"\" width=48 height=64 loading=lazy>"
    }

    static func section(_ name: String, _ count: Int, _ rows: HTML) -> HTML {
        "<section><h2>\(name) <span>\(count)</span></h2><ul>\(rows)</ul></section>\n"
    }
}

/// How friends look in their list.
@MainActor enum FriendRows {
    static var all: LiveList.Form {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Friend")
        request.sortDescriptors = .byName("friendName")
        request.relationshipKeyPathsForPrefetching = ["lentMovies"]
        return LiveList.Form(
            request: request, sectionKeyPath: nil, row: { ($0 as? Friend).map(row) ?? "" },
            section: { _, _, rows in "<section><ul>\(rows)</ul></section>\n" })
    }

    private static func row(_ friend: Friend) -> HTML {
        let count = friend.lentMovies?.count ?? 0
        let has: HTML = count == 0 ? "" : " <small>has \(Count.movies(count))</small>"
        return
            "<li id=i\(friend.number)><a class=name href=/friends/\(friend.number)><span>\(friend.name)</span>\(has)</a>\n"
    }
}

extension Count {
    static func movies(_ count: Int) -> String { of(count, "movie") }
}
