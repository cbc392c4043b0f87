import CoreDataAccounts
import CoreDataJSON
import Foundation

/// A message to the owner of an e-mail address, as RFC 5322 writes it.
///
///     MailText(sender: "Groceries <no-reply@example.com>", service: "Groceries", pages: pages).text(message)
///     // From: Groceries <no-reply@example.com>
///     // To: <ann@example.com>
///     // Subject: Set a new password for Groceries
///     // …
package struct MailText: Sendable {
    /// The content of `From`.
    let sender: String
    /// The name of the service in texts.
    let service: String
    /// The page that takes the token of a link behind `#`.
    let page: URL

    package init(sender: String, service: String, page: URL) {
        self.sender = sender
        self.service = service
        self.page = page
    }

    package func text(_ message: AccountMessage, date: Date = Date(), id: UUID = UUID()) -> String {
        let (subject, body) = words(message)
        let host = sender.split(separator: "@").last.map {
            $0.filter { $0.isLetter || $0.isNumber || ".-".contains($0) }
        }
        let lines = [
            "From: \(sender)", "To: <\(message.email)>", "Subject: \(Self.encoded(subject))",
            "Date: \(Self.text(date))", "Message-ID: <\(id.uuidString)@\(host ?? "localhost")>",
            "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64",
            // No out-of-office note answers it.
            "Auto-Submitted: auto-generated", "",
        ]
        // Base64 keeps every character whichever servers are between, and no line can be mistaken for a header.
        let content = Data(body.utf8).base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed])
        return (lines + [content, ""]).joined(separator: "\n")
    }

    private func words(_ message: AccountMessage) -> (subject: String, body: String) {
        let name = message.accountName
        switch message.purpose {
        case .passwordReset:
            return (
                "Set a new password for \(service)",
                """
                A new password was requested for your account \(name) of \(service).
                If it was you, open this address:

                \(link("password", message))

                \(end(message))If it was not you, do nothing: your password stays as it is.
                """
            )
        case .emailConfirmation:
            return (
                "Confirm your address for \(service)",
                """
                The account \(name) of \(service) wants to use this address.
                If it is yours, open this address:

                \(link("email", message))

                \(end(message))If it is not, do nothing: the address will not be used.
                """
            )
        case .emailInUse:
            return (
                "Your address for \(service)",
                "Another account of \(service) wanted to use this address. It belongs to your account \(name), and nothing "
                    + "was changed.\n"
            )
        case .emailChanged:
            return (
                "Your account of \(service) has another address",
                "Your account \(name) of \(service) no longer uses this address. If you did not change it, tell the operator "
                    + "of the service.\n"
            )
        case .passwordChanged:
            return (
                "Your password for \(service) was changed",
                "The password of your account \(name) of \(service) was changed, and its other sessions have ended. If it was "
                    + "not you, ask for a new password at once.\n"
            )
        }
    }

    /// The address with the token behind `#`, where no log and no referrer shows it.
    private func link(_ purpose: String, _ message: AccountMessage) -> String {
        "\(page.absoluteString)#\(purpose)=\(message.token ?? "")"
    }

    private func end(_ message: AccountMessage) -> String {
        message.endsAt.map { "The address can be used once, until \(Self.text($0)).\n" } ?? ""
    }

    /// Texts of other characters than ASCII's are encoded as RFC 2047 says, in words of at most 75 characters.
    private static func encoded(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        var words: [String] = []
        var piece = ""
        for character in text {
            if piece.utf8.count + character.utf8.count > 42 {
                words.append(piece)
                piece = ""
            }
            piece.append(character)
        }
        return (words + [piece]).map { "=?utf-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: "\n ")
    }

    /// A date as RFC 5322 has it, in UTC and English.
    private static func text(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "EEE, d MMM yyyy HH:mm:ss '+0000'"
        return formatter.string(from: date)
    }
}
