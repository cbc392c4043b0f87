/// When and where a value was written: a hybrid logical time and the device, ordered by both.
///
/// Two writes that know nothing of each other are ordered by their clocks; a write that has seen another one is always
/// later, whatever the clock of its device shows.
@usableFromInline
package struct Stamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 2001-01-01 UTC in the upper 48 bits, a counter in the lower 16.
    @usableFromInline package let ticks: UInt64
    @usableFromInline package let device: DeviceID

    @inlinable package init(ticks: UInt64, device: DeviceID) { (self.ticks, self.device) = (ticks, device) }

    @inlinable package static func == (a: Self, b: Self) -> Bool { a.ticks == b.ticks && a.device == b.device }
    @inlinable package static func < (a: Self, b: Self) -> Bool {
        a.ticks == b.ticks ? a.device < b.device : a.ticks < b.ticks
    }

    /// The wall-clock time of the device that wrote the value, in milliseconds since 2001-01-01 UTC.
    package var milliseconds: UInt64 { ticks >> 16 }

    /// Whether the value existed before its store was attached: older than every edit since.
    package var isSeed: Bool { ticks < Self.firstEdit }

    /// The ticks below this one are for what existed before; see ``SeedAge``.
    package static let firstEdit: UInt64 = 1 << 16
}

/// How values that existed before a store was attached compare with those of other devices that did.
package enum SeedAge: UInt64, Sendable {
    /// Loses against the values of the other devices.
    case yielding = 1
    /// The device with the greater ID wins.
    case even = 2
    /// Wins against the values of the other devices that existed before.
    case prevailing = 3

    package func stamp(_ device: DeviceID) -> Stamp { Stamp(ticks: rawValue, device: device) }
}
