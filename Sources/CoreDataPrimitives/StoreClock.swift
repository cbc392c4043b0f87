import Foundation

/// Where an engine and the contexts above it take the time of day from: the system's clock, or one that a test sets.
///
///     options.database.clock = StoreClock { 800_000_000 }      // seconds since 2001, as in rows
///
/// What a store records has its time from here: transactions of a history, `now()` in predicates and derived attributes, the age of cached
/// rows. How long a thread waits for a lock or a server has not.
package struct StoreClock: Hashable, Sendable {
    private final class Source: Sendable {
        let read: @Sendable () -> Double
        init(_ read: @escaping @Sendable () -> Double) { self.read = read }
    }

    /// `nil` for the system's clock.
    private let source: Source?

    private init(source: Source?) { self.source = source }

    /// A clock that says what the closure does, in seconds since 2001.
    package init(_ now: @escaping @Sendable () -> Double) { self.init(source: Source(now)) }

    package static let system = StoreClock(source: nil)

    /// The time of day, in seconds since 2001.
    package var now: Double {
        guard let source else { return Date().timeIntervalSinceReferenceDate }
        return source.read()
    }

    package static func == (one: StoreClock, other: StoreClock) -> Bool { one.source === other.source }

    package func hash(into hasher: inout Hasher) { hasher.combine(source.map(ObjectIdentifier.init)) }
}
