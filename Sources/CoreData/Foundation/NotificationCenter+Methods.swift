import Foundation

/// Observers by method, as `#selector` names them on Apple's platforms.
///
///     center.addObserver(self, selector: Library.didSave(_:), name: .NSManagedObjectContextDidSave, object: context)
///     center.removeObserver(self)
///
/// As there, the centre does not retain the observer: a deallocated one is not called any more, with or without
/// `removeObserver(_:)`. The method runs on the thread that posts, before the post returns.
extension NotificationCenter {
    /// Calls the method for each notification of that name and from that object; `nil` stands for any.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, selector method: @escaping (Observer) -> (Notification) -> Void,
        name: NSNotification.Name?, object: Any?
    ) {
        MethodObservers.shared.add(observer, to: self, name: name, object: object) { method($0)($1) }
    }

    /// Calls the method for each notification of that name and from that object; `nil` stands for any.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, selector method: @escaping (Observer) -> (NSNotification) -> Void,
        name: NSNotification.Name?, object: Any?
    ) {
        MethodObservers.shared.add(observer, to: self, name: name, object: object) {
            method($0)(NSNotification(name: $1.name, object: $1.object, userInfo: $1.userInfo))
        }
    }

    /// Calls the method, which takes nothing, for each notification of that name and from that object.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, selector method: @escaping (Observer) -> () -> Void,
        name: NSNotification.Name?, object: Any?
    ) {
        MethodObservers.shared.add(observer, to: self, name: name, object: object) { observer, _ in
            method(observer)()
        }
    }

    /// Calls none of the observer's methods any more.
    public func removeObserver<Observer: AnyObject>(_ observer: Observer) {
        removeObserver(observer, name: nil, object: nil)
    }

    /// Calls none of the observer's methods any more that were added for that name and that object; `nil` stands
    /// for any.
    public func removeObserver<Observer: AnyObject>(_ observer: Observer, name: NSNotification.Name?, object: Any?) {
        for token in MethodObservers.shared.remove(observer, from: self, name: name, object: object) {
            removeObserver(token as Any, name: nil, object: nil)
        }
        // What `addObserver(forName:…)` returned is an observer of Foundation's own.
        removeObserver(observer as Any, name: name, object: object)
    }
}

/// Which methods of which objects observe: what finds them again for `removeObserver(_:)`.
private final class MethodObservers: Sendable {
    static let shared = MethodObservers()

    private struct Registration {
        weak var center: NotificationCenter?
        weak var observer: AnyObject?
        let name: NSNotification.Name?
        let object: AnyObject?
        let token: any NSObjectProtocol
    }

    private struct State {
        var registrations: [ObjectIdentifier: [Registration]] = [:]
        /// The number of additions after which deallocated observers are forgotten.
        var untilSweep = 64
    }

    // Safe because `lock` guards it.
    nonisolated(unsafe) private var state = State()
    private let lock = NSLock()

    func add<Observer: AnyObject>(
        _ observer: Observer, to center: NotificationCenter, name: NSNotification.Name?, object: Any?,
        call: @escaping (Observer, Notification) -> Void
    ) {
        // Safe because the method is called on the thread that posts, whatever it is, as on Apple's platforms.
        nonisolated(unsafe) let call = call
        nonisolated(unsafe) weak let weakly = observer
        let token = center.addObserver(forName: name, object: object, queue: nil) { notification in
            guard let observer = weakly else { return }
            call(observer, notification)
        }
        let registration = Registration(
            center: center, observer: observer, name: name, object: object.map { $0 as AnyObject }, token: token)
        // Released outside the lock: a deinitialiser that runs then may remove its own observers.
        var held: [AnyObject] = []
        let gone = lock.withLock {
            state.registrations[ObjectIdentifier(observer), default: []].append(registration)
            return sweep(holding: &held)
        }
        for registration in gone { registration.center?.removeObserver(registration.token as Any) }
    }

    /// Removes the observer's registrations, and returns the centre's tokens for them.
    func remove(
        _ observer: AnyObject, from center: NotificationCenter, name: NSNotification.Name?, object: Any?
    ) -> [any NSObjectProtocol] {
        let object = object.map { $0 as AnyObject }
        let key = ObjectIdentifier(observer)
        return lock.withLock {
            // All registrations with the observer's address are its own: a weak reference to it is nil already while it
            // is deallocated, which is when most observers are removed.
            let all = state.registrations[key] ?? []
            let removed = all.filter {
                ($0.center === center || $0.center == nil) && (name == nil || $0.name == name)
                    && (object == nil || $0.object === object)
            }
            let kept = all.filter { registration in !removed.contains { $0.token === registration.token } }
            state.registrations[key] = kept.isEmpty ? nil : kept
            // A token of a deallocated centre may be equal to one that this centre gave to another observer.
            return removed.filter { $0.center != nil }.map(\.token)
        }
    }

    /// Forgets observers that went away without a word; called often enough that they never are many.
    private func sweep(holding held: inout [AnyObject]) -> [Registration] {
        state.untilSweep -= 1
        guard state.untilSweep <= 0 else { return [] }
        var gone: [Registration] = []
        var count = 0
        for (key, registrations) in state.registrations {
            var kept: [Registration] = []
            for registration in registrations {
                if let observer = registration.observer {
                    held.append(observer)
                    kept.append(registration)
                } else {
                    gone.append(registration)
                }
            }
            state.registrations[key] = kept.isEmpty ? nil : kept
            count += kept.count
        }
        state.untilSweep = max(64, count)
        return gone
    }
}
