import Foundation

/// A place in which devices leave files for each other: a folder, a server, memory.
///
/// Each device has a folder of its own and creates and deletes files in that folder only. Files are never changed.
/// Therefore a place needs no locks, and a caller copes with a place that lists files late, shows them in any order, or
/// shows a part of a file.
///
///     <device>/hello-0000000000000003
///     <device>/segment-0000000000000001
///
/// Names of folders and files consist of ASCII letters, digits, `-`, `_` and `.`, and do not begin with a dot.
/// ``PlaceName/isValid(_:)`` checks a name that comes from outside.
public protocol SyncPlace: Sendable {
    /// Returns the names of the devices' folders, or of the files in one folder; an empty list if the folder does not
    /// exist.
    ///
    /// - Parameter folder: `nil` for the devices' folders.
    func list(_ folder: String?) async throws -> [String]

    /// Returns the contents of a file, `nil` if it does not exist.
    func read(_ file: String, in folder: String) async throws -> Data?

    /// Creates a file with all its contents, or not at all. Creates the folder if it does not exist.
    ///
    /// After an error the file may exist or not: the caller calls again, and compares the bytes if the answer is
    /// `false`.
    /// - Returns: `false` if a file of that name exists; it is then unchanged.
    func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool

    /// Deletes a file. It is not an error if the file does not exist.
    func delete(_ file: String, in folder: String) async throws

    /// A stream with an element each time something may have changed.
    ///
    /// A place that cannot observe changes returns a stream that ends at once. The caller lists the folders from time
    /// to time in any case.
    func changes() -> AsyncStream<Void>
}

extension SyncPlace {
    /// A stream that ends at once: the place does not observe changes.
    public func changes() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}

/// The rules for names in a place.
public enum PlaceName {
    /// The greatest number of bytes of a name.
    public static let maximumLength = 200

    /// Whether a name is safe as a component of a path on every file system and server, and hides nothing.
    public static func isValid(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= maximumLength else { return false }
        return bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
    }

    /// Throws if one of the names is not valid.
    package static func check(_ names: String?...) throws {
        for case let name? in names where !isValid(name) {
            throw SyncPlaceError(
                .invalidName, "'\(name.prefix(maximumLength))' cannot be the name of a file or folder in a place.")
        }
    }

    /// Throws if one of the names of a new file is not valid, or the file is empty.
    package static func check(_ file: String, _ folder: String, creating data: Data) throws {
        try check(file, folder)
        if data.isEmpty { throw SyncPlaceError(.invalidName, "A file of a place is not empty: '\(file)'.") }
    }
}

/// The largest file that is read from a place: a bound on what a foreign file can make a device allocate.
package let maximumPlaceFileSize = 1 << 30
