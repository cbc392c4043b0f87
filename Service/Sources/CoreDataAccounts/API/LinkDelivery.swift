import Foundation

/// Brings links to the owner of an e-mail address. An app conforms to it, for example with a mail server.
///
///     struct Mail: LinkDelivery {
///         func deliver(_ message: AccountMessage) async throws {
///             try await send(to: message.email, text: "https://example.com/reset#\(message.token ?? "")")
///         }
///     }
///
/// Deliveries run after the request was answered, so that the time of an answer does not show whether an account
/// exists. A link that could not be delivered is not sent again; its owner requests another one.
public protocol LinkDelivery: Sendable {
    /// Delivers the message.
    func deliver(_ message: AccountMessage) async throws
}

/// A message to the owner of an e-mail address.
public struct AccountMessage: Hashable, Sendable {
    /// The subject of a message.
    public enum Purpose: String, Hashable, Sendable {
        /// A link for a new password.
        case passwordReset
        /// A link that confirms the address.
        case emailConfirmation
        /// Another account wants to use an address that this account has confirmed. No link.
        case emailInUse
        /// The account has another address now; for the owner of the address before. No link.
        case emailChanged
        /// The password was changed. No link.
        case passwordChanged
    }

    /// The subject.
    public let purpose: Purpose
    /// The address, without line breaks and other control characters.
    public let email: String
    /// The name of the account.
    public let accountName: String
    /// The token for the link, to be put behind `#` of a URL, where no log and no referrer shows it.
    public let token: String?
    /// When the link ends.
    public let endsAt: Date?
}
