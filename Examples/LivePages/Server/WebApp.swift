import Hummingbird

/// An app behind its pages, on an open store.
@MainActor package protocol WebApp: AnyObject, Sendable {
    var feed: LiveFeed { get }
    var live: LiveStore { get }

    /// Puts a backup in the place of the store; the server of the app sets it.
    var onRestore: (@MainActor (_ backup: String) async throws -> Void)? { get set }

    func addPages(to router: Router<BasicRequestContext>)

    /// Puts a backup in the place of the store; the app is closed, and another one opened, afterwards.
    func restore(_ backup: String) async throws

    func close()
}

/// Opens the store of an app; told how far a migration is.
package struct Opener<App: WebApp>: Sendable {
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
