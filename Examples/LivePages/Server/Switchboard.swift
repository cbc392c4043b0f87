import Hummingbird
import Synchronization

/// Hands requests to what answers them at the moment: progress while a store is migrated, then the app, another one after a
/// backup was restored.
package final class Switchboard: HTTPResponder {
    package typealias Context = BasicRequestContext

    private let site: Site

    package init(site: Site) { self.site = site }

    /// What answers, as a value of its own: a closure that goes in and out of a generic type is wrapped anew each time.
    private struct Line: Sendable {
        let answer: @Sendable (Request, BasicRequestContext) async throws -> Response
    }

    /// Guards what answers.
    private let line = Mutex<Line?>(nil)
    /// Guards the interface of the app.
    private let programs = Mutex<ProgrammingInterface?>(nil)

    /// What answers the requests of programs, before those of browsers are looked at.
    var interface: ProgrammingInterface? { programs.withLock { $0 } }

    /// Has the router answer from now on.
    package func connect(_ router: Router<BasicRequestContext>, interface: ProgrammingInterface? = nil) {
        let responder = router.buildResponder()
        let new = Line { try await responder.respond(to: $0, context: $1) }
        line.withLock { $0 = new }
        programs.withLock { $0 = interface }
    }

    /// Refuses all requests until a router is connected again.
    package func disconnect() {
        line.withLock { $0 = nil }
        programs.withLock { $0 = nil }
    }

    package func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard let line = line.withLock({ $0 }) else { return ErrorPage.response(site, 503, "One moment, please.") }
        return try await line.answer(request, context)
    }
}

/// Answers requests of programs; `nil` for a request that is none of them.
package typealias ProgrammingInterface =
    @Sendable (Request, ApplicationRequestContextSource) async throws -> Response?
