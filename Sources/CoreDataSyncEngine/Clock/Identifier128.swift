import Foundation

/// 128 bits that name a device or an object everywhere; ordered by their bytes.
///
/// Its comparisons are inlined: each look at a table of objects makes some.
@usableFromInline
package struct Identifier128: Hashable, Comparable, Sendable {
    @usableFromInline package let high: UInt64
    @usableFromInline package let low: UInt64

    @inlinable package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    package init(_ uuid: UUID) {
        var bytes = uuid.uuid
        (high, low) = withUnsafeBytes(of: &bytes) {
            (
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    package var uuid: UUID {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) {
            $0.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
            $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: bytes)
    }

    @inlinable package static func == (a: Self, b: Self) -> Bool { a.high == b.high && a.low == b.low }
    @inlinable package static func < (a: Self, b: Self) -> Bool {
        a.high == b.high ? a.low < b.low : a.high < b.high
    }

    @inlinable package func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
    }
}

extension Identifier128: CustomStringConvertible {
    @usableFromInline package var description: String { uuid.uuidString.lowercased() }
}

/// The name of one replica: of one store on one device, since its last start as a copy or from a backup.
@usableFromInline package typealias DeviceID = Identifier128

/// The name of an object on all devices.
@usableFromInline package typealias GlobalID = Identifier128
