import CoreData
import Foundation

// The classes of the model's entities. Each property is optional where Core Data can have no value for it: an object
// that another process deleted reads as nil.

/// An account.
final class StoredAccount: NSManagedObject {
    private static let idProperty = PropertyKey<UUID?>("id")
    private static let nameProperty = PropertyKey<String?>("name")
    private static let nameKeyProperty = PropertyKey<String?>("nameKey")
    private static let emailProperty = PropertyKey<String?>("email")
    private static let passwordProperty = PropertyKey<String?>("password")
    private static let isAdministratorProperty = PropertyKey<Bool>("isAdministrator")
    private static let isSuspendedProperty = PropertyKey<Bool>("isSuspended")
    private static let createdAtProperty = PropertyKey<Date?>("createdAt")
    private static let revisionProperty = PropertyKey<Int64>("revision")
    private static let sessionsProperty = PropertyKey<NSSet?>("sessions")
    private static let linksProperty = PropertyKey<NSSet?>("links")
    private static let membershipsProperty = PropertyKey<NSSet?>("memberships")
    private static let invitationsProperty = PropertyKey<NSSet?>("invitations")

    var id: UUID? {
        get { self[Self.idProperty] }
        set { self[Self.idProperty] = newValue }
    }
    var name: String? {
        get { self[Self.nameProperty] }
        set { self[Self.nameProperty] = newValue }
    }
    var nameKey: String? {
        get { self[Self.nameKeyProperty] }
        set { self[Self.nameKeyProperty] = newValue }
    }
    var email: String? {
        get { self[Self.emailProperty] }
        set { self[Self.emailProperty] = newValue }
    }
    var password: String? {
        get { self[Self.passwordProperty] }
        set { self[Self.passwordProperty] = newValue }
    }
    var isAdministrator: Bool {
        get { self[Self.isAdministratorProperty] }
        set { self[Self.isAdministratorProperty] = newValue }
    }
    var isSuspended: Bool {
        get { self[Self.isSuspendedProperty] }
        set { self[Self.isSuspendedProperty] = newValue }
    }
    var createdAt: Date? {
        get { self[Self.createdAtProperty] }
        set { self[Self.createdAtProperty] = newValue }
    }
    var revision: Int64 {
        get { self[Self.revisionProperty] }
        set { self[Self.revisionProperty] = newValue }
    }
    var sessions: NSSet? {
        get { self[Self.sessionsProperty] }
        set { self[Self.sessionsProperty] = newValue }
    }
    var links: NSSet? {
        get { self[Self.linksProperty] }
        set { self[Self.linksProperty] = newValue }
    }
    var memberships: NSSet? {
        get { self[Self.membershipsProperty] }
        set { self[Self.membershipsProperty] = newValue }
    }
    var invitations: NSSet? {
        get { self[Self.invitationsProperty] }
        set { self[Self.invitationsProperty] = newValue }
    }
}

/// A session.
final class StoredSession: NSManagedObject {
    private static let idProperty = PropertyKey<UUID?>("id")
    private static let deviceProperty = PropertyKey<String?>("device")
    private static let addressProperty = PropertyKey<String?>("address")
    private static let createdAtProperty = PropertyKey<Date?>("createdAt")
    private static let lastUsedAtProperty = PropertyKey<Date?>("lastUsedAt")
    private static let endsAtProperty = PropertyKey<Date?>("endsAt")
    private static let accountProperty = PropertyKey<StoredAccount?>("account")
    private static let tokensProperty = PropertyKey<NSSet?>("tokens")

    var id: UUID? {
        get { self[Self.idProperty] }
        set { self[Self.idProperty] = newValue }
    }
    var device: String? {
        get { self[Self.deviceProperty] }
        set { self[Self.deviceProperty] = newValue }
    }
    var address: String? {
        get { self[Self.addressProperty] }
        set { self[Self.addressProperty] = newValue }
    }
    var createdAt: Date? {
        get { self[Self.createdAtProperty] }
        set { self[Self.createdAtProperty] = newValue }
    }
    var lastUsedAt: Date? {
        get { self[Self.lastUsedAtProperty] }
        set { self[Self.lastUsedAtProperty] = newValue }
    }
    var endsAt: Date? {
        get { self[Self.endsAtProperty] }
        set { self[Self.endsAtProperty] = newValue }
    }
    var account: StoredAccount? {
        get { self[Self.accountProperty] }
        set { self[Self.accountProperty] = newValue }
    }
    var tokens: NSSet? {
        get { self[Self.tokensProperty] }
        set { self[Self.tokensProperty] = newValue }
    }
}

/// The digest of a session's token.
final class StoredToken: NSManagedObject {
    private static let digestProperty = PropertyKey<Data?>("digest")
    private static let createdAtProperty = PropertyKey<Date?>("createdAt")
    private static let endsAtProperty = PropertyKey<Date?>("endsAt")
    private static let isUsedProperty = PropertyKey<Bool>("isUsed")
    private static let sessionProperty = PropertyKey<StoredSession?>("session")

