import CoreDataSyncEngine
import Foundation

// Identifiers of a simulation come from its seed.
extension SyncOptions {
    /// A random ID of a replica: a UUID of version 4.
    func newDevice() -> DeviceID {
        DeviceID(
            high: random() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000, low: random() & 0x3FFF_FFFF_FFFF_FFFF | 1 << 63)
    }

    /// A random ID of an object.
    func newObject(now: UInt64) -> GlobalID {
        var numbers = RandomSource(make: random)
        return KeyIdentity.random(now: now, using: &numbers)
    }
}

/// Random numbers of a closure.
struct RandomSource: RandomNumberGenerator {
    let make: @Sendable () -> UInt64
    func next() -> UInt64 { make() }
}
