import Foundation

/// An entry of the audit trail. It contains no secret, and no text that a client sent except names of devices.
public struct SecurityEvent: Codable, Hashable, Sendable, Identifiable {
    /// What happened.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// An account signed up.
        case signedUp
        /// An account signed in.
        case signedIn
        /// A session ended by a sign-out.
        case signedOut
        /// A sign-in with a wrong name or password, or of a suspended account.
        case signInRefused
        /// An account or an address reached its limit of tries.
        case limitReached
        /// A password was wrong where a signed-in account had to repeat it.
        case passwordRefused
        /// An account changed its password.
        case passwordChanged
        /// A link for a new password was requested.
        case passwordResetRequested
        /// A password was set with a link.
        case passwordReset
        /// A message with a link could not be delivered.
        case deliveryFailed
        /// An account confirmed a new e-mail address.
        case emailChanged
        /// Sessions were ended by their account or an administrator.
        case sessionsEnded
        /// An account was deleted.
        case accountDeleted
        /// An account was suspended.
        case accountSuspended
        /// A suspension ended.
        case accountRestored
        /// An account became an administrator.
        case administratorAdded
        /// An account is no longer an administrator.
        case administratorRemoved
        /// A group was created.
        case groupCreated
        /// A group was deleted.
        case groupDeleted
        /// An invitation was created.
        case invitationCreated
        /// An invitation was revoked.
        case invitationRevoked
        /// An account joined a group.
        case memberJoined
        /// A member left a group.
        case memberLeft
        /// An owner removed a member.
        case memberRemoved
        /// An owner changed the role of a member.
        case roleChanged

        /// Whether anybody without an account can cause such events. They have a bound of their own, so that a flood
        /// of them does not push the others out of the trail.
        var isRefusal: Bool {
            switch self {
            case .signInRefused, .limitReached, .passwordResetRequested, .passwordRefused, .deliveryFailed: true
            default: false
            }
        }
    }

    /// The identity of the entry.
    public let id: UUID
    /// When it happened.
    public let date: Date
    /// What happened.
    public let kind: Kind
    /// The account that it happened to; `nil` for a try with an unknown name.
    public let accountID: UUID?
    /// The account that did it, if it is another one.
    public let actorID: UUID?
    /// The group that it concerns.
    public let groupID: UUID?
    /// The network address of the client.
    public let address: String?
    /// More about it: a role, a device, a count.
    public let detail: String?
}
