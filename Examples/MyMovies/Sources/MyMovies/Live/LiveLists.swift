import CoreData
import Foundation
import LivePages

/// The lists of all pages: what they show, and what is sent when they change.
@MainActor final class LiveLists {
    let movies: LiveList
    let shared: LiveList
    let friends: LiveList
    private let feed: LiveFeed
    private var count: Int
    private var observer: (any NSObjectProtocol)?

    var badges: [String: Badge] { ["shared": Badge(count: shared.count, label: "\(shared.count) shared")] }

    init(_ store: Movies, _ feed: LiveFeed) throws {
        self.feed = feed
        let context = store.view
        movies = try LiveList("movies", MovieRows.all, in: context)
        shared = try LiveList("shared", MovieRows.shared(context), in: context)
        friends = try LiveList("friends", FriendRows.all, in: context)
        count = shared.count
        for list in [movies, shared, friends] {
            list.onChange = { [weak self, name = list.name] patch in
                self?.feed.send(patch, to: name)
                self?.tellCount()
            }
        }
        // What the list of movies does not go by, but shows: the names of friends.
        observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { [weak self] note in
            nonisolated(unsafe) let note = note
            MainActor.assumeIsolated { self?.contextDidChange(note) }
        }
    }

    /// Shows what the store has, after changes were rolled back.
    func fetchAgain() {
        for list in [movies, shared, friends] { try? list.fetchAgain() }
        count = shared.count
        feed.sendStale()
    }

    func close() {
        if let observer { NotificationCenter.default.removeObserver(observer) }
        observer = nil
    }

    private func contextDidChange(_ note: Notification) {
        var friends: Set<Friend> = []
        for key in [NSUpdatedObjectsKey, NSRefreshedObjectsKey] {
            for case let friend as Friend in note.userInfo?[key] as? Set<NSManagedObject> ?? []
            where key == NSRefreshedObjectsKey || friend.changedValuesForCurrentEvent()["friendName"] != nil {
                friends.insert(friend)
            }
        }
        let lent = friends.flatMap(\.movies)
        if lent.isEmpty { return }
        // When the lists have followed the change.
        Task { movies.redraw(lent) }
    }

    private func tellCount() {
        guard count != shared.count else { return }
        count = shared.count
        feed.send("parts", LiveParts(title: count, badges: badges))
    }
}
