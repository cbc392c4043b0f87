import LivePages

/// MyMovies: which films one has, and who has them at the moment.
@main struct Program {
    @MainActor static func main() async {
        await Launch<App>(program: "MyMovies", site: .myMovies, checks: checks) {
            App.opener($0.store)
        } fill: {
            app, options in
            try await app.movies.fillOnFirstRun()
            if options.isDemo || options.isCheck { try await app.movies.makeDemo() }
            if let store = options.copied { try await app.movies.copyMovies(from: store) }
        }.run()
    }

    private static let checks: [(path: String, content: String)] = [
        ("/movies", "<h1>Movies</h1>"), ("/movies?q=metropolis", "Found"), ("/movies/1", "Watched"),
        ("/movies/1/edit", "Save"), ("/movies/new", "Add movie"), ("/shared", "<h1>Shared</h1>"),
        ("/friends", "<h1>Friends</h1>"), ("/friends/1", "Delete friend"), ("/app.css", "--accent"),
        ("/app.js", "EventSource"), ("/keep.js", "draft"), ("/stream.js", "EventSource"), ("/sw.js", "caches"),
        ("/manifest.webmanifest", "icons"), ("/offline", "No connection"), ("/favicon.svg", "<svg"),
    ]
}
