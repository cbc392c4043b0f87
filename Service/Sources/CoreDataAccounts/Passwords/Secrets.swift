import CPasswords
import Foundation

/// Random tokens, digests and comparisons, by libcrypto.
enum Secrets {
    /// Returns random bytes.
    ///
    /// - Throws: an error if the system has no randomness to give.
    static func randomBytes(_ count: Int) throws(AccountError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard RAND_bytes(&bytes, Int32(count)) == 1 else {
            throw AccountError.storeFailed(message: "the system's random number generator failed; restart the service")
        }
        return bytes
    }

    /// Returns a new token: 256 random bits as 43 characters that need no escaping in URLs, headers and cookies.
    static func makeToken() throws(AccountError) -> String {
        let text = Data(try randomBytes(32)).base64EncodedString()
        return text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// Returns the digest under which a token is stored; `nil` for a text that is no token.
    static func digest(ofToken token: String) -> Data? {
        guard token.utf8.count == 43,
            token.utf8.allSatisfy({
                switch $0 {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            })
        else { return nil }
        return sha256(Array(token.utf8))
    }

    /// Returns the SHA-256.
    static func sha256(_ bytes: [UInt8]) -> Data {
        var digest = [UInt8](repeating: 0, count: 32)
        SHA256(bytes, bytes.count, &digest)
        return Data(digest)
    }

    /// Compares in a time that does not depend on the content.
    static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
