import Foundation

/// An error of ``Accounts``. Each case has a stable ``code``, which a protocol layer maps to its own codes.
public enum AccountError: Error, Hashable, Sendable {
    /// The name is unknown, the password is wrong, or the account is suspended.
    case wrongCredentials
    /// The token is unknown, or its session has ended.
    case notSignedIn
    /// The account lacks the right: it is no administrator, or its role in the group is too low.
    case notAllowed
    /// The name is not acceptable, for the reason.
    case invalidName(reason: String)
    /// The text is no e-mail address.
    case invalidEmail
    /// The name of a group is empty or too long.
    case invalidGroupName(reason: String)
    /// A number is outside of its bounds.
    case invalidValue(name: String, minimum: Int, maximum: Int)
    /// The password has too few characters.
    case passwordTooShort(minimum: Int)
    /// The password has too many characters.
    case passwordTooLong(maximum: Int)
    /// The password is easy to guess.
    case passwordTooCommon
    /// The password contains a control character.
    case passwordInvalid
    /// Another account has the name.
    case nameTaken
    /// Another account has confirmed the e-mail address.
    case emailTaken
    /// The service accepts no new accounts, or only with an invitation.
    case signUpClosed
    /// The account or the address has reached its limit of tries.
    case tooManyTries(retryAfter: Int)
    /// Too many passwords wait to be checked, or other clients change the same objects all the time.
    case busy(retryAfter: Int)
    /// The link is unknown, was used, or has ended.
    case invalidLink
    /// The invitation is unknown, was used up or revoked, or has ended.
    case invalidInvitation
    /// No such account.
    case accountNotFound
    /// The account has no such session.
    case sessionNotFound
    /// No such group, or the account is no member of it.
    case groupNotFound
    /// The group has no such member.
    case memberNotFound
    /// The group has no such invitation.
    case invitationNotFound
    /// The group would be without an owner.
    case lastOwner
    /// The service would be without an administrator.
    case lastAdministrator
    /// A bound on the number of groups, members or invitations is reached.
    case limitReached(name: String, maximum: Int)
    /// The app did not say how links are delivered.
    case deliveryUnavailable
    /// The store could not be opened, read or written.
    case storeFailed(message: String)

    /// The stable code of the case, equal to its name.
    public var code: String {
        switch self {
        case .wrongCredentials: "wrongCredentials"
        case .notSignedIn: "notSignedIn"
        case .notAllowed: "notAllowed"
        case .invalidName: "invalidName"
        case .invalidEmail: "invalidEmail"
        case .invalidGroupName: "invalidGroupName"
        case .invalidValue: "invalidValue"
        case .passwordTooShort: "passwordTooShort"
        case .passwordTooLong: "passwordTooLong"
        case .passwordTooCommon: "passwordTooCommon"
        case .passwordInvalid: "passwordInvalid"
        case .nameTaken: "nameTaken"
        case .emailTaken: "emailTaken"
        case .signUpClosed: "signUpClosed"
        case .tooManyTries: "tooManyTries"
        case .busy: "busy"
        case .invalidLink: "invalidLink"
        case .invalidInvitation: "invalidInvitation"
        case .accountNotFound: "accountNotFound"
        case .sessionNotFound: "sessionNotFound"
        case .groupNotFound: "groupNotFound"
        case .memberNotFound: "memberNotFound"
        case .invitationNotFound: "invitationNotFound"
        case .lastOwner: "lastOwner"
        case .lastAdministrator: "lastAdministrator"
        case .limitReached: "limitReached"
        case .deliveryUnavailable: "deliveryUnavailable"
        case .storeFailed: "storeFailed"
        }
    }

    /// After how many seconds a retry can succeed; `nil` if a retry does not help.
    public var retryAfter: Int? {
        switch self {
        case .tooManyTries(let seconds), .busy(let seconds): seconds
        default: nil
        }
    }
}

extension AccountError: LocalizedError, CustomStringConvertible {
    /// The message for the person who sent the request. Only that of ``storeFailed(message:)`` is for the log alone.
    public var description: String {
        switch self {
        case .wrongCredentials: "The name or the password is wrong."
        case .notSignedIn: "The session has ended. Sign in again."
        case .notAllowed: "The account may not do this. An owner of the group, or an administrator, may."
        case .invalidName(let reason): "The name is not acceptable: \(reason)."
        case .invalidEmail: "The text is no e-mail address, such as ann@example.com."
        case .invalidGroupName(let reason): "The name of the group is not acceptable: \(reason)."
        case .invalidValue(let name, let minimum, let maximum): "'\(name)' must be from \(minimum) to \(maximum)."
        case .passwordTooShort(let minimum):
            "The password is too short. Use at least \(minimum) characters, for example four words."
        case .passwordTooLong(let maximum): "The password is too long. Use at most \(maximum) characters."
        case .passwordTooCommon: "The password is easy to guess. Use words that do not belong together."
        case .passwordInvalid: "The password contains a control character, such as a line break. Remove it."
        case .nameTaken: "Another account has this name. Choose another one."
        case .emailTaken: "Another account has this e-mail address. Sign in to it, or reset its password."
        case .signUpClosed: "The service accepts no new accounts without an invitation. Ask a member for one."
        case .tooManyTries(let seconds): "Too many tries. Try again in \(seconds) seconds."
        case .busy(let seconds): "The service is busy. Try again in \(seconds) seconds."
        case .invalidLink: "The link was used already or has ended. Request a new one."
        case .invalidInvitation: "The invitation has ended, was used up or was revoked. Ask for a new one."
        case .accountNotFound: "There is no such account."
        case .sessionNotFound: "The account has no such session."
        case .groupNotFound: "There is no such group, or the account is no member of it."
        case .memberNotFound: "The group has no such member."
        case .invitationNotFound: "The group has no such invitation."
        case .lastOwner: "A group needs an owner. Make another member an owner first, or delete the group."
        case .lastAdministrator: "The service needs an administrator. Make another account an administrator first."
        case .limitReached(let name, let maximum): "There can be at most \(maximum) \(name)."
        case .deliveryUnavailable: "This service sends no e-mail. Ask an administrator for a link."
        case .storeFailed(let message): "The store of accounts failed: \(message)"
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
