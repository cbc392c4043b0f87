import CPasswords
import Foundation

/// A stored password: the parameters of scrypt, the salt and the key, as a PHC string.
///
///     $scrypt$ln=17,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$…
struct PasswordDigest: Hashable, Sendable {
    let cost: PasswordCost
    let salt: [UInt8]
    let key: [UInt8]

    private static let saltLength = 16
    private static let keyLength = 32

    init(cost: PasswordCost, salt: [UInt8], key: [UInt8]) { (self.cost, self.salt, self.key) = (cost, salt, key) }

    /// Computes the digest of a password with a new salt.
    init(of password: String, cost: PasswordCost) throws(AccountError) {
        let salt = try Secrets.randomBytes(Self.saltLength)
        self.init(cost: cost, salt: salt, key: try Self.derive(password, salt, cost))
    }

    /// A digest that no password has, for tries with unknown names: checking it takes as long as any other.
    static func unmatchable(cost: PasswordCost) -> PasswordDigest {
        PasswordDigest(cost: cost, salt: [UInt8](repeating: 0, count: saltLength), key: [])
    }

    /// Returns whether the password is the one of the digest.
    func matches(_ password: String) throws(AccountError) -> Bool {
        Secrets.areEqual(try Self.derive(password, salt, cost), key)
    }

    private static func derive(
        _ password: String, _ salt: [UInt8], _ cost: PasswordCost
    ) throws(AccountError) -> [UInt8] {
        let text = PasswordPolicy.normalised(password).utf8.map { CChar(bitPattern: $0) }
        var key = [UInt8](repeating: 0, count: keyLength)
        let isDerived = EVP_PBE_scrypt(
            text, text.count, salt, salt.count, 1 << UInt64(cost.costBits), UInt64(cost.blockSize),
            UInt64(cost.parallelism), cost.memory + 1 << 24, &key, key.count)
        guard isDerived == 1 else {
            throw AccountError.storeFailed(
                message: "scrypt failed, for lack of \(cost.memory >> 20) MiB of memory or for a wrong cost")
        }
        return key
    }
}

extension PasswordDigest {
    /// The text that is stored.
    var text: String {
        "$scrypt$ln=\(cost.costBits),r=\(cost.blockSize),p=\(cost.parallelism)$\(Self.base64(salt))$\(Self.base64(key))"
    }

    /// Reads a stored text; `nil` if it is none, or has parameters that would use up the memory.
    init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt", let salt = Self.bytes(parts[3]),
            let key = Self.bytes(parts[4]), key.count == Self.keyLength
        else { return nil }
        let numbers = parts[2].split(separator: ",").map { $0.split(separator: "=") }
        guard numbers.count == 3, numbers.allSatisfy({ $0.count == 2 }), numbers.map(\.[0]) == ["ln", "r", "p"],
            let costBits = Int(numbers[0][1]), let blockSize = Int(numbers[1][1]), let parallelism = Int(numbers[2][1]),
            (1...64).contains(costBits), (1...64).contains(blockSize), (1...64).contains(parallelism)
        else { return nil }
        let cost = PasswordCost(costBits: costBits, blockSize: blockSize, parallelism: parallelism)
        guard cost.isAcceptable else { return nil }
        self.init(cost: cost, salt: salt, key: key)
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "=", with: "")
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        Data(base64Encoded: text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)).map { [UInt8]($0) }
    }
}
