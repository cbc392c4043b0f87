import Foundation
import Synchronization

/// Decides where a store lies that is added with a ubiquitous content name: each account has a file of its own.
package final class StoreLocations: Sendable {
    /// Returns the URL of the file for the URL that the program gave.
    package typealias Resolver = @Sendable (URL, [AnyHashable: Any]) throws -> URL

    package static let shared = StoreLocations()

    private let resolver = Mutex<Resolver?>(nil)

    /// Sets what decides; `nil` for files at the URLs that programs give.
    package func use(_ resolver: Resolver?) { self.resolver.withLock { $0 = resolver } }

    func location(of url: URL?, _ options: [AnyHashable: Any]?) throws -> URL? {
        guard let url, let options, options[NSPersistentStoreUbiquitousContentNameKey] != nil,
            let resolver = resolver.withLock({ $0 })
        else { return url }
        return try resolver(url, options)
    }
}
