import Foundation

/// The files of stores: notices that one was moved or replaced while the service runs.
///
/// The database goes on with a file that has another name now, and a restored backup under the old name would not be
/// used. So the service answers nothing from such a store.
package struct StoreFiles: Sendable {
    private struct Identity: Hashable {
        let device: dev_t
        let inode: ino_t

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, inode) = (status.st_dev, status.st_ino)
        }
    }

    private let files: [String: Identity]

    /// Notes which files are at the places now; stores on servers have none.
    package init(_ urls: [URL]) {
        var files: [String: Identity] = [:]
        for url in urls where url.isFileURL { files[url.path] = Identity(url.path) }
        self.files = files
    }

    /// Whether each file is at its place.
    package var areInPlace: Bool { files.allSatisfy { Identity($0.key) == $0.value } }

    /// - Throws: ``Problem/storeMoved``.
    package func check() throws(Problem) { if !areInPlace { throw .storeMoved } }
}
