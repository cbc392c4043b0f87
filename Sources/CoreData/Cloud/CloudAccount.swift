import Foundation
import Synchronization

/// The account of the process, which `FileManager` shows; the module `CoreDataSync` signs in and out.
package final class CloudAccount: Sendable {
    package static let shared = CloudAccount()

    private struct State {
        var name: String?
        var folder: (@Sendable (_ account: String, _ container: String?) -> URL)?
    }

    private let state = Mutex(State())

    /// The name of the account; `nil` if none is signed in.
    package var name: String? { state.withLock { $0.name } }

    /// Signs in as that account, or out with `nil`; posts `NSUbiquityIdentityDidChange` if it is another one than
    /// before.
    package func change(to name: String?) {
        let isChange = state.withLock { state in
            defer { state.name = name }
            return state.name != name
        }
        if isChange { NotificationCenter.default.post(name: .NSUbiquityIdentityDidChange, object: nil) }
    }

    /// Sets where the folders of containers are; `nil` for none.
    package func useFolder(_ folder: (@Sendable (_ account: String, _ container: String?) -> URL)?) {
        state.withLock { $0.folder = folder }
    }

    fileprivate func folder(of container: String?) -> URL? {
        let (name, folder) = state.withLock { ($0.name, $0.folder) }
        guard let name, let folder else { return nil }
        return folder(name, container)
    }
}

extension FileManager {
    /// A token of the account that is signed in; `nil` without one. Equal tokens mean the same account.
    ///
    ///     let isSignedIn = FileManager.default.ubiquityIdentityToken != nil
    ///
    /// Differs from Apple: the account is that of `CloudPlaces` of the module `CoreDataSync`.
    public var ubiquityIdentityToken: (any NSCoding & NSCopying & NSObjectProtocol)? {
        CloudAccount.shared.name.map { NSData(data: Data($0.utf8)) }
    }

    /// The folder of a container of the account; `nil` without an account, and if the place of the account is not a
    /// folder. It is made if it does not exist.
    ///
    /// Differs from Apple: it is a part of the folder that was registered by `CloudPlaces.register(folder:)`. Other
    /// files in it are copied to other devices by the program that synchronises this folder.
    ///
    /// - Parameter containerIdentifier: `nil` for the program's default container.
    public func url(forUbiquityContainerIdentifier containerIdentifier: String?) -> URL? {
        guard let url = CloudAccount.shared.folder(of: containerIdentifier) else { return nil }
        do { try createDirectory(at: url, withIntermediateDirectories: true) } catch {
            CoreDataLog.general.error("The folder '\(url.path)' of a container cannot be made: \(error)")
            return nil
        }
        return url
    }
}

extension NSNotification.Name {
    /// An account signed in or out; `FileManager.ubiquityIdentityToken` has the new one. It is posted on any thread.
    public static let NSUbiquityIdentityDidChange = NSNotification.Name("NSUbiquityIdentityDidChangeNotification")
}
