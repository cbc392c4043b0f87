import Foundation
import Synchronization

/// Holds the state of one synchronisation, and tells its readers of each change.
final class SyncStatus: Sendable {
    private struct Contents {
        var state = SyncState()
        var readers: [Int: AsyncStream<SyncState>.Continuation] = [:]
        var next = 0
    }

    /// Guards the state and the list of readers.
    private let contents = Mutex(Contents())

    deinit { contents.withLock { $0.readers.values.forEach { $0.finish() } } }

    var state: SyncState { contents.withLock { $0.state } }

    func update(_ change: (inout SyncState) -> Void) {
        let (state, readers) = contents.withLock { contents in
            change(&contents.state)
            return (contents.state, Array(contents.readers.values))
        }
        for reader in readers { reader.yield(state) }
    }

    func stream() -> AsyncStream<SyncState> {
        let (stream, reader) = AsyncStream<SyncState>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = contents.withLock { contents in
            contents.next += 1
            contents.readers[contents.next] = reader
            reader.yield(contents.state)
            return contents.next
        }
        reader.onTermination = { [weak self] _ in
            self?.contents.withLock { contents in contents.readers[number] = nil }
        }
        return stream
    }
}
