import Foundation

/// Decides which passwords are acceptable. Characters of all kinds are; only length and what is easy to guess count.
struct PasswordPolicy: Sendable {
    let minimum: Int
    let maximum: Int
    private let serviceWords: [String]
    private let refused: Set<String>

    /// - Throws: an error if the file of common passwords cannot be read.
    init(_ settings: AccountSettings) throws(AccountError) {
        minimum = max(8, settings.minimumPasswordLength)
        maximum = max(64, minimum, settings.maximumPasswordLength)
        serviceWords = settings.serviceWords
        refused = try Self.passwords(in: settings.commonPasswords)
    }

    private static func passwords(in file: URL?) throws(AccountError) -> Set<String> {
        guard let file else { return [] }
        do {
            let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            return Set(text.split(whereSeparator: \.isNewline).map { normalised(String($0)).lowercased() })
        } catch {
            throw AccountError.storeFailed(
                message: "the file '\(file.path)' of common passwords cannot be read: \(error.localizedDescription)")
        }
    }

    /// Returns the text that is hashed, by the profile OpaqueString of RFC 8265: other spaces become U+0020, and
    /// characters are composed (NFC). So a password is the same on every keyboard. Nothing is cut, and case counts.
    static func normalised(_ password: String) -> String {
        let scalars = password.unicodeScalars.map { $0.properties.generalCategory == .spaceSeparator ? " " : $0 }
        return String(String.UnicodeScalarView(scalars)).precomposedStringWithCanonicalMapping
    }

    /// Throws unless the password is acceptable for an account with that name and address.
    func check(_ password: String, name: String, email: String?) throws(AccountError) {
        // Before anything is computed from a text of any length.
        guard password.utf8.count <= 16 * maximum else { throw AccountError.passwordTooLong(maximum: maximum) }
        let text = Self.normalised(password)
        let count = text.unicodeScalars.count
        guard count >= minimum else { throw AccountError.passwordTooShort(minimum: minimum) }
        guard count <= maximum else { throw AccountError.passwordTooLong(maximum: maximum) }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw AccountError.passwordInvalid
        }
        let words = serviceWords + [name] + (email?.split(separator: "@").map(String.init) ?? [])
        guard !refused.contains(text.lowercased()), !GuessablePassword(words: words).isGuessable(text) else {
            throw AccountError.passwordTooCommon
        }
    }

    /// Whether a password can be the one of any account. A longer one cannot, and is not computed.
    func canExist(_ password: String) -> Bool { password.utf8.count <= 16 * maximum }
}
