import CoreData
import Foundation

// The files of a group: what the devices of its members leave for each other, without a device knowing another one.
extension Accounts {
    /// Returns the names of the folders in which a group has files, in order.
    ///
    /// - Throws: ``AccountError/groupNotFound`` for accounts that are no members.
    public func fileFolders(of group: UUID, by account: UUID) async throws(AccountError) -> [String] {
        try await read { transaction in
            _ = try transaction.membership(of: account, in: group)
            return try transaction.names("folder", "groupID == %@", group)
        }
    }

    /// Returns the names of the files in one folder of a group, in order; an empty list if it has none.
    ///
    /// - Throws: ``AccountError/groupNotFound``.
    public func files(in folder: String, of group: UUID, by account: UUID) async throws(AccountError) -> [String] {
        try await read { transaction in
            _ = try transaction.membership(of: account, in: group)
            return try transaction.names("name", "groupID == %@ AND folder == %@", group, folder)
        }
    }

    /// Returns the contents of a file; `nil` if there is no such file.
    ///
    /// - Throws: ``AccountError/groupNotFound``.
    public func file(
        _ name: String, in folder: String, of group: UUID, by account: UUID
    ) async throws(AccountError) -> Data? {
        try await read { transaction in
            _ = try transaction.membership(of: account, in: group)
            return try transaction.file(name, in: folder, of: group)?.data
        }
    }

    /// Creates a file. Files are never changed.
    ///
    /// A folder belongs to the account that created its files. Viewers create only files whose names begin with one of
    /// ``FileLimits/viewerPrefixes``.
    ///
    /// - Returns: `false` if a file of that name exists; it is then unchanged.
    /// - Throws: ``AccountError/groupNotFound``; ``AccountError/notAllowed`` for viewers and for the folder of another
    ///   account; ``AccountError/limitReached(name:maximum:)`` beyond ``AccountSettings/files``.
    public func createFile(
        _ name: String, in folder: String, of group: UUID, by account: UUID, _ data: Data
    ) async throws(AccountError) -> Bool {
        let limits = settings.files
        guard data.count <= limits.largestFile else {
            throw AccountError.limitReached(name: "bytes of a file", maximum: limits.largestFile)
        }
        return try await write { transaction in
            let membership = try transaction.membership(of: account, in: group)
            guard let stored = membership.group else { throw AccountError.groupNotFound }
            let isViewer = membership.role == Role.viewer.rawValue
            guard !isViewer || limits.viewerPrefixes.contains(where: name.hasPrefix) else {
                throw AccountError.notAllowed
            }
            try transaction.requireFolder(folder, of: group, isOwnedBy: account)
            if try transaction.file(name, in: folder, of: group) != nil { return false }
            guard stored.fileCount < Int64(limits.filesPerGroup) else {
                throw AccountError.limitReached(name: "files of a group", maximum: limits.filesPerGroup)
            }
            guard stored.fileBytes + Int64(data.count) <= Int64(limits.bytesPerGroup) else {
                throw AccountError.limitReached(name: "bytes of a group's files", maximum: limits.bytesPerGroup)
            }
            let file = StoredFile(context: transaction.context)
            (file.groupID, file.folder, file.name) = (group, folder, name)
            (file.accountID, file.createdAt) = (account, transaction.now)
            (file.data, file.size, file.group) = (data, Int64(data.count), stored)
            stored.countFiles(1, bytes: Int64(data.count))
            return true
        }
    }

    /// Deletes a file of the account's own folder. It is not an error if there is no such file.
    ///
    /// - Throws: ``AccountError/groupNotFound``; ``AccountError/notAllowed`` for the folder of another account.
    public func deleteFile(
        _ name: String, in folder: String, of group: UUID, by account: UUID
    ) async throws(AccountError) {
        try await write { transaction in
            let membership = try transaction.membership(of: account, in: group)
            try transaction.requireFolder(folder, of: group, isOwnedBy: account)
            guard let file = try transaction.file(name, in: folder, of: group) else { return }
            membership.group?.countFiles(-1, bytes: -file.size)
            transaction.context.delete(file)
        }
    }

    /// Returns a number that is higher after each file that is created or deleted in the group.
    ///
    /// - Throws: ``AccountError/groupNotFound``.
    public func fileRevision(of group: UUID, by account: UUID) async throws(AccountError) -> Int64 {
        try await read { try $0.membership(of: account, in: group).group?.fileRevision ?? 0 }
    }
}

/// Bounds of the files of a group.
public struct FileLimits: Hashable, Sendable {
    /// The greatest number of files.
    public var filesPerGroup = 100_000
    /// The greatest number of bytes of all files.
    public var bytesPerGroup = 1 << 30
    /// The greatest number of bytes of one file.
    public var largestFile = 64 << 20
    /// How the names of files begin that viewers may create: those in which their devices say what they have read.
    public var viewerPrefixes = ["hello-"]

    /// Makes the default limits.
    public init() {}
}

extension StoredGroup {
    fileprivate func countFiles(_ count: Int64, bytes: Int64) {
        fileCount += count
        fileBytes += bytes
        fileRevision += 1
    }
}

extension AccountTransaction {
    fileprivate func file(_ name: String, in folder: String, of group: UUID) throws -> StoredFile? {
        try first("File", "groupID == %@ AND folder == %@ AND name == %@", group, folder, name)
    }

    /// Throws if another account has created the files of a folder.
    fileprivate func requireFolder(_ folder: String, of group: UUID, isOwnedBy account: UUID) throws {
        guard try count("File", "groupID == %@ AND folder == %@ AND accountID != %@", group, folder, account) == 0
        else { throw AccountError.notAllowed }
    }

    /// The different values of one attribute of files; no contents are read.
    fileprivate func names(_ attribute: String, _ format: String, _ arguments: Any...) throws -> [String] {
        let request = NSFetchRequest<NSDictionary>(entityName: "File")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [attribute]
        request.returnsDistinctResults = true
        request.sortDescriptors = [NSSortDescriptor(key: attribute, ascending: true)]
        return try context.fetch(request).compactMap { $0[attribute] as? String }
    }
}
