import Foundation

#if PostgreSQL
    import CoreDataPostgreSQL
#endif

/// Where a store is: in a file, or on a server.
package enum StorePlace {
    /// The place that a user has typed.
    ///
    /// - Throws: ``LaunchOptions/Problem`` for a server that this program does not know.
    package static func url(_ text: String) throws -> URL {
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
            return URL(fileURLWithPath: text)
        }
        #if PostgreSQL
            PostgreSQLStore.register()
            guard let url = URL(string: text) else {
                throw LaunchOptions.Problem(description: "--store: that is no URL of a database")
            }
            return url
        #else
            throw LaunchOptions.Problem(
                description: "this program was built without PostgreSQL; make run STORE=postgresql://… builds it with")
        #endif
    }

    /// As it may be shown: without a password.
    package static func shown(_ url: URL) -> String {
        guard !url.isFileURL, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else {
            return url.path
        }
        parts.password = nil
        parts.queryItems = parts.queryItems?.filter { $0.name != "password" && $0.name != "sslpassword" }
        return parts.string ?? "on a server"
    }

    /// A message as browsers may show it: without the folders of this machine.
    package static func withoutFolders(_ message: String, of store: URL) -> String {
        let files = FileManager.default
        let folders = [store.deletingLastPathComponent(), files.temporaryDirectory, files.homeDirectoryForCurrentUser]
        var message = message
        for folder in folders.map(\.path) where folder.count > 1 {
            message = message.replacingOccurrences(of: folder + "/", with: "")
            message = message.replacingOccurrences(of: folder, with: "the folder")
        }
        return message
    }

    /// The folder of the program's files that are not the store: beside it, or where a store in a file would be.
    package static func folder(of store: URL, program: String) -> URL {
        store.isFileURL
            ? store.deletingLastPathComponent()
            : LaunchOptions.folder(program, ProcessInfo.processInfo.environment)
    }
}
