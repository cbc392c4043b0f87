import CoreData
import Foundation

/// Where a store lies that was added with a ubiquitous content name: a file for each account, in folders beside the URL
/// that the program gave.
///
/// ```
/// Stores/iCloud.sqlite                                                     the program's URL; nothing lies there
/// Stores/CoreDataUbiquitySupport/local/Groceries/store/iCloud.sqlite       without an account
/// Stores/CoreDataUbiquitySupport/account-anna/Groceries/store/iCloud.sqlite
/// ```
struct UbiquitousLocation: Hashable {
    private static let support = "CoreDataUbiquitySupport"

    /// The URL that the program gave.
    let given: URL
    /// The name of the content, as the program gave it.
    let contentName: String
    /// The identifier of the container.
    let container: String
    private let folderName: String

    /// - Parameters:
    ///   - url: the one that the program gave, or the one of a file of an account.
    ///   - options: with a content name.
    /// - Throws: 134070 for a content name that is no text, or empty.
    init(_ url: URL, _ options: [AnyHashable: Any]) throws {
        guard let name = options[NSPersistentStoreUbiquitousContentNameKey] as? String, !name.isEmpty else {
            throw SyncErrors.make(
                134070,
                "The store option NSPersistentStoreUbiquitousContentNameKey takes the name of the store's content, a text that is not empty."
            )
        }
        var parts = [name]
        switch options[NSPersistentStoreUbiquitousContentURLKey] {
        case let text as String: parts.append(text)
        case let url as URL: parts.append(url.lastPathComponent)
        case let url as NSURL: parts.append(url.lastPathComponent ?? "")
        default: break
        }
        contentName = parts.joined(separator: "/")
        container =
            options[NSPersistentStoreUbiquitousContainerIdentifierKey] as? String
            ?? NSPersistentCloudKitContainer.defaultIdentifier
        let peer = (options[NSPersistentStoreUbiquitousPeerTokenOption] as? String).map { "~" + $0 } ?? ""
        folderName = CloudDatabase.component("\(contentName)\(peer)~\(container)")
        let components = url.pathComponents
        if let index = components.firstIndex(of: Self.support), let file = components.last {
            let folder = components[..<index].dropFirst().joined(separator: "/")
            given = URL(fileURLWithPath: "/" + folder).appendingPathComponent(file)
        } else {
            given = url
        }
    }

    /// The folder with everything of the content on this device, for an account.
    func folder(_ account: String?) -> URL {
        given.deletingLastPathComponent().appendingPathComponent(Self.support)
            .appendingPathComponent(account.map { "account-" + CloudDatabase.component($0) } ?? "local")
            .appendingPathComponent(folderName)
    }

    /// The file of an account's store.
    func url(_ account: String?) -> URL {
        folder(account).appendingPathComponent("store").appendingPathComponent(given.lastPathComponent)
    }

    /// The account whose store lies at a URL; `nil` for a local store.
    static func account(of url: URL) -> String? {
        let components = url.pathComponents
        guard let index = components.firstIndex(of: support), index + 1 < components.count,
            components[index + 1].hasPrefix("account-")
        else { return nil }
        let name = String(components[index + 1].dropFirst("account-".count))
        return name.removingPercentEncoding ?? ""
    }

    func database(_ account: String) -> CloudDatabase {
        CloudDatabase(account: account, containerIdentifier: container, contentName: contentName)
    }

    // MARK: Files

    /// Makes the files ready for a store to be added, as the options say, and returns the URL of its file.
    func prepare(account: String?, _ options: [AnyHashable: Any]) throws -> URL {
        // A store in memory has no file.
        guard given.isStoreFile else { return given }
        if (options[NSPersistentStoreRebuildFromUbiquitousContentOption] as? NSNumber)?.boolValue == true,
            account != nil
        {
            try setAside(account)
        }
        return url(account)
    }

    /// Renames the folder of the store, so that a new store can be made; a folder that was set aside before is deleted.
    private func setAside(_ account: String?) throws {
        let files = FileManager.default
        let present = folder(account).appendingPathComponent("store")
        let aside = folder(account).appendingPathComponent("store-before-rebuild")
        guard files.fileExists(atPath: present.path) else { return }
        // An exchange of the store that was removed may still run.
        try WaitedTask.run { await UbiquitousStores.shared.waitForRemovedStores() }
        if files.fileExists(atPath: aside.path) { try files.removeItem(at: aside) }
        try files.moveItem(at: present, to: aside)
    }

    /// Gives an account that has no store yet what was saved without an account. No store of it may be open.
    func adoptLocalStore(_ account: String) throws {
        let files = FileManager.default
        let (local, own) = (folder(nil), folder(account))
        guard files.fileExists(atPath: local.path), !files.fileExists(atPath: own.path) else { return }
        try files.createDirectory(at: own.deletingLastPathComponent(), withIntermediateDirectories: true)
        try files.moveItem(at: local, to: own)
    }

    /// Deletes everything of the content on this device, for an account. No store of it may be open.
    func delete(_ account: String?) throws {
        let folder = folder(account)
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        try FileManager.default.removeItem(at: folder)
    }

    /// Deletes what a store knows of other devices, which synchronises no more.
    static func deleteSidecar(beside store: URL) throws {
        let sidecar = Sidecar.url(beside: store)
        for end in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: sidecar.path + end) {
            try FileManager.default.removeItem(atPath: sidecar.path + end)
        }
    }
}
