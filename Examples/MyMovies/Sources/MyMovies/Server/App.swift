import CoreDataToolkit
import Foundation
import Hummingbird
import LivePages

/// The app behind its pages.
@MainActor final class App: WebApp {
    let movies: Movies
    let feed = LiveFeed()
    let lists: LiveLists
    let sessions: EditSessions
    private let thumbnails: MissingThumbnails
    let desk: Desk

    var live: LiveStore { movies.live }

    var onRestore: (@MainActor (_ backup: String) async throws -> Void)?

    init(store url: URL, desk: Desk, progress: ProgressHandler? = nil) async throws {
        self.desk = desk
        movies = try await Movies(at: url, progress: progress)
        lists = try LiveLists(movies, feed)
        sessions = EditSessions(movies)
        thumbnails = try MissingThumbnails(movies.live, of: "Movie", picture: "cover")
        live.onRollback = { [weak lists = self.lists] in lists?.fetchAgain() }
    }

    /// How a server opens the app: there is one version of its model.
    static func opener(_ store: URL) -> Opener<App> {
        Opener {
            false
        } open: { desk, progress in
            try await App(store: store, desk: desk) { progress($0.fractionCompleted) }
        }
    }

    func restore(_ backup: String) async throws {}

    func close() {
        feed.close()
        lists.close()
        thumbnails.end()
        sessions.endAll()
        movies.live.close()
    }

    func addPages(to router: Router<BasicRequestContext>) {
        desk.get(router, "/") { _ in .redirect("/movies") }
        desk.get(router, "/movies") { try self.moviesPage($0) }
        desk.get(router, "/movies/new") { try self.newMoviePage($0) }
        desk.get(router, "/movies/:number") { try self.moviePage($0) }
        desk.get(router, "/movies/:number/edit") { try self.editPage($0) }
        desk.get(router, "/movies/:number/cover") { try self.cover($0) }
        desk.get(router, "/movies/:number/thumbnail") { try self.thumbnail($0) }
        desk.post(router, "/movies/:number/watched", once: true) { try self.watch($0) }
        desk.post(router, "/movies/:number/back") { try self.giveBack($0) }
        desk.post(router, "/movies/:number/delete") { try self.deleteMovie($0) }
        desk.get(router, "/edits/:id") { try self.sessionPage($0) }
        desk.post(router, "/edits/:id", takesFile: true) { try await self.sendSession($0) }
        desk.get(router, "/edits/:id/cover") { try self.sessionCover($0) }
        desk.get(router, "/shared") { try self.sharedPage($0) }
        desk.post(router, "/shared") { try self.giveBackFromList($0) }
        desk.get(router, "/friends") { try self.friendsPage($0) }
        desk.post(router, "/friends", once: true) { try self.addFriend($0) }
        desk.get(router, "/friends/:number") { try self.friendPage($0) }
        desk.post(router, "/friends/:number") { try self.saveFriend($0) }
        desk.post(router, "/friends/:number/delete") { try self.deleteFriend($0) }
        desk.addUndo(of: movies.live, to: router)
        desk.addEvents(of: feed, to: router)
    }

    func page(
        _ title: String, _ tab: Tab, live: String? = nil, isDetail: Bool = false, _ content: HTML
    ) -> Page {
        Page(
            site: desk.site, title: title, tab: tab.rawValue, badges: lists.badges, open: lists.shared.count,
            live: Page.Live(list: live ?? "none", position: feed.position), isDetail: isDetail, content: content)
    }

    /// What is not there, or no longer.
    func missing(_ text: String) -> Reply {
        .page(ErrorPage.page(desk.site, 404, text, badges: lists.badges), status: 404)
    }

    /// The answer if the object was deleted after the page was made.
    static let gone = Flash(kind: .problem, text: "Another user has deleted this meanwhile.")
}
