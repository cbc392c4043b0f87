import CoreDataAccounts
import CoreDataSync
import Foundation
import Synchronization

/// The files of one account, as the service itself reads and writes them.
final class HubPlace: SyncPlace {
    private let accounts: Accounts
    private let account: UUID
    /// The number of files that the service has created or deleted.
    private let written = Mutex<Int64>(0)

    init(_ accounts: Accounts, _ account: UUID) { (self.accounts, self.account) = (accounts, account) }

    var writes: Int64 { written.withLock { $0 } }

    func list(_ folder: String?) async throws -> [String] {
        guard let folder else { return try await accounts.deviceFolders(of: account) }
        return try await accounts.deviceFiles(in: folder, of: account)
    }

    func read(_ file: String, in folder: String) async throws -> Data? {
        try await accounts.deviceFile(file, in: folder, of: account)
    }

    func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
        let isNew = try await accounts.createDeviceFile(file, in: folder, of: account, isOfService: true, data)
        if isNew { written.withLock { $0 += 1 } }
        return isNew
    }

    func delete(_ file: String, in folder: String) async throws {
        guard try await accounts.deviceFile(file, in: folder, of: account) != nil else { return }
        try await accounts.deleteDeviceFile(file, in: folder, of: account, isOfService: true)
        written.withLock { $0 += 1 }
    }
}
