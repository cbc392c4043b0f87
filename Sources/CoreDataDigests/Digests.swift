import CCrypto
import Foundation

/// Computes digests of bytes in memory.
package enum Digests {
    /// Writes the 32 bytes of a SHA-256.
    package static func sha256(_ input: [UInt8], into output: UnsafeMutableRawBufferPointer) {
        precondition(output.count == 32)
        var context = SHA256_CTX()
        SHA256_Init(&context)
        SHA256_Update(&context, input, input.count)
        SHA256_Final(output.bindMemory(to: UInt8.self).baseAddress, &context)
    }

    package static func sha256(_ input: Data) -> Data {
        var digest = Data(count: 32)
        digest.withUnsafeMutableBytes { sha256(Array(input), into: $0) }
        return digest
    }

    package static func sha512(_ input: Data) -> Data {
        var digest = [UInt8](repeating: 0, count: Int(SHA512_DIGEST_LENGTH))
        input.withUnsafeBytes { bytes in
            _ = SHA512(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &digest)
        }
        return Data(digest)
    }

    /// Returns the HMAC-SHA-256 of a message, which only a holder of the key can compute.
    package static func hmac(_ message: Data, key: Data) -> Data {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 32
        key.withUnsafeBytes { key in
            message.withUnsafeBytes { message in
                _ = HMAC(
                    EVP_sha256(), key.baseAddress, Int32(key.count), message.bindMemory(to: UInt8.self).baseAddress,
                    message.count, &digest, &count)
            }
        }
        return Data(digest)
    }

    /// Returns the bytes as lower-case hexadecimal digits.
    package static func hex(_ bytes: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
