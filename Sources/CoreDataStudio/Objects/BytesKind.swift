import CoreDataToolkit
import Foundation

/// The kind of content of a binary value, by its first bytes.
enum BytesKind: Sendable, Equatable {
    /// A picture that browsers show, with its media type. No format that can contain scripts.
    case picture(type: String, fileExtension: String)
    /// A JSON object or array.
    case json
    case text
    case other

    init(_ data: Data) {
        let start = [UInt8](data.prefix(12))
        if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .picture(type: "image/png", fileExtension: "png")
        } else if start.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .picture(type: "image/jpeg", fileExtension: "jpg")
        } else if start.starts(with: Array("GIF87a".utf8)) || start.starts(with: Array("GIF89a".utf8)) {
            self = .picture(type: "image/gif", fileExtension: "gif")
        } else if start.count == 12, start.starts(with: Array("RIFF".utf8)), start[8...] == Array("WEBP".utf8)[...] {
            self = .picture(type: "image/webp", fileExtension: "webp")
        } else if data.count <= Self.longestText, FieldValue(json: data) != nil {
            self = .json
        } else if !data.isEmpty, data.count <= Self.longestText, Self.isText(data) {
            self = .text
        } else {
            self = .other
        }
    }

    static let longestText = 256 * 1024

    private static func isText(_ data: Data) -> Bool {
        guard let text = String(validating: data, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" || $0 == "\r" || $0 == "\t" }
    }

    var fileExtension: String {
        switch self {
        case .picture(_, let fileExtension): fileExtension
        case .json: "json"
        case .text: "txt"
        case .other: "bin"
        }
    }
}
