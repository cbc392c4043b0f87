import Dispatch
import Foundation
import Synchronization

/// Receives file events of the kernel: one inotify descriptor for the whole process.
///
/// Linux limits the descriptors of a user (`fs.inotify.max_user_instances`, often 128) over all programs, but allows
/// many watches. If none is left, nothing can be watched until another one is released; ``FileWatch`` then polls.
package final class FileEvents: @unchecked Sendable {
    // Safe because `state` guards the mutable state.

    /// The instance of the process.
    package static let shared = FileEvents()

    /// The kind of file to watch.
    package enum Kind {
        /// A file that is written, replaced or deleted.
        case file
        /// A folder in which a file is created.
        case folder

        // One set of events for each kind: the kernel has one watch per file, shared by all listeners.
        fileprivate var mask: UInt32 {
            switch self {
            case .file: UInt32(IN_MODIFY) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
            case .folder: UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
            }
        }
    }

    /// The result of a request to watch a file.
    package enum Answer: Equatable {
        /// The number of the watch, which listeners may share.
        case listens(Int32)
        case notThere
        /// The kernel has no watch left, or the file may not be read.
        case refused
    }

    /// The events since the last notification.
    package struct Batch: Sendable {
        /// The affected watches; if events were lost, any may be affected.
        package fileprivate(set) var numbers: Set<Int32> = []
        package fileprivate(set) var lostSome = false
        /// Watches whose files must be found again: they were replaced or deleted.
        package fileprivate(set) var replaced: Set<Int32> = []

        package init() {}
    }

    fileprivate struct State {
        /// The source, while there are listeners. A late event of a released watch may wake a listener without need.
        var source: (any DispatchSourceRead)?
        var descriptor: Int32 = -1
        var listeners: [Int: @Sendable (Batch) -> Void] = [:]
        var lastListener = 0
        /// The listeners of each watch.
        var watches: [Int32: Set<Int>] = [:]
    }

    private let queue = DispatchQueue(label: "com.apple.CoreData.file-events", qos: .utility)
    /// Guards the descriptor and the listeners; no callback is made while it is held.
    private let state = Mutex(State())
    private let makeDescriptor: @Sendable () -> Int32

    /// - Parameter makeDescriptor: makes the descriptor; negative if there is none.
    package init(makeDescriptor: @escaping @Sendable () -> Int32 = { inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC)) }) {
        self.makeDescriptor = makeDescriptor
    }

    deinit {
        state.withLock { state in
            state.source?.cancel()
            state.source = nil
        }
    }

    /// - Returns: the number that identifies the listener.
    package func addListener(_ listener: @escaping @Sendable (Batch) -> Void) -> Int {
        state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = listener
            return state.lastListener
        }
    }

    /// Removes a listener. It is not called any more, but a call may be in progress.
    package func removeListener(_ listener: Int) {
        state.withLock { state in
            state.listeners[listener] = nil
            for number in state.watches.keys where state.watches[number]?.contains(listener) == true {
                state.remove(listener, from: number)
            }
            guard state.listeners.isEmpty, let source = state.source else { return }
            // Closes the descriptor.
            source.cancel()
            state.source = nil
            state.descriptor = -1
        }
    }

    /// Begins to watch a file.
    package func listen(_ listener: Int, to path: String, _ kind: Kind) -> Answer {
        state.withLock { state in
            guard state.listeners[listener] != nil else { return .notThere }
            if state.source == nil {
                let descriptor = makeDescriptor()
                guard descriptor >= 0 else { return .refused }
                state.descriptor = descriptor
                state.source = source(descriptor)
            }
            let number = inotify_add_watch(state.descriptor, path, kind.mask)
            guard number >= 0 else { return errno == ENOENT ? .notThere : .refused }
            state.watches[number, default: []].insert(listener)
            return .listens(number)
        }
    }

    /// Ends the watch for this listener.
    package func stopListening(_ listener: Int, to number: Int32) {
        state.withLock { $0.remove(listener, from: number) }
    }

    private func source(_ descriptor: Int32) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setCancelHandler { close(descriptor) }
        source.setEventHandler { [weak self] in self?.tell(Batch(from: descriptor)) }
        source.activate()
        return source
    }

    private func tell(_ batch: Batch) {
        let calls = state.withLock { state -> [(@Sendable (Batch) -> Void, Batch)] in
            var told: [Int: Batch] = [:]
            if batch.lostSome { for listener in state.listeners.keys { told[listener] = batch } }
            for number in batch.numbers {
                for listener in state.watches[number] ?? [] {
                    told[listener, default: Batch()].numbers.insert(number)
                    if batch.replaced.contains(number) { told[listener, default: Batch()].replaced.insert(number) }
                }
            }
            return told.compactMap { listener, batch in state.listeners[listener].map { ($0, batch) } }
        }
        for (call, batch) in calls { call(batch) }
    }
}

extension FileEvents.State {
    fileprivate mutating func remove(_ listener: Int, from number: Int32) {
        guard watches[number]?.remove(listener) != nil, watches[number]?.isEmpty == true else { return }
        watches[number] = nil
        // It fails if the file, and with it the watch, no longer exists.
        inotify_rm_watch(descriptor, number)
    }
}

extension FileEvents.Batch {
    /// Reads the pending events.
    fileprivate init(from descriptor: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
            guard let base = buffer.baseAddress else { return }
            while true {
                let count = read(descriptor, base, buffer.count)
                guard count > 0 else { break }
                var place = 0
                while place + 16 <= count {
                    let number = base.loadUnaligned(fromByteOffset: place, as: Int32.self)
                    let mask = base.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
                    let length = base.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self)
                    add(number, mask)
                    place += 16 + Int(length)
                }
            }
        }
    }

    private mutating func add(_ number: Int32, _ mask: UInt32) {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { lostSome = true }
        guard number >= 0 else { return }
        numbers.insert(number)
        let other = UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_IGNORED)
        if mask & other != 0 { replaced.insert(number) }
    }
}
