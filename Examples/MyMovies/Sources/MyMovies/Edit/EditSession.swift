import CoreData
import Foundation
import LivePages

/// One person's work on a movie, in a child of the view context: nothing of it is in the view, let alone in the store, before it is
/// saved, and Cancel is a rollback.
///
/// ```
///  session's context ──save()──▶ view context, one step that can be undone ──▶ store
///         └─rollback()
/// ```
@MainActor final class EditSession {
    /// A name that nobody guesses.
    let id = Secret.make()
    /// The secret of the browser that works on it.
    let token: String
    /// Of the movie as others see it; `nil` for a new one.
    private(set) var number: Int?
    let context: NSManagedObjectContext
    /// The movie, in the session's context.
    private(set) var movie: Movie
    /// How many bytes the cover has that is not saved yet.
    private(set) var pictureSize = 0
    /// What was typed, right or wrong.
    var form: FieldForm<MovieField>

    init(_ movies: Movies, _ original: Movie?, token: String) {
        self.token = token
        number = original?.number
        context = NSManagedObjectContext(.mainQueue)
        context.parent = movies.view
        context.name = "edit"
        if let original, let own = context.object(with: original.objectID) as? Movie {
            movie = own
            form = FieldForm(original)
        } else {
            movie = Movie(context: context)
            form = .blank
        }
    }

    /// Tells the session which movie it is about, though that is gone.
    func expects(_ number: Int?) { self.number = number }

    /// Goes on with a movie of its own after somebody deleted the one that was edited.
    func makeAnew() {
        let picture = movie.isDeleted ? nil : movie.cover?.data
        let thumbnail = movie.isDeleted ? nil : movie.thumbnail
        context.reset()
        number = nil
        movie = Movie(context: context)
        if let picture { set(picture, thumbnail) }
        form.original = [:]
    }

    /// Gives the movie a cover, or takes it away, in this session only.
    func set(_ picture: Data?, _ thumbnail: Data?) {
        if let old = movie.cover { context.delete(old) }
        movie.cover = nil
        if let picture {
            let cover = Cover(context: context)
            cover.data = picture
            movie.cover = cover
        }
        movie.thumbnail = thumbnail
        pictureSize = picture?.count ?? 0
    }

    /// Puts what was typed, which has no problems, into the session's movie.
    func apply(_ movies: Movies) {
        func set<Value: Equatable>(_ path: ReferenceWritableKeyPath<Movie, Value>, _ value: Value) {
            if movie[keyPath: path] != value { movie[keyPath: path] = value }
        }
        func text(_ field: MovieField) -> String? {
            let text = form.value(field).trimmed
            return text.isEmpty ? nil : text
        }
        set(\.title, text(.title))
        set(\.year, text(.year))
        set(\.format, text(.format))
        set(\.movieDescription, text(.description))
        let isShared = !form.value(.shared).isEmpty
        set(\.lent, isShared)
        let friend = isShared ? movies.friend(Int(form.value(.friend)) ?? 0) : nil
        set(\.lentToFriend, friend.flatMap { context.object(with: $0.objectID) as? Friend })
        let day = isShared ? Day.date(form.value(.date)) : nil
        if movie.lentOn.map(Day.field) != day.map(Day.field) { movie.lentOn = day }
    }

    /// Saves into the view context, as one step, and that into the store.
    func save(_ movies: Movies) throws -> (number: Int, step: Int?) {
        let step = try movies.perform(number == nil ? "Add \(movie.name)" : "Change \(movie.name)") {
            if movie.objectID.isTemporaryID { try context.obtainPermanentIDs(for: [movie]) }
            try context.save()
        }.step
        return (movie.number, step)
    }
}

/// The sessions that are open: bounded, the oldest go first.
@MainActor final class EditSessions {
    private static let most = 100
    /// How many bytes of covers that are not saved yet there may be.
    var mostBytes = 64 << 20
    private let movies: Movies
    private var sessions: [EditSession] = []
    /// What became of sessions that were saved, so that a form that is sent twice is saved once.
    private var saved: [(id: String, number: Int)] = []

    init(_ movies: Movies) { self.movies = movies }

    var count: Int { sessions.count }

    func begin(_ movie: Movie?, token: String) -> EditSession {
        let session = EditSession(movies, movie, token: token)
        sessions.append(session)
        if sessions.count > Self.most { sessions.removeFirst().context.rollback() }
        return session
    }

    /// Ends the oldest sessions where there is too much that is not saved, but never the one that has just been used.
    func makeRoom(for session: EditSession) {
        var size = sessions.reduce(0) { $0 + $1.pictureSize }
        for other in sessions where size > mostBytes && other !== session && other.pictureSize > 0 {
            size -= other.pictureSize
            cancel(other)
        }
    }

    func find(_ id: String, token: String) -> EditSession? {
        sessions.first { $0.id == id && Secret.areEqual($0.token, token) }
    }

    /// The movie that was made or changed by a session that has ended.
    func result(of id: String) -> Int? { saved.last { $0.id == id }?.number }

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
