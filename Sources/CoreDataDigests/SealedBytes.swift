import CCrypto
import Foundation

/// Bytes that are encrypted and authenticated by AES-256 in Galois/Counter Mode.
///
///     nonce (12 bytes) | as many bytes as the text has | tag (16 bytes)
package enum SealedBytes {
    /// The number of bytes that sealing adds.
    package static let overhead = nonceLength + tagLength
    /// The number of bytes of a key.
    package static let keyLength = 32
    private static let nonceLength = 12
    private static let tagLength = 16

    /// Seals bytes with a random nonce.
    ///
    /// - Parameter associated: bytes that are not in the result, but must be the same when it is opened.
    /// - Returns: `nil` if the library refuses, or the key has another length.
    package static func seal(_ text: Data, key: Data, associated: Data) -> Data? {
        guard key.count == keyLength, text.count <= Int32.max, associated.count <= Int32.max else { return nil }
        var random = SystemRandomNumberGenerator()
        let nonce = (0..<nonceLength).map { _ in UInt8.random(in: 0...255, using: &random) }
        guard let context = CipherContext() else { return nil }
        var result = Data(count: overhead + text.count)
        let isSealed = result.withUnsafeMutableBytes { result in
            result.copyBytes(from: nonce)
            let output = result.bindMemory(to: UInt8.self)
            guard let start = output.baseAddress?.advanced(by: nonceLength),
                context.begin(isSealing: true, key: key, nonce: nonce),
                context.update(associated, into: nil), context.update(text, into: start),
                context.finish(start + text.count)
            else { return false }
            return context.control(EVP_CTRL_AEAD_GET_TAG, tagLength, start + text.count)
        }
        return isSealed ? result : nil
    }

    /// Opens sealed bytes; `nil` if they were not sealed with this key and these associated bytes, or were changed.
    package static func open(_ sealed: Data, key: Data, associated: Data) -> Data? {
        guard key.count == keyLength, sealed.count >= overhead, sealed.count <= Int32.max,
            associated.count <= Int32.max, let context = CipherContext()
        else { return nil }
        let nonce = [UInt8](sealed.prefix(nonceLength))
        let text = sealed.dropFirst(nonceLength).dropLast(tagLength)
        var tag = [UInt8](sealed.suffix(tagLength))
        // One byte more, so that an empty text has an address, too.
        var result = [UInt8](repeating: 0, count: text.count + 1)
        let isOpened = result.withUnsafeMutableBufferPointer { output in
            guard let start = output.baseAddress, context.begin(isSealing: false, key: key, nonce: nonce),
                context.update(associated, into: nil), context.update(text, into: start),
                tag.withUnsafeMutableBufferPointer({ context.control(EVP_CTRL_AEAD_SET_TAG, tagLength, $0.baseAddress) }
                )
            else { return false }
            return context.finish(start + text.count)
        }
        return isOpened ? Data(result.dropLast()) : nil
    }
}

/// A cipher's state, freed with the value.
private final class CipherContext {
    private let context: OpaquePointer

    init?() {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        self.context = context
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// The nonce of 12 bytes is the length that the mode has without being asked.
    func begin(isSealing: Bool, key: Data, nonce: [UInt8]) -> Bool {
        key.withUnsafeBytes { key in
            EVP_CipherInit_ex(
                context, EVP_aes_256_gcm(), nil, key.bindMemory(to: UInt8.self).baseAddress, nonce, isSealing ? 1 : 0)
        } == 1
    }

    /// Adds bytes: to the text, or to the associated bytes if there is no output.
    func update(_ bytes: Data, into output: UnsafeMutablePointer<UInt8>?) -> Bool {
        if bytes.isEmpty { return true }
        var count: Int32 = 0
        return bytes.withUnsafeBytes { bytes in
            EVP_CipherUpdate(
                context, output, &count, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count))
        } == 1
    }

    /// Ends the text; when opening, whether the tag is right. Writes nothing in this mode.
    func finish(_ output: UnsafeMutablePointer<UInt8>) -> Bool {
        var count: Int32 = 0
        return EVP_CipherFinal_ex(context, output, &count) == 1
    }

    func control(_ kind: Int32, _ count: Int, _ bytes: UnsafeMutablePointer<UInt8>?) -> Bool {
        EVP_CIPHER_CTX_ctrl(context, kind, Int32(count), bytes) == 1
    }
}
