import Synchronization

/// A number that any thread may raise.
final class Counter: Sendable {
    private let number = Atomic(0)
    var value: Int { number.load(ordering: .relaxed) }
    @discardableResult func add() -> Int { number.add(1, ordering: .relaxed).newValue }
}
