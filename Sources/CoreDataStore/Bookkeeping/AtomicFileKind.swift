import Foundation

/// The kinds of single-file stores, and the first bytes of their files.
package enum AtomicFileKind: CaseIterable, Sendable {
    case xml
    case binary

    /// The store type.
    package var storeType: String {
        switch self {
        case .xml: "XML"
        case .binary: "Binary"
        }
    }

    /// The first bytes of every binary store.
    package static let binaryStart: [UInt8] = [0x89, 0x4F, 0x43, 0x44, 0x42, 0x0D, 0x0A, 0x1A]

    /// Returns whether a file with this start may be of this kind, even if the rest is damaged.
    package func begins(_ start: Data) -> Bool {
        switch self {
        case .xml:
            let text = String(decoding: start.filter { $0 != 0 }, as: UTF8.self)
            return text.contains("<!DOCTYPE database") || text.contains("<database>")
        case .binary: return start.starts(with: Self.binaryStart)
        }
    }
}
