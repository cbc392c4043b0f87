import CoreDataAccounts
import Foundation
import Testing

@testable import CoreDataService

@Suite struct MailTests {
    private static let page = URL(fileURLWithPath: "/")
    private static let text = MailText(
        sender: "Groceries <no-reply@example.com>", service: "Groceries",
        page: URL(string: "https://example.com/links") ?? page)

    /// Has an account request messages, which a command writes to files; returns the messages.
    private static func messages(
        _ command: String, patience: Duration = .seconds(30), _ text: MailText = text,
        _ body: (Accounts, Client) async throws -> Void
    ) async throws -> (messages: [String], failures: Int) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mail-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = AccountSettings()
        settings.passwordCost = PasswordCost(costBits: 4, blockSize: 1, parallelism: 1)
        let accounts = try Accounts(
            at: folder.appendingPathComponent("accounts.sqlite"), settings: settings,
            delivery: MailCommand(command.replacing("FOLDER", with: folder.path), text: text, patience: patience))
        let client = Client(address: "192.0.2.1")
        let administrator = try await accounts.signUp(
            name: "root", password: "a lamp under the stairs", from: client
        ).account.id
        try await body(accounts, client)
        await accounts.finishDeliveries()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("mail.") }
        let messages = try files.sorted().map {
            try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
        }
        let failures = try await accounts.events(by: administrator).filter { $0.kind == .deliveryFailed }.count
        await accounts.close()
        return (messages, failures)
    }

    private static func content(_ message: String) -> String {
        let parts = message.split(separator: "\n\n", maxSplits: 1)
        let base = parts.count == 2 ? parts[1].replacing("\n", with: "") : ""
        return Data(base64Encoded: String(base)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    @Test func linksComeThroughTheCommand() async throws {
        let (messages, failures) = try await Self.messages(
            "cat > 'FOLDER/mail.'$(date +%s%N); test \"$MAIL_TO\" = ann@example.com"
        ) { accounts, client in
            _ = try await accounts.signUp(
                name: "ann", password: "a lamp under the stairs", email: "ann@example.com", from: client)
        }
        let message = try #require(messages.first)
        #expect(messages.count == 1 && failures == 0)
        #expect(
            message.hasPrefix("From: Groceries <no-reply@example.com>\nTo: <ann@example.com>\nSubject: Confirm your"))
        #expect(message.contains("\nAuto-Submitted: auto-generated\n"))
        #expect(Self.content(message).contains(/https:\/\/example\.com\/links#email=[A-Za-z0-9_-]{43}\n/))
    }

    /// The token of a message sets the password.
    @Test func theLinkOfAMessageWorks() async throws {
        let mailbox = FileManager.default.temporaryDirectory.appendingPathComponent("mailbox-\(UUID())")
        defer { try? FileManager.default.removeItem(at: mailbox) }
        _ = try await Self.messages("cat > '\(mailbox.path)'") { accounts, client in
            func token(_ purpose: String) async throws -> String {
                await accounts.finishDeliveries()
                let text = Self.content(try String(contentsOf: mailbox, encoding: .utf8))
                return text.firstRange(of: "#\(purpose)=").map { String(text[$0.upperBound...].prefix(43)) } ?? ""
            }
            _ = try await accounts.signUp(
                name: "ann", password: "a lamp under the stairs", email: "ann@example.com", from: client)
            try await accounts.confirmEmail(token: try await token("email"), from: client)
            try await accounts.requestPasswordReset(name: "ann", from: client)
            try await accounts.resetPassword(
                token: try await token("password"), to: "another lamp upstairs", from: client)
            #expect(
                try await accounts.signIn(name: "ann", password: "another lamp upstairs", from: client).account.name
                    == "ann")
        }
    }

    @Test(arguments: ["exit 3", "/nonexistent/sendmail", "cat > /dev/null; kill -9 $$"])
    func aCommandThatFailsIsRecorded(_ command: String) async throws {
        let (_, failures) = try await Self.messages(command) { accounts, client in
            _ = try await accounts.signUp(
                name: "ann", password: "a lamp under the stairs", email: "ann@example.com", from: client)
        }
        #expect(failures == 1)
    }

    @Test func aCommandThatHangsIsEnded() async throws {
        let (_, failures) = try await Self.messages("exec sleep 600", patience: .milliseconds(200)) {
            accounts, client in
            _ = try await accounts.signUp(
                name: "ann", password: "a lamp under the stairs", email: "ann@example.com", from: client)
        }
        #expect(failures == 1)
    }

    @Test func otherCharactersAreEncoded() async throws {
        let text = MailText(
            sender: "no-reply@example.com", service: "Épicerie générale de la grande maison au bord du lac",
            page: Self.page)
        let (messages, _) = try await Self.messages("cat > 'FOLDER/mail.1'", text) { accounts, client in
            _ = try await accounts.signUp(
                name: "ann", password: "a lamp under the stairs", email: "ann@example.com", from: client)
        }
        let message = try #require(messages.first)
        #expect(message.utf8.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
        #expect(message.split(separator: "\n").allSatisfy { $0.utf8.count <= 78 })
        #expect(Self.content(message).contains("Épicerie générale"))
    }
}
