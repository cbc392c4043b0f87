import CoreData
import Foundation
import LivePages

/// The sessions with changes that are neither in a form nor saved: covers. A page that only shows the editor opens none.
///
/// Their number and size are bounded for each browser, whose own idle sessions end first. Sessions of others end only after a time.
@MainActor final class EditSessions {
    /// The number of sessions that a browser may have.
    nonisolated static let mostOfBrowser = 20
    /// The number of sessions of all browsers.
    static let most = 500

    /// There is no room for another session, or for its cover.
    struct Full: Error {
        let message = "Too many covers wait to be saved at the moment. Save without the cover, and add it later."
    }

    /// The bytes of covers that a browser may have that are not saved yet.
    var mostBytesOfBrowser = 32 << 20
    /// The same for all browsers.
    var mostBytes = 256 << 20
    /// How long a session is kept that its browser does not ask for.
    var longestIdle = Duration.seconds(4 * 3600)

    private let movies: Movies
    /// The one that was used last at the end.
    private var sessions: [EditSession] = []
    /// The results of saved sessions, so that a form that is sent twice is saved once.
    private var saved: [(id: String, number: Int)] = []

    init(_ movies: Movies) { self.movies = movies }

    var count: Int { sessions.count }

    func isOpen(_ session: EditSession) -> Bool { sessions.contains { $0 === session } }

    /// Keeps the session, which is about to get a cover of that size, until it is saved or cancelled.
    ///
    /// - Throws: ``Full`` where there is no room, although idle sessions were ended.
    func keep(_ session: EditSession, coverSize: Int) throws {
        let now = ContinuousClock.now
        for other in sessions where other !== session && other.lastUse.duration(to: now) >= longestIdle {
            cancel(other)
        }
        var own = sessions.filter { $0 !== session && $0.token == session.token }
        while let oldest = own.first,
            own.count >= Self.mostOfBrowser || Self.size(of: own) + coverSize > mostBytesOfBrowser
        {
            cancel(oldest)
            own.removeFirst()
        }
        let others = sessions.filter { $0 !== session }
        guard others.count < Self.most, Self.size(of: others) + coverSize <= mostBytes else { throw Full() }
        sessions = others + [session]
        session.lastUse = now
    }

    private static func size(of sessions: [EditSession]) -> Int { sessions.reduce(0) { $0 + $1.pictureSize } }

    func find(_ id: String, token: String) -> EditSession? {
        guard let session = sessions.first(where: { $0.id == id && Secret.areEqual($0.token, token) }) else {
            return nil
        }
        session.lastUse = .now
        sessions.removeAll { $0 === session }
        sessions.append(session)
        return session
    }

    /// The movie that was made or changed by a session that has ended.
    func result(of id: String) -> Int? { saved.last { $0.id == id }?.number }

    /// Forgets that a session was saved, where its changes did not come to the store.
    func forgetResult(of id: String) { saved.removeAll { $0.id == id } }

    func cancel(_ session: EditSession) {
        session.context.rollback()
        sessions.removeAll { $0 === session }
    }

    func save(_ session: EditSession) throws -> (number: Int, step: Int?) {
        let done = try session.save(movies)
        sessions.removeAll { $0 === session }
        saved.append((session.id, done.number))
        if saved.count > Self.most { saved.removeFirst() }
        return done
    }

    func endAll() {
        for session in sessions { session.context.reset() }
        sessions = []
    }
}
