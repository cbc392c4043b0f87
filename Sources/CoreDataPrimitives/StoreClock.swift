import Foundation

/// The source of the current time for an engine and its contexts: the system's clock, or a clock that a test sets.
///
///     options.database.clock = StoreClock { 800_000_000 }      // seconds since 2001, as in rows
///
/// The transactions of a history, `now()` in predicates and derived attributes, and the age of cached rows use this
/// clock. Timeouts for locks and servers use the system's clock, because time passes while a thread sleeps.
package struct StoreClock: Hashable, Sendable {
    private final class Source: Sendable {
        let read: @Sendable () -> Double
        init(_ read: @escaping @Sendable () -> Double) { self.read = read }
    }

    /// `nil` for the system's clock.
    private let source: Source?

    private init(source: Source?) { self.source = source }

    /// Makes a clock whose time is the closure's result, in seconds since 2001.
    package init(_ now: @escaping @Sendable () -> Double) { self.init(source: Source(now)) }

    package static let system = StoreClock(source: nil)

    /// The current time, in seconds since 2001.
    package var now: Double {
        guard let source else { return Date().timeIntervalSinceReferenceDate }
        return source.read()
    }

    package static func == (one: StoreClock, other: StoreClock) -> Bool { one.source === other.source }

    package func hash(into hasher: inout Hasher) { hasher.combine(source.map(ObjectIdentifier.init)) }
}
