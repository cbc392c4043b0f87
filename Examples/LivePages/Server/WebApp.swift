import Hummingbird

/// An app that a ``WebServer`` serves, on an open store.
@MainActor package protocol ServedApp: AnyObject, Sendable {
    /// The store that all pages show; `nil` for an app in which each account has a context of its own.
    var sharedStore: LiveStore? { get }
    /// What answers programs; `nil` for an app that has pages alone.
    var interface: ProgrammingInterface? { get }

    /// Keeps the streams of pages open.
    func beat()

    /// Ends the streams of pages.
    func endStreams()

    /// Puts a backup in the place of the store; the server of the app sets it.
    var onRestore: (@MainActor (_ backup: String) async throws -> Void)? { get set }

    func addPages(to router: Router<BasicRequestContext>)

    /// Puts a backup in the place of the store; the app is closed, and another one opened, afterwards.
    func restore(_ backup: String) async throws

    func close()
}

extension ServedApp {
    package var interface: ProgrammingInterface? { nil }
}

/// An app that shows one store to everybody.
@MainActor package protocol WebApp: ServedApp {
    var feed: LiveFeed { get }
    var live: LiveStore { get }
}

extension WebApp {
    package var sharedStore: LiveStore? { live }

    package func beat() { feed.beat() }

    package func endStreams() { feed.close() }
}

/// Opens the store of an app; told how far a migration is.
package struct Opener<App: ServedApp>: Sendable {
    /// Whether a store has to be migrated first, so that its users are to see something meanwhile.
    let needsTime: @MainActor @Sendable () throws -> Bool
    let open: @MainActor @Sendable (Desk, _ progress: @escaping @Sendable (Double) -> Void) async throws -> App

    package init(
        needsTime: @escaping @MainActor @Sendable () throws -> Bool,
        open:
            @escaping @MainActor @Sendable (Desk, _ progress: @escaping @Sendable (Double) -> Void) async throws ->
            App
    ) {
        self.needsTime = needsTime
        self.open = open
    }
}
