import CoreDataAccounts
import LivePages

/// Grocery Cloud: the shopping lists of many households, on one service.
@main struct Program {
    @MainActor static func main() async {
        await Launch<App>(
            program: "GroceryCloud", site: .groceryCloud, own: CloudSettings.options, checks: checks
        ) { options in
            Opener {
                false
            } open: { desk, _ in
                if let host = try CloudSettings(options).publicAddress?.host, !options.allowedHosts.contains(host) {
                    throw LaunchOptions.Problem(
                        description: "--address: start the program with --allowed-host \(host), too")
                }
                return try await App(store: options.store, try CloudSettings(options), desk: desk)
            }
        } fill: { app, options in
            if options.isDemo || options.isCheck { try await Demo.fill(app) }
            if options.isDemo { print(Demo.invitation) }
            if options.defaultData || options.copied != nil {
                throw LaunchOptions.Problem(
                    description: "--default-data and --copy-from are options of Grocery Dude: a new list begins empty")
            }
        }.run()
    }

    /// What a visitor sees who is not signed in; the others are asked to sign in, and refused.
    private static let checks: [(path: String, content: String)] = [
        ("/sign-in", "Sign in"), ("/sign-up", "Make an account"), ("/join", "invitation"), ("/reset", "new password"),
        ("/account", "Sign in"),
        ("/households", "Sign in"), ("/app.css", "--accent"), ("/app.js", "EventSource"), ("/keep.js", "draft"),
        ("/stream.js", "EventSource"), ("/sw.js", "caches"), ("/manifest.webmanifest", "icons"),
        ("/offline", "No connection"), ("/favicon.svg", "<svg"), ("/health", "ok"), ("/schema", "List"),
        ("/openapi.json", "openapi"),
    ]
}
