import CoreDataSyncEngine
import Foundation

/// Short digests of an object's values, by which a full comparison finds what changed since the last capture.
///
/// 4 bytes that stand for the names of the entity's exchanged values, then 4 for each value. Two values have one digest
/// by chance once in 4 thousand million. Counters, minima, maxima, positions and pairs have none: the states know their
/// values.
package struct ValueDigests: Hashable, Sendable {
    package private(set) var bytes: [UInt8]

    /// Digests of no values, all unknown until they are set.
    package init(_ entity: SyncEntity) {
        bytes = [UInt8](repeating: 0, count: 4 * (entity.values.count + 1))
        store(Self.signature(entity), at: 0)
    }

    /// The digests that an entry has; `nil` for none, and for those of other properties.
    package init?(_ data: Data?, _ entity: SyncEntity) {
        guard let data, data.count == 4 * (entity.values.count + 1) else { return nil }
        bytes = [UInt8](data)
        guard load(0) == Self.signature(entity) else { return nil }
    }

    package var data: Data { Data(bytes) }

    package subscript(number: Int) -> UInt32 {
        get { load(4 * (number + 1)) }
        set { store(newValue, at: 4 * (number + 1)) }
    }

    private func load(_ offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    }

    private mutating func store(_ value: UInt32, at offset: Int) {
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
        }
    }

    private static func signature(_ entity: SyncEntity) -> UInt32 { entity.signature }

    // MARK: Digests

    /// Of one value; never 0.
    package static func digest(_ value: SyncValue) -> UInt32 {
        let hash: UInt64 =
            switch value {
            case .null: 1
            case .integer(let number): mix(seed(2), UInt64(bitPattern: number))
            case .double(let bits): mix(seed(3), bits)
            case .date(let bits): mix(seed(4), bits)
            case .string(let text): digest(seed(5), text)
            case .uri(let text): digest(seed(6), text)
            case .decimal(let text): digest(seed(7), text)
            case .data(let data): data.withUnsafeBytes { digest(seed(8), $0) }
            case .uuid(let id): mix(mix(seed(9), id.high), id.low)
            case .reference(let id): mix(mix(seed(10), id.high), id.low)
            case .blob(let digest, let size): digest.withUnsafeBytes { self.digest(mix(seed(11), UInt64(size)), $0) }
            case .stored: 12
            }
        let folded = UInt32(truncatingIfNeeded: hash ^ hash >> 32)
        return folded == 0 ? 1 : folded
    }

    /// A start for each kind of value, so that equal bits of two kinds differ.
    private static func seed(_ kind: UInt64) -> UInt64 { mix(0x2545_F491_4F6C_DD1D, kind) }

    static func digest(_ seed: UInt64, _ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { digest(seed, UnsafeRawBufferPointer($0)) }
    }

    private static func digest(_ seed: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = mix(seed, UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = mix(hash, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return mix(hash, rest)
    }

    @inline(__always)
    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        var mixed = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        mixed ^= mixed >> 29
        mixed &*= 0xBF58_476D_1CE4_E5B9
        return mixed ^ mixed >> 32
    }
}

extension SyncEntity {
    /// What digests of values of this entity begin with.
    static func signature(of values: [SyncProperty]) -> UInt32 {
        let hash = values.reduce(UInt64(1)) { ValueDigests.digest($0, $1.name) }
        return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    }
}
