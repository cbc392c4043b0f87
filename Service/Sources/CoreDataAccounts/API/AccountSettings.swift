import Foundation

/// The rules of a service's accounts. The defaults suit a service that everybody can reach.
public struct AccountSettings: Sendable {
    /// Who may sign up.
    public enum SignUp: String, Sendable, CaseIterable {
        /// Everybody.
        case open
        /// Everybody who holds an invitation to a group.
        case invited
        /// Nobody.
        case closed
    }

    /// Who may sign up. The first account may always.
    public var signUp = SignUp.open
    /// Words that people associate with the service, such as its name. A password of only such words is refused.
    public var serviceWords: [String] = []

    /// The smallest number of characters of a password. A smaller value than 8 counts as 8.
    ///
    /// The default follows NIST SP 800-63B-4 and OWASP ASVS 5: a password that is the only factor has 15 characters.
    /// Length is also the only rule that cannot be met by a habit such as a final `1!`.
    public var minimumPasswordLength = 15
    /// The largest number of characters of a password. A smaller value than 64 counts as 64.
    public var maximumPasswordLength = 128
    /// A file with more passwords to refuse, one a line, beside the built-in list.
    public var commonPasswords: URL?
    /// What the computation of one password costs. Accounts with another cost get this one at their next sign-in.
    public var passwordCost = PasswordCost.standard
    /// How many passwords are computed at once. Each computation needs the memory of ``passwordCost``.
    public var concurrentPasswords = 2
    /// How many passwords may wait for a computation. More are refused with ``AccountError/busy(retryAfter:)``.
    public var waitingPasswords = 32

    /// How long a session lives after its last renewal. It is renewed by a use in the second half.
    public var sessionLifetime: TimeInterval = 30 * 86_400
    /// How long a session lives at most after its sign-in.
    public var longestSession: TimeInterval = 365 * 86_400
    /// The precision of ``Session/lastUsedAt``: more frequent uses write nothing.
    public var lastUsePrecision: TimeInterval = 300
    /// How many sessions an account may have. A further sign-in ends the one that was used least recently.
    public var sessionsPerAccount = 50

    /// How long a link for a new password is valid.
    public var passwordResetLifetime: TimeInterval = 30 * 60
    /// How long a link that confirms an e-mail address is valid.
    public var emailConfirmationLifetime: TimeInterval = 86_400
    /// How long an invitation can be valid.
    public var longestInvitation: TimeInterval = 30 * 86_400
    /// How many groups an account can be a member of.
    public var groupsPerAccount = 100
    /// How many members a group can have.
    public var membersPerGroup = 200
    /// How many open invitations a group can have.
    public var invitationsPerGroup = 50

    /// The limits of tries.
    public var limits = Limits()

    /// The bounds of the files of each group.
    public var files = FileLimits()
    /// How many events the audit trail has, for refusals and for the others each.
    public var eventBound = 50_000
    /// How long the audit trail keeps an event.
    public var eventLifetime: TimeInterval = 365 * 86_400

    /// A number of tries in a time. The time begins with the first try and ends by itself.
    public struct Limit: Hashable, Sendable {
        /// How many tries there may be.
        public var tries: Int
        /// The time, in seconds.
        public var seconds: TimeInterval

        /// A limit of so many tries in a time.
        public init(tries: Int, per seconds: TimeInterval) { (self.tries, self.seconds) = (tries, seconds) }
    }

    /// The limits of tries. Tries that succeed do not count, except sign-ups and requests for links.
    public struct Limits: Sendable {
        /// Wrong passwords of one account, from addresses that it is not known to use.
        public var signInsOfAccount = Limit(tries: 10, per: 900)
        /// Wrong passwords of one account from one address from which it has a session. A stranger cannot use
        /// these up, so a stranger cannot lock the owner out.
        public var signInsOfKnownAddress = Limit(tries: 10, per: 900)
        /// Wrong passwords from one address, whatever the account.
        public var signInsOfAddress = Limit(tries: 60, per: 900)
        /// Sign-ups from one address.
        public var signUpsOfAddress = Limit(tries: 20, per: 3600)
        /// Requests for a new password for one account.
        public var resetsOfAccount = Limit(tries: 3, per: 3600)
        /// Requests for a new password from one address.
        public var resetsOfAddress = Limit(tries: 20, per: 3600)
        /// Requests to confirm an e-mail address by one account.
        public var emailsOfAccount = Limit(tries: 5, per: 3600)
        /// Unknown links and invitations from one address.
        public var linksOfAddress = Limit(tries: 60, per: 900)

        /// The default limits.
        public init() {}
    }

    /// The default settings.
    public init() {}
}

/// The parameters of scrypt (RFC 7914), with which passwords are stored. One computation needs about
/// `128 * blockSize << costBits` bytes of memory.
public struct PasswordCost: Hashable, Sendable {
    /// The logarithm of the cost parameter N.
    public var costBits: Int
    /// The block size r.
    public var blockSize: Int
    /// The parallelism p.
    public var parallelism: Int

    /// A cost. Values outside of 4 to 20, 1 to 32 and 1 to 16, or of more than 512 MiB, make `Accounts` throw.
    public init(costBits: Int, blockSize: Int, parallelism: Int) {
        (self.costBits, self.blockSize, self.parallelism) = (costBits, blockSize, parallelism)
    }

    /// N = 131,072, r = 8, p = 1: 128 MiB, the first choice of OWASP for scrypt.
    public static let standard = PasswordCost(costBits: 17, blockSize: 8, parallelism: 1)

    /// How many bytes one computation needs.
    var memory: UInt64 { 128 * UInt64(blockSize) << UInt64(costBits) }

    var isAcceptable: Bool {
        (4...20).contains(costBits) && (1...32).contains(blockSize) && (1...16).contains(parallelism)
            && memory <= 1 << 29
    }
}

/// Where a request comes from.
public struct Client: Hashable, Sendable {
    /// The network address as text, IPv4 or IPv6; `nil` if it is unknown. Limits count an IPv6 network of 64 bits as
    /// one address.
    public var address: String?
    /// The name of the device for the list of sessions, for example from `User-Agent`. Longer than 100 characters is
    /// cut.
    public var device: String

    /// A client with an address and a device.
    public init(address: String?, device: String = "") { (self.address, self.device) = (address, device) }
}
