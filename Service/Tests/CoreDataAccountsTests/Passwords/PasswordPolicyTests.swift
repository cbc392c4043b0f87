import Foundation
import Testing

@testable import CoreDataAccounts

@Suite struct PasswordPolicyTests {
    static let acceptable = [
        "a lamp under the stairs", "correct horse battery staple", "Tr0ub4dor&3 was a bad idea",
        "zwölf Boxkämpfer jagen",
        "パスワードではないものは何ですか", "xK9#mQ2$vL7@nR4!", "8153629407182635", "            a b c d", "🚲🌧️🧦🫖🪟🐌🎺🧊🪑🔭🧲🫧🪁🎒🛶",
        "$&%)(/&!=?*+#-_;.",
    ]

    @Test(arguments: acceptable) func longAndUnrelatedIsAcceptable(_ password: String) throws {
        try PasswordPolicy(AccountSettings()).check(password, name: "ann", email: nil)
    }

    static let common = [
        "passwordpassword", "Password12345678", "P4$$w0rd!P4$$w0rd!", "aaaaaaaaaaaaaaaaaaaa", "abababababababab",
        "qwertyuiopasdfgh", "123456789012345", "abcdefghijklmnop", "iloveyou iloveyou", "letmein-letmein-2024",
        "annannannannannann", "ann_password_2024", "grocerycloud2025", "example.com-ann1", "zyxwvutsrqponmlk",
        "SummerSunshine1999", "monkeymonkey12345", "!!!password!!!!!!!", "111111222222333333",
    ]

    @Test(arguments: common) func easyToGuessIsRefused(_ password: String) throws {
        var settings = AccountSettings()
        settings.serviceWords = ["Grocery Cloud"]
        let policy = try PasswordPolicy(settings)
        #expect(throws: AccountError.passwordTooCommon) {
            try policy.check(password, name: "Ann", email: "ann@example.com")
        }
    }

    @Test func lengthsAreCountedInCharactersOfUnicode() throws {
        let policy = try PasswordPolicy(AccountSettings())
        #expect(throws: AccountError.passwordTooShort(minimum: 15)) {
            try policy.check("é lamp is out!", name: "ann", email: nil)
        }
        try policy.check("é lamp is out!?", name: "ann", email: nil)
        let long = String((0..<128).map { Character(Unicode.Scalar(UInt8(33 + ($0 * 37) % 90))) })
        try policy.check(long, name: "ann", email: nil)
        #expect(throws: AccountError.passwordTooLong(maximum: 128)) {
            try policy.check(long + "x", name: "ann", email: nil)
        }
        #expect(throws: AccountError.passwordTooLong(maximum: 128)) {
            try policy.check(String(repeating: "long ", count: 1_000_000), name: "ann", email: nil)
        }
    }

    @Test func settingsCannotGoBelowTheStandard() throws {
        var settings = AccountSettings()
        (settings.minimumPasswordLength, settings.maximumPasswordLength) = (1, 10)
        let policy = try PasswordPolicy(settings)
        #expect(policy.minimum == 8)
        #expect(policy.maximum == 64)
    }

    @Test func controlCharactersAreRefused() throws {
        let policy = try PasswordPolicy(AccountSettings())
        #expect(throws: AccountError.passwordInvalid) {
            try policy.check("a lamp under\u{0} the stairs", name: "ann", email: nil)
        }
    }

    @Test func fileAddsPasswords() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("common-\(UUID())")
        try Data("one of many songs\nzwei zarte Zicklein\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var settings = AccountSettings()
        settings.commonPasswords = file
        let policy = try PasswordPolicy(settings)
        #expect(throws: AccountError.passwordTooCommon) {
            try policy.check("Zwei zarte Zicklein", name: "ann", email: nil)
        }
        settings.commonPasswords = URL(fileURLWithPath: "/nowhere")
        #expect(throws: AccountError.self) { try PasswordPolicy(settings) }
    }
}
