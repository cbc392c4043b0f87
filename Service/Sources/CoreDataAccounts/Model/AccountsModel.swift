import CoreData
import Foundation

/// The model of a store of accounts.
///
/// ```
/// Account ──▶▶ Session ──▶▶ Token        Attempt    tries by key
///    │  │ └──▶▶ Link                      Event      audit trail
///    │  └─────▶▶ Invitation ◀◀─┐          Landmark   makes transactions conflict
///    ├────────▶▶ Membership ◀◀─ Group ──▶▶ File   what devices leave for each other
///    └──▶ DevicePlace ──▶▶ DeviceFile   what devices and the service leave for each other
/// ```
///
/// A change that depends on rows that it does not write also changes the `revision` of the account or group above them.
/// The row version then makes two such changes conflict, in one process and in two, and the second one is repeated.
enum AccountsModel {
    static func make() throws -> NSManagedObjectModel {
        try NSManagedObjectModel(versionIdentifiers: ["accounts-1"]) {
            account
            session
            token
            link
            group
            membership
            invitation
            attempt
            event
            landmark
            file
            devicePlace
            deviceFile
        }
    }

    private static var account: ModelEntity {
        ModelEntity("Account", class: StoredAccount.self) {
            ModelAttribute("id", .uuid).required()
            ModelAttribute("name", .string).required()
            ModelAttribute("nameKey", .string).required()
            ModelAttribute("email", .string)
            ModelAttribute("password", .string).required()
            ModelAttribute("isAdministrator", .boolean, default: false).required()
            ModelAttribute("isSuspended", .boolean, default: false).required()
            ModelAttribute("createdAt", .date).required()
            ModelAttribute("revision", .integer64, default: 0).required()
            ModelRelationship("sessions", to: "Session", inverse: "account", .toMany(), deleteRule: .cascade)
            ModelRelationship("links", to: "Link", inverse: "account", .toMany(), deleteRule: .cascade)
            ModelRelationship("memberships", to: "Membership", inverse: "account", .toMany(), deleteRule: .cascade)
            ModelRelationship("invitations", to: "Invitation", inverse: "creator", .toMany(), deleteRule: .cascade)
            ModelRelationship("devicePlace", to: "DevicePlace", inverse: "account", deleteRule: .cascade)
            ModelConstraint("id")
            ModelConstraint("nameKey")
            ModelConstraint("email")
        }
    }

    private static var session: ModelEntity {
        ModelEntity("Session", class: StoredSession.self) {
            ModelAttribute("id", .uuid).required()
            ModelAttribute("device", .string, default: "").required()
            ModelAttribute("address", .string)
            ModelAttribute("createdAt", .date).required()
            ModelAttribute("lastUsedAt", .date).required()
            ModelAttribute("endsAt", .date).required()
            ModelRelationship("account", to: "Account", inverse: "sessions").required()
            ModelRelationship("tokens", to: "Token", inverse: "session", .toMany(), deleteRule: .cascade)
            ModelConstraint("id")
            ModelIndex("byEnd", on: "endsAt")
        }
    }

    private static var token: ModelEntity {
        ModelEntity("Token", class: StoredToken.self) {
            ModelAttribute("digest", .binaryData).required()
            ModelAttribute("createdAt", .date).required()
            ModelAttribute("endsAt", .date).required()
            ModelAttribute("isUsed", .boolean, default: false).required()
            ModelRelationship("session", to: "Session", inverse: "tokens").required()
            ModelConstraint("digest")
            ModelIndex("byEnd", on: "endsAt")
        }
    }

    private static var link: ModelEntity {
        ModelEntity("Link", class: StoredLink.self) {
            ModelAttribute("digest", .binaryData).required()
            ModelAttribute("purpose", .string).required()
            ModelAttribute("email", .string)
            ModelAttribute("createdAt", .date).required()
            ModelAttribute("endsAt", .date).required()
            ModelRelationship("account", to: "Account", inverse: "links").required()
            ModelConstraint("digest")
            ModelIndex("byEnd", on: "endsAt")
        }
    }

    private static var group: ModelEntity {
        ModelEntity("Group", class: StoredGroup.self) {
            ModelAttribute("id", .uuid).required()
            ModelAttribute("name", .string).required()
            ModelAttribute("createdAt", .date).required()
            ModelAttribute("revision", .integer64, default: 0).required()
            ModelRelationship("memberships", to: "Membership", inverse: "group", .toMany(), deleteRule: .cascade)
            ModelAttribute("fileRevision", .integer64, default: 0).required()
            ModelAttribute("fileCount", .integer64, default: 0).required()
            ModelAttribute("fileBytes", .integer64, default: 0).required()
            ModelRelationship("invitations", to: "Invitation", inverse: "group", .toMany(), deleteRule: .cascade)
            ModelRelationship("files", to: "File", inverse: "group", .toMany(), deleteRule: .cascade)
            ModelConstraint("id")
        }
    }

    private static var membership: ModelEntity {
        ModelEntity("Membership", class: StoredMembership.self) {
            ModelAttribute("role", .string).required()
            ModelAttribute("since", .date).required()
            ModelRelationship("account", to: "Account", inverse: "memberships").required()
            ModelRelationship("group", to: "Group", inverse: "memberships").required()
            ModelConstraint("account", "group")
        }
    }

    private static var invitation: ModelEntity {
        ModelEntity("Invitation", class: StoredInvitation.self) {
            ModelAttribute("id", .uuid).required()
            ModelAttribute("digest", .binaryData).required()
            ModelAttribute("role", .string).required()
            ModelAttribute("usesLeft", .integer64).required()
            ModelAttribute("createdAt", .date).required()
            ModelAttribute("endsAt", .date).required()
            ModelRelationship("creator", to: "Account", inverse: "invitations").required()
            ModelRelationship("group", to: "Group", inverse: "invitations").required()
            ModelConstraint("id")
            ModelConstraint("digest")
            ModelIndex("byEnd", on: "endsAt")
        }
    }

    private static var attempt: ModelEntity {
        ModelEntity("Attempt", class: StoredAttempt.self) {
            // A digest, since people type passwords into fields for names.
            ModelAttribute("key", .binaryData).required()
            ModelAttribute("count", .integer64, default: 0).required()
            ModelAttribute("endsAt", .date).required()
            ModelConstraint("key")
            ModelIndex("byEnd", on: "endsAt")
        }
    }

    private static var event: ModelEntity {
        ModelEntity("Event", class: StoredEvent.self) {
            ModelAttribute("id", .uuid).required()
            ModelAttribute("date", .date).required()
            ModelAttribute("kind", .string).required()
            ModelAttribute("isRefusal", .boolean, default: false).required()
            ModelAttribute("accountID", .uuid)
            ModelAttribute("actorID", .uuid)
            ModelAttribute("groupID", .uuid)
            ModelAttribute("address", .string)
            ModelAttribute("detail", .string)
            ModelConstraint("id")
            ModelIndex("byDate", on: "date")
            ModelIndex("byClass", on: "isRefusal", "date")
            ModelIndex("byAccount", on: "accountID", "date")
            ModelIndex("byActor", on: "actorID", "date")
        }
    }

    private static var landmark: ModelEntity {
        ModelEntity("Landmark", class: StoredLandmark.self) {
            ModelAttribute("name", .string).required()
            ModelAttribute("revision", .integer64, default: 0).required()
            ModelConstraint("name")
        }
    }
}
