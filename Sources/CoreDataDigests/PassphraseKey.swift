import CCrypto
import Foundation

/// A key that is derived from a passphrase with scrypt (RFC 7914), which needs memory, so that guessing is slow.
package enum PassphraseKey {
    /// What one derivation costs: about `128 * blockSize << costBits` bytes of memory.
    package struct Cost: Hashable, Sendable {
        /// The logarithm of the cost parameter N.
        package var costBits: UInt8
        /// r.
        package var blockSize: UInt8
        /// p.
        package var parallelism: UInt8

        package init(costBits: UInt8, blockSize: UInt8, parallelism: UInt8) {
            (self.costBits, self.blockSize, self.parallelism) = (costBits, blockSize, parallelism)
        }

        /// 64 MiB, two times one after the other.
        package static let usual = Cost(costBits: 16, blockSize: 8, parallelism: 2)

        /// Whether a cost that was read from a file is neither weak nor more than a device has memory for.
        package var isAcceptable: Bool {
            (10...20).contains(costBits) && (8...32).contains(blockSize) && (1...16).contains(parallelism)
                && memory <= Self.greatestMemory
        }

        fileprivate var memory: UInt64 { 128 * UInt64(blockSize) << UInt64(costBits) }
        fileprivate static let greatestMemory: UInt64 = 1 << 29
    }

    /// Derives a key; `nil` if there is too little memory for it, or the cost is not acceptable.
    package static func derive(passphrase: String, salt: Data, cost: Cost, count: Int) -> Data? {
        guard cost.isAcceptable else { return nil }
        let text = [UInt8](passphrase.precomposedStringWithCanonicalMapping.utf8)
        var key = [UInt8](repeating: 0, count: count)
        let isDerived = text.withUnsafeBytes { text in
            salt.withUnsafeBytes { salt in
                EVP_PBE_scrypt(
                    text.bindMemory(to: CChar.self).baseAddress, text.count,
                    salt.bindMemory(to: UInt8.self).baseAddress, salt.count, 1 << UInt64(cost.costBits),
                    UInt64(cost.blockSize), UInt64(cost.parallelism), cost.memory + 1 << 24, &key, count)
            }
        }
        return isDerived == 1 ? Data(key) : nil
    }
}
