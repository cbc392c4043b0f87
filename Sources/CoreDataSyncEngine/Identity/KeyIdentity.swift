import CoreDataDigests
import Foundation

/// IDs of objects that are the same on all devices.
package enum KeyIdentity {
    /// The ID of an object by its key: a UUID of version 8 from the SHA-256 of the name of the entity that
    /// declares the key and the values.
    ///
    /// Text is normalised to NFC; case and white space count. 0 and -0 are one number. A caller gives an object of
    /// which a value is `nil` a ``random(now:using:)`` ID instead: objects without a key are not one object.
    package static func id(entity: String, values: [SyncValue]) -> GlobalID {
        var writer = ByteWriter()
        // Tells these digests apart from all others.
        writer.string("OCDS key 1")
        writer.string(entity.precomposedStringWithCanonicalMapping)
        writer.varint(values.count)
        for value in values { normalised(value).write(to: &writer) }
        var digest = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        withUnsafeMutableBytes(of: &digest) { Digests.sha256(writer.bytes, into: $0) }
        return versioned(8, high: UInt64(bigEndian: digest.0), low: UInt64(bigEndian: digest.1))
    }

    /// A new ID: a UUID of version 7, so that IDs of one time are neighbours in indexes.
    ///
    /// - Parameter now: milliseconds since 2001-01-01 UTC.
    package static func random(now: UInt64, using generator: inout some RandomNumberGenerator) -> GlobalID {
        // Version 7 counts from 1970.
        let milliseconds = now &+ 978_307_200_000
        return versioned(
            7, high: milliseconds << 16 | UInt64.random(in: 0...0xfff, using: &generator), low: generator.next())
    }

    /// A new ID directly after another one, so that many new IDs are written in the order of their index; `nil` where
    /// none is left of the same time.
    ///
    /// - Parameter step: a random number.
    package static func next(after id: GlobalID, step: UInt32) -> GlobalID? {
        let low = (id.low & ~(3 << 62)) + UInt64(step) + 1
        if low >> 62 == 0 { return versioned(7, high: id.high, low: low) }
        guard id.high & 0xfff < 0xfff else { return nil }
        return versioned(7, high: id.high + 1, low: low)
    }

    /// The ID that the object with primary key 0 of a transaction would have: a UUID of version 7 from the SHA-256 of
    /// the seed, the transaction and the root entity. ``member(_:of:)`` has those of the other keys.
    ///
    /// - Parameters:
    ///   - seed: what devices with a common past have in common; copies of a device have the same.
    ///   - time: the bits of the transaction's time; copies of a device may each have a transaction of that number.
    package static func transaction(
        _ number: Int64, time: UInt64, milliseconds: UInt64, root: String, seed: Identifier128
    ) -> GlobalID {
        var writer = ByteWriter()
        writer.string("OCDS transaction 1")
        writer.identifier(seed)
        writer.signed(number)
        writer.fixed64(time)
        writer.string(root.precomposedStringWithCanonicalMapping)
        var digest = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        withUnsafeMutableBytes(of: &digest) { Digests.sha256(writer.bytes, into: $0) }
        let high = (milliseconds &+ 978_307_200_000) << 16 | UInt64(bigEndian: digest.0) & 0xfff
        // Keys have 48 bits: a sum stays below the bits of the variant.
        return versioned(7, high: high, low: UInt64(bigEndian: digest.1) >> 3)
    }

    /// The ID of the object with that primary key; `nil` for a key that does not fit.
    package static func member(_ key: Int64, of transaction: GlobalID) -> GlobalID? {
        guard key >= 0, key >> 48 == 0 else { return nil }
        return versioned(7, high: transaction.high, low: (transaction.low & ~(3 << 62)) + UInt64(key))
    }

    private static func normalised(_ value: SyncValue) -> SyncValue {
        switch value {
        case .string(let text): .string(text.precomposedStringWithCanonicalMapping)
        case .double(let bits) where bits == 1 << 63: .double(0)
        case .date(let bits) where bits == 1 << 63: .date(0)
        default: value
        }
    }

    /// Sets the bits by which UUIDs tell their version and their variant.
    private static func versioned(_ version: UInt64, high: UInt64, low: UInt64) -> GlobalID {
        GlobalID(
            high: high & ~0xf000 | version << 12, low: low & ~(3 << 62) | 2 << 62)
    }
}
