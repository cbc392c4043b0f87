import CoreData
import Foundation
import LivePages

/// A field of the editor of movies.
enum MovieField: String, FormField {
    case title, year, format, description, shared, friend, date

    static let formats = ["DVD", "Blu-ray", "4K", "VHS", "Digital"]
    static let firstYear = 1888

    var label: String {
        switch self {
        case .title: "Title"
        case .year: "Year"
        case .format: "Format"
        case .description: "Description"
        case .shared: "Shared with a friend"
        case .friend: "Friend"
        case .date: "Since"
        }
    }
}

extension FieldForm where Field == MovieField {
    /// What a new movie has.
    static var blank: FieldForm { FieldForm(values: [.date: Day.field(Date())]) }

    /// What a movie has now.
    @MainActor init(_ movie: Movie) {
        self.init(values: [
            .title: movie.title ?? "", .year: movie.year ?? "", .format: movie.format ?? "",
            .description: movie.movieDescription ?? "", .shared: movie.lent ? "1" : "",
            .friend: movie.lentToFriend.map { String($0.number) } ?? "",
            .date: Day.field(movie.lentOn ?? Date()),
        ])
    }

    /// What is wrong with what was typed, by field.
    func problems(friendExists: (Int) -> Bool) -> [MovieField: String] {
        var problems: [MovieField: String] = [:]
        let title = value(.title).trimmed
        if title.isEmpty { problems[.title] = "Type a title." }
        if title.isLonger(than: Movies.longestName) { problems[.title] = "That is too long: at most 100 characters." }
        if value(.description).isLonger(than: Movies.longestText) {
            problems[.description] = "That is too long: at most 2000 characters."
        }
        if value(.format).isLonger(than: Movies.longestName) { problems[.format] = "Choose a format." }
        let year = value(.year)
        if !year.isEmpty, !(MovieField.firstYear...Day.year + 5).contains(Int(year) ?? 0) {
            problems[.year] = "Choose a year from \(MovieField.firstYear) on."
        }
        guard !value(.shared).isEmpty else { return problems }
        if value(.friend).isEmpty {
            problems[.friend] = "Choose the friend who has it."
        } else if !friendExists(Int(value(.friend)) ?? 0) {
            problems[.friend] = "Another user has deleted this friend meanwhile. Choose another one."
        }
        if let day = Day.date(value(.date)) {
            // Where the browser is it may be tomorrow.
            if day.timeIntervalSinceNow > 2 * 86_400 { problems[.date] = "That is in the future." }
        } else {
            problems[.date] = "Choose the day since when, such as 2026-01-31."
        }
        return problems
    }
}
