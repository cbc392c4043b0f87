import CCrypto
import Foundation

/// Computes the SHA-256 of a stream of bytes.
package final class DigestStream {
    private let context: OpaquePointer?

    package init() {
        context = EVP_MD_CTX_new()
        EVP_DigestInit_ex(context, EVP_sha256(), nil)
    }

    deinit { EVP_MD_CTX_free(context) }

    package func add(_ bytes: Data) {
        bytes.withUnsafeBytes { _ = EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    }

    /// Returns the digest; no bytes can be added afterwards.
    package func finish() -> Data {
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_DigestFinal_ex(context, &digest, nil)
        return Data(digest)
    }

    /// Returns the digest of a file, which is read in pieces.
    package static func sha256(of file: URL) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        let stream = DigestStream()
        while let piece = try handle.read(upToCount: 1 << 20), !piece.isEmpty { stream.add(piece) }
        return stream.finish()
    }
}
