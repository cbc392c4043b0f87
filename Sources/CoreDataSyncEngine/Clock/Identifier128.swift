import Foundation

/// 128 bits that name a device or an object everywhere; ordered by their bytes.
package struct Identifier128: Hashable, Comparable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

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

    package static func < (a: Self, b: Self) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

extension Identifier128: CustomStringConvertible {
    package var description: String { uuid.uuidString.lowercased() }
}

/// The name of one replica: of one store on one device, since its last start as a copy or from a backup.
package typealias DeviceID = Identifier128

/// The name of an object on all devices.
package typealias GlobalID = Identifier128
