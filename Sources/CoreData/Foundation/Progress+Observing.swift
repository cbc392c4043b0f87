import Dispatch
import Foundation
import Synchronization

extension Progress: KeyValueObserving {}

extension KeyValueObserving where Self: Progress {
    /// Calls the handler when a property of the progress has changed.
    ///
    ///     let observation = result.progress?.observe(\.completedUnitCount) { progress, _ in bar.set(progress.fractionCompleted) }
    ///
    /// Differs from Apple: Foundation does not report changes here. The property is read 50 times a second, on a queue
    /// of its own. In addition, a thread that runs an asynchronous fetch reads it whenever it advances its progress. A
    /// value that lasts for a shorter time may be missed.
    ///
    /// - Parameters:
    ///   - keyPath: a property whose values can be compared; changes of other properties are not noticed.
    ///   - options: the values that the handler receives; there are no calls before a change.
    /// - Returns: an observation, which ends when it is released.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let watch = ProgressWatch(self, keyPath, options, changeHandler)
        if options.contains(.initial) { watch.tell(self, nil, self[keyPath: keyPath]) }
        let number = ProgressWatches.shared.add { watch.look() }
        return NSKeyValueObservation { ProgressWatches.shared.remove(number) }
    }
}

/// One observed property of a progress.
private final class ProgressWatch<Object: Progress, Value>: @unchecked Sendable {
    // Safe because the lock guards the value that was reported last.
    private let lock = NSRecursiveLock()
    private weak var progress: Object?
    private let keyPath: KeyPath<Object, Value>
    private let options: NSKeyValueObservingOptions
    private let handler: (Object, NSKeyValueObservedChange<Value>) -> Void
    private var known: Value

    init(
        _ progress: Object, _ keyPath: KeyPath<Object, Value>, _ options: NSKeyValueObservingOptions,
        _ handler: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void
    ) {
        self.progress = progress
        self.keyPath = keyPath
        self.options = options
        self.handler = handler
        known = progress[keyPath: keyPath]
    }

    /// Reads the property, and reports it if it has changed.
    func look() {
        lock.lock()
        defer { lock.unlock() }
        guard let progress else { return }
        let (old, new) = (known, progress[keyPath: keyPath])
        guard let before = old as? AnyHashable, let now = new as? AnyHashable, before != now else { return }
        known = new
        tell(progress, old, new)
    }

    func tell(_ progress: Object, _ old: Value?, _ new: Value) {
        handler(
            progress,
            NSKeyValueObservedChange(
                kind: .setting, newValue: options.contains(.new) ? new : nil,
                oldValue: options.contains(.old) ? old : nil, indexes: nil, isPrior: false))
    }
}

/// The observed properties of progress objects, which are read in turn while there are any.
final class ProgressWatches: Sendable {
    static let shared = ProgressWatches()

    private struct State {
        var looks: [Int: @Sendable () -> Void] = [:]
        var count = 0
        var timer: (any DispatchSourceTimer)?
    }

    /// Guards the list and its timer.
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "Progress.observe")

    func add(_ look: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.count += 1
            state.looks[state.count] = look
            if state.timer == nil {
                let timer = DispatchSource.makeTimerSource(queue: queue)
                timer.schedule(deadline: .now() + .milliseconds(20), repeating: .milliseconds(20))
                timer.setEventHandler { [weak self] in self?.look() }
                timer.resume()
                state.timer = timer
            }
            return state.count
        }
    }

    func remove(_ number: Int) {
        state.withLock { state in
            state.looks[number] = nil
            guard state.looks.isEmpty else { return }
            state.timer?.cancel()
            state.timer = nil
        }
    }

    /// Lets all of them read.
    func look() {
        for look in state.withLock({ Array($0.looks.values) }) { look() }
    }
}
