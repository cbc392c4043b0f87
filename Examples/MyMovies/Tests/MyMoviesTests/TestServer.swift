import CoreData
import Foundation
import LivePages
import LivePagesTesting

@testable import MyMovies

extension App: TestedApp {
    package static var site: Site { .myMovies }
    package nonisolated static var program: String { "MyMovies" }
}

typealias TestServer = AppServer<App>

/// What a test's store has at first.
struct Filling: Sendable {
    static let small = Filling { try $0.fillSmall() }

    let fill: @MainActor @Sendable (Movies) throws -> Void
}

extension AppServer where App == MyMovies.App {
    static func run(
        _ filling: Filling, _ test: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await run({ try filling.fill($0.movies) }, test)
    }

    @MainActor func number(of title: String) throws -> Int { try app.movies.number(of: title) }

    @MainActor func number(ofFriend name: String) throws -> Int { try app.movies.number(ofFriend: name) }
}

extension Movies {
    /// Three movies, one of them lent, and two friends.
    func fillSmall() throws {
        try perform("Fill") {
            let (amira, bela) = (Friend(context: view), Friend(context: view))
            (amira.friendName, bela.friendName) = ("Amira", "Bela")
            amira.email = "amira@example.com"
            for (title, year, friend) in [
                ("Metropolis", "1927", amira), ("Sunrise", "1927", nil), ("The General", "1926", nil),
            ] {
                let movie = Movie(context: view)
                movie.title = title
                movie.year = year
                movie.format = "DVD"
                movie.lent = friend != nil
                movie.lentToFriend = friend
                movie.lentOn = friend == nil ? nil : Day.date("2026-01-31")
            }
            try view.obtainPermanentIDs(for: Array(view.insertedObjects))
        }
    }

    func number(of title: String) throws -> Int { try number("Movie", "title", title) }

    func number(ofFriend name: String) throws -> Int { try number("Friend", "friendName", name) }

    private func number(_ entity: String, _ key: String, _ value: String) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "%K == %@", key, value)
        return try view.fetch(request).first?.number ?? 0
    }
}

extension Answer {
    /// The fields of an editor as the page shows them.
    var fields: [String: String] {
        var fields: [String: String] = [:]
        for match in text.matches(of: /<input (?:id=\w+ )?(?:type=(\w+) )?name="?([\w-]+)"? value="([^"]*)"/)
        where match.output.1 != "checkbox" { fields[String(match.output.2)] = String(match.output.3) }
        for match in text.matches(of: /<select id="(\w+)".*?<\/select>/.dotMatchesNewlines()) {
            fields[String(match.output.1)] =
                match.output.0.firstMatch(of: /value="([^"]*)" selected/).map { String($0.output.1) } ?? ""
        }
        if let match = text.firstMatch(of: /<textarea [^>]*>\n([^<]*)</) {
            fields["description"] = String(match.output.1)
        }
        if text.contains("name=shared value=1 checked") { fields["shared"] = "1" }
        fields["token"] = nil
        return fields
    }

    /// Where the editor's form is sent to.
    var action: String {
        text.firstMatch(of: /action="(\/edits\/\w+)"/).map { String($0.output.1) } ?? "/"
    }
}
