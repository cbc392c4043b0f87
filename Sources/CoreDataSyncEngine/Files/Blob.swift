import CoreDataDigests
import Foundation

/// Large values, which are files of their own: the UTF-8 of a text, or the bytes of data, without a frame. The name is
/// the digest.
package enum Blob {
    /// Greater values are not part of segments: 16 KiB.
    package static let threshold = 16 * 1024

    package static func digest(of bytes: Data) -> Data { Digests.sha256(bytes) }

    package static func name(of bytes: Data) -> FileName { .blob(digest(of: bytes)) }

    /// The bytes of a value's own file; `nil` for a value that is part of its segment.
    package static func bytes(of value: SyncValue) -> Data? {
        switch value {
        case .data(let data) where data.count > threshold: data
        case .string(let text) where text.utf8.count > threshold: Data(text.utf8)
        default: nil
        }
    }

    /// What a segment has instead of a large value.
    package static func reference(to bytes: Data) -> SyncValue { .blob(digest: digest(of: bytes), size: bytes.count) }

    /// Whether bytes are those of a digest; others are torn.
    package static func isIntact(_ bytes: Data, _ digest: Data) -> Bool { self.digest(of: bytes) == digest }
}