    var digest: Data? {
        get { self[Self.digestProperty] }
        set { self[Self.digestProperty] = newValue }
    }
    var createdAt: Date? {
        get { self[Self.createdAtProperty] }
        set { self[Self.createdAtProperty] = newValue }
    }
    var endsAt: Date? {
        get { self[Self.endsAtProperty] }
        set { self[Self.endsAtProperty] = newValue }
    }
    var isUsed: Bool {
        get { self[Self.isUsedProperty] }
        set { self[Self.isUsedProperty] = newValue }
    }
    var session: StoredSession? {
        get { self[Self.sessionProperty] }
        set { self[Self.sessionProperty] = newValue }
    }
}

/// The digest of a link's token.
final class StoredLink: NSManagedObject {
    private static let digestProperty = PropertyKey<Data?>("digest")
    private static let purposeProperty = PropertyKey<String?>("purpose")
    private static let emailProperty = PropertyKey<String?>("email")
    private static let createdAtProperty = PropertyKey<Date?>("createdAt")
    private static let endsAtProperty = PropertyKey<Date?>("endsAt")
    private static let accountProperty = PropertyKey<StoredAccount?>("account")

    var digest: Data? {
        get { self[Self.digestProperty] }
        set { self[Self.digestProperty] = newValue }
    }
    var purpose: String? {
        get { self[Self.purposeProperty] }
        set { self[Self.purposeProperty] = newValue }
    }
    var email: String? {
        get { self[Self.emailProperty] }
        set { self[Self.emailProperty] = newValue }
    }
    var createdAt: Date? {
        get { self[Self.createdAtProperty] }
        set { self[Self.createdAtProperty] = newValue }
    }
    var endsAt: Date? {
        get { self[Self.endsAtProperty] }
        set { self[Self.endsAtProperty] = newValue }
    }
    var account: StoredAccount? {
        get { self[Self.accountProperty] }
        set { self[Self.accountProperty] = newValue }
    }
}

/// A group.
final class StoredGroup: NSManagedObject {
    private static let idProperty = PropertyKey<UUID?>("id")
    private static let nameProperty = PropertyKey<String?>("name")
    private static let createdAtProperty = PropertyKey<Date?>("createdAt")
    private static let revisionProperty = PropertyKey<Int64>("revision")
    private static let membershipsProperty = PropertyKey<NSSet?>("memberships")
    private static let invitationsProperty = PropertyKey<NSSet?>("invitations")
    private static let fileRevisionProperty = PropertyKey<Int64>("fileRevision")
    private static let fileCountProperty = PropertyKey<Int64>("fileCount")
    private static let fileBytesProperty = PropertyKey<Int64>("fileBytes")

    var id: UUID? {
        get { self[Self.idProperty] }
        set { self[Self.idProperty] = newValue }
    }
    var name: String? {
        get { self[Self.nameProperty] }
        set { self[Self.nameProperty] = newValue }
    }
    var createdAt: Date? {
        get { self[Self.createdAtProperty] }
        set { self[Self.createdAtProperty] = newValue }
    }
    var revision: Int64 {
        get { self[Self.revisionProperty] }
        set { self[Self.revisionProperty] = newValue }
    }
    var memberships: NSSet? {
        get { self[Self.membershipsProperty] }
        set { self[Self.membershipsProperty] = newValue }
    }
    var invitations: NSSet? {
        get { self[Self.invitationsProperty] }
        set { self[Self.invitationsProperty] = newValue }
    }
    var fileRevision: Int64 {
        get { self[Self.fileRevisionProperty] }
        set { self[Self.fileRevisionProperty] = newValue }
    }
    var fileCount: Int64 {
        get { self[Self.fileCountProperty] }
        set { self[Self.fileCountProperty] = newValue }
    }
    var fileBytes: Int64 {
        get { self[Self.fileBytesProperty] }
        set { self[Self.fileBytesProperty] = newValue }
    }
}

/// An account in a group.
final class StoredMembership: NSManagedObject {
    private static let roleProperty = PropertyKey<String?>("role")
    private static let sinceProperty = PropertyKey<Date?>("since")
    private static let accountProperty = PropertyKey<StoredAccount?>("account")
    private static let groupProperty = PropertyKey<StoredGroup?>("group")

    var role: String? {
        get { self[Self.roleProperty] }
        set { self[Self.roleProperty] = newValue }
    }
    var since: Date? {
        get { self[Self.sinceProperty] }
        set { self[Self.sinceProperty] = newValue }
    }
    var account: StoredAccount? {
        get { self[Self.accountProperty] }
        set { self[Self.accountProperty] = newValue }
    }
    var group: StoredGroup? {
        get { self[Self.groupProperty] }
        set { self[Self.groupProperty] = newValue }
    }
}

