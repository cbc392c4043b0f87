/// The clock of one device: never runs backwards, and never behind a time that the device has seen.
///
/// A value: its owner keeps `last` with what it stamps, in one transaction.
package struct HybridClock: Hashable, Sendable {
    /// The last time that was given out or seen.
    package private(set) var last: UInt64
    package let device: DeviceID

    /// How far ahead of this device's clock another one may be before its times are refused: a day, in milliseconds.
    package static let tolerance: UInt64 = 86_400_000

    package init(device: DeviceID, last: UInt64 = Stamp.firstEdit) {
        self.device = device
        self.last = max(last, Stamp.firstEdit)
    }

    /// The time of a new write.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 2001-01-01 UTC as the system shows them.
    ///   - salt: a random number: a copy of the device that writes in the same millisecond has another one.
    package mutating func next(now: UInt64, salt: UInt16 = 0) -> Stamp {
        last = max(last + 1, min(now, UInt64.max >> 16) << 16 | UInt64(salt & 0x7FFF))
        return Stamp(ticks: last, device: device)
    }

    /// Takes note of a time that another device wrote, so that later writes here come after it.
    ///
    /// - Returns: whether the time was believed. A time that is more than ``tolerance`` ahead is not: all writes here
    ///   would follow it.
    package mutating func observe(_ stamp: Stamp, now: UInt64) -> Bool {
        guard stamp.milliseconds <= now &+ Self.tolerance else { return false }
        last = max(last, stamp.ticks)
        return true
    }
}
