import CoreData
import CoreDataSyncEngine
import Foundation

/// The database that a store has synchronised with, as its sidecar keeps it.
struct AttachedDatabase: Codable, Hashable {
    var account: String
    var container: String
    var scope: Int
    var contentName: String?
    /// See ``ContentPlace``.
    var epoch: UInt64

    private static let extra = "cloud"

    init(_ database: CloudDatabase, epoch: UInt64) {
        (account, container, scope) = (database.account, database.containerIdentifier, database.scope.rawValue)
        (contentName, self.epoch) = (database.contentName, epoch)
    }

    /// What the sidecar says; `nil` if the store has not synchronised under Apple's names.
    init?(_ settings: SidecarSettings) {
        guard let data = settings.extras[Self.extra], let known = try? JSONDecoder().decode(Self.self, from: data)
        else { return nil }
        self = known
    }

    fileprivate func write(to settings: inout SidecarSettings) throws {
        settings.extras[Self.extra] = try JSONEncoder().encode(self)
    }
}

extension SyncedStore {
    /// Empties the sidecar of a store that synchronised with another database, since the new one knows nothing of it.
    ///
    /// - Returns: whether it did: then the device has another ID, and a new `Sync` must be made.
    /// - Throws: 134405 for a store of another account: its data are not for this one.
    func forgetDatabase(otherThan database: CloudDatabase) throws -> Bool {
        guard let known = AttachedDatabase(sidecar.settings) else { return false }
        let wanted = AttachedDatabase(database, epoch: known.epoch)
        let isEverybodys = known.scope == wanted.scope && database.scope == .public
        if known.account != wanted.account, !isEverybodys {
            throw CloudErrors.otherAccount(known.account, wanted.account)
        }
        guard
            known.container != wanted.container || known.scope != wanted.scope
                || known.contentName != wanted.contentName
        else { return false }
        try forgetEverything()
        return true
    }

    /// Notes the database in the sidecar.
    func attach(to database: CloudDatabase, epoch: UInt64) throws {
        let wanted = AttachedDatabase(database, epoch: epoch)
        if AttachedDatabase(sidecar.settings) == wanted { return }
        try sidecar.changeSettings { try wanted.write(to: &$0) }
    }
}
