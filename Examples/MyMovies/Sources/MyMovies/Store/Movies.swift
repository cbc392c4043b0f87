import CoreData
import CoreDataToolkit
import Foundation
import LivePages

/// The store and everything that the app does with it, on the main actor as in an app with windows.
@MainActor final class Movies: LiveStoreOwner {
    nonisolated static let longestName = 100
    nonisolated static let longestText = 2000

    let live: LiveStore

    /// Opens the store, or makes it.
    init(at url: URL, progress: ProgressHandler? = nil) async throws {
        guard let file = Bundle.module.url(forResource: "MyMovies", withExtension: "momd"),
            let model = NSManagedObjectModel(contentsOf: file)
        else { throw ToolkitError("The model is not among the program's resources.") }
        live = try await LiveStore(model: model, at: url, author: "MyMovies", progress: progress)
    }

    // MARK: Finding

    func movie(_ number: Int) -> Movie? { object(Movie.self, "Movie", number) }

    func friend(_ number: Int) -> Friend? { object(Friend.self, "Friend", number) }

    /// By name.
    func friends() throws -> [Friend] {
        let request = NSFetchRequest<Friend>(entityName: "Friend")
        request.sortDescriptors = .byName("friendName")
        return try view.fetch(request)
    }

    /// Movies that have the text in their title or description, whatever its case and accents, by title.
    func movies(matching text: String, limit: Int) throws -> [Movie] {
        let request = NSFetchRequest<Movie>(entityName: "Movie")
        request.predicate = NSPredicate(
            format: "title CONTAINS[cd] %@ OR movieDescription CONTAINS[cd] %@ OR year == %@", text, text, text)
        request.sortDescriptors = .byName("title")
        request.fetchLimit = limit
        request.relationshipKeyPathsForPrefetching = ["lentToFriend"]
        return try view.fetch(request)
    }

    // MARK: Movies

    /// The movie's large cover.
    func cover(of movie: Movie?) -> Data? { passing(movie?.cover) { $0.data } }

    func delete(_ movie: Movie) throws -> Int? {
        try perform("Delete \(movie.name)") { view.delete(movie) }.step
    }

    /// The friend has given it back. Changes nothing where it is back already.
    func takeBack(_ movie: Movie) throws -> Int? {
        guard movie.lent else { return nil }
        return try perform("Take \(movie.name) back") {
            movie.lent = false
            movie.lentToFriend = nil
            movie.lentOn = nil
        }.step
    }

    func countWatching(_ movie: Movie) throws -> Int? {
        try perform("Watch \(movie.name)") {
            if movie.timesWatched < Int32.max { movie.timesWatched += 1 }
        }.step
    }
}

extension Movie {
    /// The title; never empty.
    var name: String { title.flatMap { $0.isEmpty ? nil : $0 } ?? "Untitled" }

    /// "Metropolis (1927)".
    var cellTitle: String { year.flatMap { $0.isEmpty ? nil : "\(name) (\($0))" } ?? name }

    /// The second line of a row.
    var details: String {
        var parts = [format ?? ""]
        if lent { parts.append("Lent to \(lentToFriend?.name ?? "a friend")") }
        return parts.filter { !$0.isEmpty }.joined(separator: " · ")
    }
}

extension Friend {
    /// The name; never empty.
    var name: String { friendName.flatMap { $0.isEmpty ? nil : $0 } ?? "Unnamed" }

    /// What is lent to the friend, by title.
    var movies: [Movie] { (lentMovies?.allObjects as? [Movie] ?? []).sorted { $0.name < $1.name } }
}

/// Days as people write them, and as fields for dates do.
enum Day {
    private static let calendar = Calendar(identifier: .gregorian)

    /// "3 Nov 2026".
    static func text(_ date: Date) -> String {
        let parts = calendar.dateComponents([.year, .month, .day], from: date)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard let year = parts.year, let month = parts.month, let day = parts.day, (1...12).contains(month) else {
            return ""
        }
        return "\(day) \(months[month - 1]) \(year)"
    }

    /// "2026-11-03".
    static func field(_ date: Date) -> String {
        let parts = calendar.dateComponents([.year, .month, .day], from: date)
        func padded(_ number: Int?, _ count: Int) -> String {
            let digits = String(number ?? 0)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        return [padded(parts.year, 4), padded(parts.month, 2), padded(parts.day, 2)].joined(separator: "-")
    }

    /// The noon of a day that a field says; `nil` where it says none.
    static func date(_ field: String) -> Date? {
        guard let match = field.wholeMatch(of: /(\d{4})-(\d\d)-(\d\d)/), let year = Int(match.output.1),
            let month = Int(match.output.2), let day = Int(match.output.3), (1888...9999).contains(year)
        else { return nil }
        let parts = DateComponents(calendar: calendar, year: year, month: month, day: day, hour: 12)
        guard parts.isValidDate(in: calendar) else { return nil }
        return calendar.date(from: parts)
    }

    /// The year that it is.
    static var year: Int { calendar.component(.year, from: Date()) }
}
