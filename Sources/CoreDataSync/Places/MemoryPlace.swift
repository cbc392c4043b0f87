import Foundation
import Synchronization

/// A place in memory, for tests and for stores of one process.
public final class MemoryPlace: SyncPlace {
    private struct State {
        var folders: [String: [String: Data]] = [:]
        var observers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastObserver = 0
    }

    private let state = Mutex(State())

    /// Makes an empty place.
    public init() {}

    /// Makes a place with a copy of the files of another one.
    public init(copying other: MemoryPlace) {
        let folders = other.state.withLock { $0.folders }
        state.withLock { $0.folders = folders }
    }

    /// The names of the folders, or of the files in one folder.
    public func list(_ folder: String?) async throws -> [String] {
        try PlaceName.check(folder)
        return state.withLock { state in
            guard let folder else { return state.folders.keys.sorted() }
            return state.folders[folder]?.keys.sorted() ?? []
        }
    }

    /// The contents of a file.
    public func read(_ file: String, in folder: String) async throws -> Data? {
        try PlaceName.check(file, folder)
        return state.withLock { $0.folders[folder]?[file] }
    }

    /// Creates a file.
    public func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
        try PlaceName.check(file, folder)
        let observers = state.withLock { state -> [AsyncStream<Void>.Continuation]? in
            guard state.folders[folder]?[file] == nil else { return nil }
            state.folders[folder, default: [:]][file] = data
            return Array(state.observers.values)
        }
        guard let observers else { return false }
        for observer in observers { observer.yield() }
        return true
    }

    /// Deletes a file.
    public func delete(_ file: String, in folder: String) async throws {
        try PlaceName.check(file, folder)
        let observers = state.withLock { state -> [AsyncStream<Void>.Continuation] in
            state.folders[folder]?[file] = nil
            return Array(state.observers.values)
        }
        for observer in observers { observer.yield() }
    }

    /// An element after each file that is created or deleted by any device; elements that were not taken yet are one.
    public func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = continuation
            return state.lastObserver
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.observers.removeValue(forKey: number) }
        }
        return stream
    }
}