/// An invitation.
final class StoredInvitation: NSManagedObject {
    private static let idProperty = PropertyKey<UUID?>("id")
    private static let digestProperty = PropertyKey<Data?>("digest")
    private static let roleProperty = PropertyKey<String?>("role")
    private static let usesLeftProperty = PropertyKey<Int64>("usesLeft")
    private static let createdAtProperty = PropertyKey<Date?>("createdAt")
    private static let endsAtProperty = PropertyKey<Date?>("endsAt")
    private static let creatorProperty = PropertyKey<StoredAccount?>("creator")
    private static let groupProperty = PropertyKey<StoredGroup?>("group")

    var id: UUID? {
        get { self[Self.idProperty] }
        set { self[Self.idProperty] = newValue }
    }
    var digest: Data? {
        get { self[Self.digestProperty] }
        set { self[Self.digestProperty] = newValue }
    }
    var role: String? {
        get { self[Self.roleProperty] }
        set { self[Self.roleProperty] = newValue }
    }
    var usesLeft: Int64 {
        get { self[Self.usesLeftProperty] }
        set { self[Self.usesLeftProperty] = newValue }
    }
    var createdAt: Date? {
        get { self[Self.createdAtProperty] }
        set { self[Self.createdAtProperty] = newValue }
    }
    var endsAt: Date? {
        get { self[Self.endsAtProperty] }
        set { self[Self.endsAtProperty] = newValue }
    }
    var creator: StoredAccount? {
        get { self[Self.creatorProperty] }
        set { self[Self.creatorProperty] = newValue }
    }
    var group: StoredGroup? {
        get { self[Self.groupProperty] }
        set { self[Self.groupProperty] = newValue }
    }
}

/// The number of tries of one key.
final class StoredAttempt: NSManagedObject {
    private static let keyProperty = PropertyKey<Data?>("key")
    private static let countProperty = PropertyKey<Int64>("count")
    private static let endsAtProperty = PropertyKey<Date?>("endsAt")

    var key: Data? {
        get { self[Self.keyProperty] }
        set { self[Self.keyProperty] = newValue }
    }
    var count: Int64 {
        get { self[Self.countProperty] }
        set { self[Self.countProperty] = newValue }
    }
    var endsAt: Date? {
        get { self[Self.endsAtProperty] }
        set { self[Self.endsAtProperty] = newValue }
    }
}

/// An entry of the audit trail.
final class StoredEvent: NSManagedObject {
    private static let idProperty = PropertyKey<UUID?>("id")
    private static let dateProperty = PropertyKey<Date?>("date")
    private static let kindProperty = PropertyKey<String?>("kind")
    private static let isRefusalProperty = PropertyKey<Bool>("isRefusal")
    private static let accountIDProperty = PropertyKey<UUID?>("accountID")
    private static let actorIDProperty = PropertyKey<UUID?>("actorID")
    private static let groupIDProperty = PropertyKey<UUID?>("groupID")
    private static let addressProperty = PropertyKey<String?>("address")
    private static let detailProperty = PropertyKey<String?>("detail")

    var id: UUID? {
        get { self[Self.idProperty] }
        set { self[Self.idProperty] = newValue }
    }
    var date: Date? {
        get { self[Self.dateProperty] }
        set { self[Self.dateProperty] = newValue }
    }
    var kind: String? {
        get { self[Self.kindProperty] }
        set { self[Self.kindProperty] = newValue }
    }
    var isRefusal: Bool {
        get { self[Self.isRefusalProperty] }
        set { self[Self.isRefusalProperty] = newValue }
    }
    var accountID: UUID? {
        get { self[Self.accountIDProperty] }
        set { self[Self.accountIDProperty] = newValue }
    }
    var actorID: UUID? {
        get { self[Self.actorIDProperty] }
        set { self[Self.actorIDProperty] = newValue }
    }
    var groupID: UUID? {
        get { self[Self.groupIDProperty] }
        set { self[Self.groupIDProperty] = newValue }
    }
    var address: String? {
        get { self[Self.addressProperty] }
        set { self[Self.addressProperty] = newValue }
    }
    var detail: String? {
        get { self[Self.detailProperty] }
        set { self[Self.detailProperty] = newValue }
    }
}

/// A row whose version makes transactions conflict that depend on a fact of the whole store.
final class StoredLandmark: NSManagedObject {
    private static let nameProperty = PropertyKey<String?>("name")
    private static let revisionProperty = PropertyKey<Int64>("revision")

    var name: String? {
        get { self[Self.nameProperty] }
        set { self[Self.nameProperty] = newValue }
    }
    var revision: Int64 {
        get { self[Self.revisionProperty] }
        set { self[Self.revisionProperty] = newValue }
    }
}
