import Foundation

/// The values that an observer receives with a change.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: UInt

    /// Makes options of their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value after the change.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The value before the change.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// A first call immediately, with the current value.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
    /// A call before each change as well.
    public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// A change of an observed property.
public struct NSKeyValueObservedChange<Value> {
    /// The kinds of changes.
    public typealias Kind = NSKeyValueChange

    /// The kind of change: always `.setting`.
    ///
    /// Differs from Apple: also for a to-many, whose values are then all members.
    public let kind: Kind
    /// The value after the change, if `.new` is requested.
    public let newValue: Value?
    /// The value before the change, if `.old` is requested.
    public let oldValue: Value?
    /// The positions of members; always `nil`.
    public let indexes: IndexSet?
    /// Whether the change has not been made yet; `.prior` asks for such calls.
    public let isPrior: Bool
}

/// An observation of a property, which ends with this object.
///
///     let observation = item.observe(\.name, options: [.new]) { item, change in title = change.newValue ?? nil }
///     observation.invalidate()
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
    // Safe because the lock guards what ends it.
    private let lock = NSLock()
    private var end: (() -> Void)?

    init(_ end: @escaping () -> Void) { self.end = end }

    /// Ends the observation.
    public func invalidate() {
        let end = lock.withLock {
            defer { self.end = nil }
            return self.end
        }
        end?()
    }

    deinit { end?() }
}

/// Objects whose properties can be observed by key path: managed objects, migration managers and progress objects.
///
/// Differs from Apple: no other objects can be observed, since Swift does not report changes off Apple's platforms.
public protocol KeyValueObserving: AnyObject {}

/// The observers of properties of one object, by the object's names of its properties.
final class PropertyObservers<Name: Equatable>: @unchecked Sendable {
    // Safe because the lock guards the list; observers are called by the thread that changes the object.

    struct Observer {
        let name: Name
        let willChange: () -> Void
        /// Told whether it is certain that the property was set.
        let didChange: (_ isSet: Bool) -> Void
    }

    private let lock = NSLock()
    private var observers: [(number: Int, observer: Observer)] = []
    private var count = 0

    func add(_ observer: Observer) -> NSKeyValueObservation {
        let number = lock.withLock {
            count += 1
            observers.append((count, observer))
            return count
        }
        return NSKeyValueObservation { [weak self] in
            guard let self else { return }
            self.lock.withLock { self.observers.removeAll { $0.number == number } }
        }
    }

    /// Before the property changes; `nil` for all properties, of which some may.
    func willChange(_ name: Name?) {
        for observer in concerned(by: name) { observer.willChange() }
    }

    func didChange(_ name: Name?) {
        for observer in concerned(by: name) { observer.didChange(name != nil) }
    }

    private func concerned(by name: Name?) -> [Observer] {
        lock.withLock { observers.map(\.observer) }.filter { name == nil || $0.name == name }
    }
}

/// The values before changes that have begun.
private final class PendingValues<Value> {
    var values: [Value] = []
}

extension PropertyObservers.Observer {
    /// An observer that calls the handler, as the options say.
    init<Object: AnyObject, Value>(
        _ name: Name, of object: Object, _ options: NSKeyValueObservingOptions,
        reading value: @escaping (Object) -> Value,
        _ handler: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void
    ) {
        let pending = PendingValues<Value>()
        func change(_ old: Value?, _ new: Value?, isPrior: Bool = false) -> NSKeyValueObservedChange<Value> {
            NSKeyValueObservedChange(
                kind: .setting, newValue: options.contains(.new) ? new : nil,
                oldValue: options.contains(.old) ? old : nil, indexes: nil, isPrior: isPrior)
        }
        self.name = name
        willChange = { [weak object] in
            guard let object else { return }
            let old = value(object)
            pending.values.append(old)
            if options.contains(.prior) { handler(object, change(old, nil, isPrior: true)) }
        }
        didChange = { [weak object] isSet in
            guard let object else { return }
            let (old, new) = (pending.values.popLast(), value(object))
            if !isSet, let old = old as? AnyHashable, let new = new as? AnyHashable, old == new { return }
            handler(object, change(old, new))
        }
        if options.contains(.initial) { handler(object, change(nil, value(object))) }
    }
}
