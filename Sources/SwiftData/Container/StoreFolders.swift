import Foundation

/// Where stores are that have a name and no URL.
enum StoreFolders {
    /// The longest name that file systems allow, in bytes.
    static let maximumNameLength = 255

    /// Returns `<application support>/<program>/<name>.store`: off Apple's platforms programs share the folder, so each
    /// has its own folder in it.
    static func url(named name: String, group: String?) -> URL {
        let base =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.homeDirectoryForCurrentUser
        var folder = base
        if let group {
            folder = folder.appendingPathComponent("Group Containers", isDirectory: true)
                .appendingPathComponent(group, isDirectory: true)
        } else {
            let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
            folder = folder.appendingPathComponent(program, isDirectory: true)
        }
        return folder.appendingPathComponent(name + ".store", isDirectory: false)
    }

    static func validate(fileName: String, of configuration: String) throws {
        if fileName.utf8.count > maximumNameLength {
            throw SwiftDataError(
                .configurationFileNameTooLong,
                "The file name of configuration '\(configuration.prefix(40))…' has \(fileName.utf8.count) bytes; "
                    + "\(maximumNameLength) are allowed.")
        }
        if fileName.isEmpty || fileName.contains("/") || fileName.contains("\0") {
            throw SwiftDataError(
                .configurationFileNameContainsInvalidCharacters,
                "The file name of configuration '\(configuration)' is empty, or has '/' or a zero byte in it.")
        }
    }
}
