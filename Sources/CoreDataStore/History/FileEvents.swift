import Dispatch
import Foundation
import Synchronization

/// What the kernel tells of files: one inotify descriptor for the whole process.
///
/// A user has few of those (`fs.inotify.max_user_instances`, often 128) for all programs together, but very many watches. Where
/// none is left nothing can be listened to until one is given back; see ``FileWatch`` for what is done then.
package final class FileEvents: @unchecked Sendable {
    // Safe because `state` guards what changes.

    /// That of the process.
    package static let shared = FileEvents()

    /// What is listened to.
    package enum Kind {
        /// A file that is written, replaced or taken away.
        case file
        /// A folder in which a file appears.
        case folder

        // One set of events for each kind: the kernel has one watch for a file, whoever asks for it.
        fileprivate var mask: UInt32 {
            switch self {
            case .file: UInt32(IN_MODIFY) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
            case .folder: UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
            }
        }
    }

    /// What became of the wish to listen to a file.
    package enum Answer: Equatable {
        /// The number of the watch, which others may have, too.
        case listens(Int32)
        case notThere
        /// The kernel has none left, or the file may not be read.
        case refused
    }

    /// What came of some files since the last time.
    package struct News: Sendable {
        /// Of which watches; everything may have happened where events were lost.
        package fileprivate(set) var numbers: Set<Int32> = []
        package fileprivate(set) var lostSome = false
        /// Watches whose files are to be looked for anew: they are others, or gone.
        package fileprivate(set) var replaced: Set<Int32> = []

        package init() {}
    }

    fileprivate struct State {
        /// While somebody listens. What is read late, of one that was given back, may wake somebody for nothing.
        var source: (any DispatchSourceRead)?
        var descriptor: Int32 = -1
        var listeners: [Int: @Sendable (News) -> Void] = [:]
        var lastListener = 0
        /// Who listens to which watch.
        var watches: [Int32: Set<Int>] = [:]
    }

    private let queue = DispatchQueue(label: "com.apple.CoreData.file-events", qos: .utility)
    /// Guards the descriptor and who listens to what; nobody is called while it is held.
    private let state = Mutex(State())
    private let makeDescriptor: @Sendable () -> Int32

    /// - Parameter makeDescriptor: makes the descriptor; negative where there is none.
    package init(makeDescriptor: @escaping @Sendable () -> Int32 = { inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC)) }) {
        self.makeDescriptor = makeDescriptor
    }

    deinit {
        state.withLock { state in
            state.source?.cancel()
            state.source = nil
        }
    }

    /// - Returns: the number by which the listener asks for files.
    package func addListener(_ listener: @escaping @Sendable (News) -> Void) -> Int {
        state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = listener
            return state.lastListener
        }
    }

    /// The listener is not called from now on, but may be in the midst of it.
    package func removeListener(_ listener: Int) {
        state.withLock { state in
            state.listeners[listener] = nil
            for number in state.watches.keys where state.watches[number]?.contains(listener) == true {
                state.remove(listener, from: number)
            }
            guard state.listeners.isEmpty, let source = state.source else { return }
            // Gives the descriptor back.
            source.cancel()
            state.source = nil
            state.descriptor = -1
        }
    }

    /// Begins to listen to a file.
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

    /// Ends it for this listener.
    package func stopListening(_ listener: Int, to number: Int32) {
        state.withLock { $0.remove(listener, from: number) }
    }

    private func source(_ descriptor: Int32) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setCancelHandler { close(descriptor) }
        source.setEventHandler { [weak self] in self?.tell(News(from: descriptor)) }
        source.activate()
        return source
    }

    private func tell(_ news: News) {
        let calls = state.withLock { state -> [(@Sendable (News) -> Void, News)] in
            var told: [Int: News] = [:]
            if news.lostSome { for listener in state.listeners.keys { told[listener] = news } }
            for number in news.numbers {
                for listener in state.watches[number] ?? [] {
                    told[listener, default: News()].numbers.insert(number)
                    if news.replaced.contains(number) { told[listener, default: News()].replaced.insert(number) }
                }
            }
            return told.compactMap { listener, news in state.listeners[listener].map { ($0, news) } }
        }
        for (call, news) in calls { call(news) }
    }
}

extension FileEvents.State {
    fileprivate mutating func remove(_ listener: Int, from number: Int32) {
        guard watches[number]?.remove(listener) != nil, watches[number]?.isEmpty == true else { return }
        watches[number] = nil
        // Fails where the file is gone, and the watch with it.
        inotify_rm_watch(descriptor, number)
    }
}

extension FileEvents.News {
    /// Takes what has come.
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
