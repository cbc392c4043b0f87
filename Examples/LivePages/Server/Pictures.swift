import CoreDataToolkit
import Foundation
import Synchronization

/// Pictures as they are uploaded: checked, made small, and found again.
package enum Pictures {
    /// The largest upload, in bytes.
    package static let largest = 10 * 1024 * 1024
    /// Twice as many pixels as a list shows, for fine screens.
    package static let side = 132
    /// What a field for a file accepts: what all browsers show.
    package static let accepted: HTML = "image/jpeg,image/png,image/gif,image/webp"

    /// Makes small pictures; `nil` where the machine has no program for it.
    package static let scaler: SystemImageScaler? = {
        var scaler = try? SystemImageScaler()
        scaler?.timeout = 15
        return scaler
    }()

    /// The problem with a file, in words for the user who sent it.
    package struct Problem: Error {
        package let message: String
    }

    /// Guards how many pictures are made small at the moment.
    private static let atWork = Mutex(0)
    private static let queue = DispatchQueue(label: "pictures")

    /// Checks what was sent, removes its metadata, and makes the small picture.
    ///
    /// - Returns: the small picture too, where the machine has a program for it.
    /// - Throws: a ``Problem``.
    package static func read(_ file: Form.File?) async throws -> (picture: Data, thumbnail: Data?) {
        guard let file, !file.bytes.isEmpty else { throw Problem(message: "Choose a picture first.") }
        guard file.bytes.count <= largest else {
            throw Problem(message: "That is too large: pictures have at most 10 MB.")
        }
        guard (try? ImageHeader(file.bytes)) != nil else {
            throw Problem(message: "That is no picture: JPEG, PNG, GIF and WebP can be uploaded.")
        }
        let broken = Problem(message: "That picture is broken, or of a kind that cannot be read.")
        guard let picture = PictureMetadata.removed(from: file.bytes) else { throw broken }
        guard scaler != nil else { return (picture, nil) }
        guard let small = try await small(picture) else { throw broken }
        return (picture, small)
    }

    /// A small picture of a large one, made one after the other on a queue of its own; `nil` where it cannot be read.
    private static func small(_ picture: Data) async throws -> Data? {
        let isFull = atWork.withLock { count in
            count += 1
            return count > 50
        }
        defer { atWork.withLock { $0 -= 1 } }
        if isFull { throw Problem(message: "Too many pictures come at once. Try again in a moment.") }
        return await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: try? scaler?.thumbnail(of: picture, width: side, height: side))
            }
        }
    }

    /// What a picture is sent as, without metadata that another program may have stored with it; `nil` for what is none.
    package static func reply(_ data: Data?, _ visit: Visit) -> Reply? {
        guard let data, let header = try? ImageHeader(data), let picture = PictureMetadata.removed(from: data) else {
            return nil
        }
        return .file(picture, type: "image/\(header.format.rawValue)", isForever: visit.query["v"] != nil)
    }

    /// Where a picture is; the address changes with the picture, so that browsers may keep it.
    package static func path(_ path: String, _ data: Data) -> String {
        let hash = data.suffix(24).reduce(UInt64(data.count)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "\(path)?v=\(String(hash, radix: 36))"
    }
}
