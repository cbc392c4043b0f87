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
    /// A random name; the page that shows the editor made it.
    let id: String
    /// The secret of the browser that works on it.
    let token: String
    /// Of the movie as others see it; `nil` for a new one.
    private(set) var number: Int?
    let context: NSManagedObjectContext
    /// The movie, in the session's context.
    private(set) var movie: Movie
    /// How many bytes the cover has that is not saved yet.
    private(set) var pictureSize = 0
    /// When the browser asked for the session last.
    var lastUse = ContinuousClock.now
    /// What was typed, right or wrong.
    var form: FieldForm<MovieField>

    init(_ movies: Movies, _ original: Movie?, id: String = Secret.make(), token: String) {
        self.id = id
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

    /// Goes on with a new movie after the edited one was deleted.
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
            // Before the view has anything: where another process is writing to the store, this throws, and the session is as it was.
            try context.obtainPermanentIDs()
            try context.save()
        }.step
        return (movie.number, step)
    }
}
