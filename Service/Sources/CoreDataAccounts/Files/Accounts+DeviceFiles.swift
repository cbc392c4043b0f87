import CoreData
import Foundation

// The files of an account: what its devices and the service leave for each other. No other account sees them.
extension Accounts {
    /// Returns the names of the folders in which an account has files, in order: one for each device, and the
    /// service's.
    package func deviceFolders(of account: UUID) async throws(AccountError) -> [String] {
        try await read { try $0.deviceNames("folder", "accountID == %@", account) }
    }

    /// Returns the names of the files in one folder, in order; an empty list if it has none.
    package func deviceFiles(in folder: String, of account: UUID) async throws(AccountError) -> [String] {
        try await read { try $0.deviceNames("name", "accountID == %@ AND folder == %@", account, folder) }
    }

    /// Returns the contents of a file; `nil` if there is no such file.
    package func deviceFile(_ name: String, in folder: String, of account: UUID) async throws(AccountError) -> Data? {
        try await read { try $0.deviceFile(name, in: folder, of: account)?.data }
    }

    /// Creates a file. Files are never changed.
    ///
    /// - Parameter isOfService: whether the service writes it. A folder belongs either to the service or to the account.
    /// - Returns: `false` if a file of that name exists; it is then unchanged.
    /// - Throws: ``AccountError/accountNotFound``; ``AccountError/notAllowed`` for a folder of the other side;
    ///   ``AccountError/limitReached(name:maximum:)`` beyond ``AccountSettings/files``, but for the service.
    package func createDeviceFile(
        _ name: String, in folder: String, of account: UUID, isOfService: Bool, _ data: Data
    ) async throws(AccountError) -> Bool {
        let limits = settings.files
        guard isOfService || data.count <= limits.largestFile else {
            throw AccountError.limitReached(name: "bytes of a file", maximum: limits.largestFile)
        }
        return try await write { transaction in
            try transaction.requireDeviceFolder(folder, of: account, isOfService: isOfService)
            if try transaction.deviceFile(name, in: folder, of: account) != nil { return false }
            let place = try transaction.devicePlace(of: account)
            if !isOfService {
                guard place.fileCount < Int64(limits.filesPerGroup) else {
                    throw AccountError.limitReached(name: "files of an account", maximum: limits.filesPerGroup)
                }
                guard place.fileBytes + Int64(data.count) <= Int64(limits.bytesPerGroup) else {
                    throw AccountError.limitReached(
                        name: "bytes of an account's files", maximum: limits.bytesPerGroup)
                }
            }
            let file = StoredDeviceFile(context: transaction.context)
            (file.accountID, file.folder, file.name) = (account, folder, name)
            (file.isOfService, file.createdAt) = (isOfService, transaction.now)
            (file.data, file.size, file.place) = (data, Int64(data.count), place)
            place.count(file, 1)
            return true
        }
    }

    /// Deletes a file. It is not an error if there is no such file.
    ///
    /// - Throws: ``AccountError/notAllowed`` for a folder of the other side.
    package func deleteDeviceFile(
        _ name: String, in folder: String, of account: UUID, isOfService: Bool
    ) async throws(AccountError) {
        try await write { transaction in
            try transaction.requireDeviceFolder(folder, of: account, isOfService: isOfService)
            guard let file = try transaction.deviceFile(name, in: folder, of: account) else { return }
            file.place?.count(file, -1)
            transaction.context.delete(file)
        }
    }

    /// Returns a number that is higher after each file that is created or deleted.
    package func deviceRevision(of account: UUID) async throws(AccountError) -> Int64 {
        try await read { transaction in
            let place: StoredDevicePlace? = try transaction.first("DevicePlace", "accountID == %@", account)
            return place?.revision ?? 0
        }
    }

    /// Returns the accounts whose devices have files, each with its revision.
    package func devicePlaces() async throws(AccountError) -> [UUID: Int64] {
        try await read { transaction in
            let places: [StoredDevicePlace] = try transaction.all("DevicePlace", "revision > 0")
            return places.reduce(into: [:]) { result, place in
                if let id = place.accountID { result[id] = place.revision }
            }
        }
    }

    /// Returns what permissions depend on; `nil` for an account that was deleted or is suspended.
    package func standing(of account: UUID) async throws(AccountError) -> AccountStanding? {
        try await read { transaction in
            guard let stored: StoredAccount = try transaction.first("Account", "id == %@", account),
                !stored.isSuspended
            else { return nil }
            let memberships = try transaction.memberships(of: account)
            return AccountStanding(
                isAdministrator: stored.isAdministrator,
                roles: Dictionary(memberships.map { ($0.groupID, $0.role) }, uniquingKeysWith: { first, _ in first }))
        }
    }
}

/// What permissions depend on besides the identity of an account.
package struct AccountStanding: Hashable, Sendable {
    package let isAdministrator: Bool
    /// The role in each group.
    package let roles: [UUID: Role]
}

extension AccountTransaction {
    fileprivate func deviceFile(_ name: String, in folder: String, of account: UUID) throws -> StoredDeviceFile? {
        try first("DeviceFile", "accountID == %@ AND folder == %@ AND name == %@", account, folder, name)
    }

    /// Returns the account's place, and makes it if there is none.
    fileprivate func devicePlace(of account: UUID) throws -> StoredDevicePlace {
        if let place: StoredDevicePlace = try first("DevicePlace", "accountID == %@", account) { return place }
        let owner = try self.account(account)
        let place = StoredDevicePlace(context: context)
        (place.accountID, place.account) = (account, owner)
        return place
    }

    fileprivate func requireDeviceFolder(_ folder: String, of account: UUID, isOfService: Bool) throws {
        let others = try count(
            "DeviceFile", "accountID == %@ AND folder == %@ AND isOfService != %@", account, folder,
            NSNumber(value: isOfService))
        guard others == 0 else { throw AccountError.notAllowed }
    }

    /// The different values of one attribute of files; no contents are read.
    fileprivate func deviceNames(_ attribute: String, _ format: String, _ arguments: Any...) throws -> [String] {
        let request = NSFetchRequest<NSDictionary>(entityName: "DeviceFile")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [attribute]
        request.returnsDistinctResults = true
        request.sortDescriptors = [NSSortDescriptor(key: attribute, ascending: true)]
        return try context.fetch(request).compactMap { $0[attribute] as? String }
    }
}
