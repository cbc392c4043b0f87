import CoreData
import CoreDataToolkit
import Foundation
import LivePages

// What the app begins with.
extension Movies {
    /// Brings eight films and seven friends into a new store; the store remembers that it had them.
    func fillOnFirstRun() async throws {
        guard DefaultData.choice(in: stack) != .notAsked || count("Movie") + count("Friend") == 0 else { return }
        try await DefaultData.offer(in: stack, ask: { true }, importing: importStarterData)
    }

    private func importStarterData(_ stack: CoreDataStack) async throws {
        var importer = try Importer(stack, unique: Self.unique)
        importer.keepsExisting = true
        for (name, entity) in [("Friends", "Friend"), ("Starter", "Movie")] {
            guard let url = Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Assets")
            else { throw CocoaError(.fileNoSuchFile) }
            try await importer.importRecords(from: .file(url), as: entity)
        }
        try await stack.performImport { context in
            let request = NSFetchRequest<Movie>(entityName: "Movie")
            request.predicate = NSPredicate(format: "lentToFriend != nil AND lent == NO")
            for movie in try context.fetch(request) {
                movie.lent = true
                movie.lentOn = Date()
            }
        }
    }

    /// Takes over what another store has: movies become as they are there, with who has them and their covers; others stay.
    ///
    /// - Returns: how many movies it has.
    @discardableResult
    func copyMovies(from store: URL) async throws -> Int {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: store)
        guard stack.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else {
            throw ToolkitError("\(store.path) is no store of this version of MyMovies.")
        }
        let copier = try DeepCopier(fromStoreAt: store, to: stack, unique: Self.unique)
        return try await copier.copy(["Movie", "Friend"]).objects
    }

    /// What tells movies and friends apart.
    private static let unique = ["Friend": "friendName", "Movie": "title"]

    /// Adds many movies and friends, made up: the same ones each time.
    func makeDemo() async throws {
        let formats = MovieField.formats
        var generator = TestDataGenerator(stack, seed: 7)
        generator.relationshipCounts = ["Friend.lentMovies": 0...2]
        generator.values = [
            "Movie.lent": { _ in false }, "Movie.lentOn": { _ in nil }, "Movie.thumbnail": { _ in nil },
            "Movie.year": { String(1920 + $0 * 7 % 100) }, "Movie.format": { formats[$0 % formats.count] },
            "Movie.timesWatched": { $0 % 5 },
        ]
        try await generator.generate(["Movie": 60, "Friend": 12])
        try await stack.performImport { context in
            let request = NSFetchRequest<Movie>(entityName: "Movie")
            for movie in try context.fetch(request) where (movie.lentToFriend != nil) != movie.lent {
                movie.lent = movie.lentToFriend != nil
                movie.lentOn = movie.lent ? Date(timeIntervalSinceNow: -86_400 * Double(movie.number % 90)) : nil
            }
        }
    }
}
