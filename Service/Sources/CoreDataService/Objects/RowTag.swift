import CoreData
import Foundation

/// The ETag of an object: it changes with each change of the object's row, and does not tell how many there were.
///
///     RowTags(store).tag(of: item)        // "5f3a90c1b2d4e6f8", sent as ETag: "5f3a90c1b2d4e6f8" and as _version
package struct RowTags: Sendable {
    private let seed: UInt64

    /// - Parameter store: the UUID of the store, which clients do not know.
    package init(store: String) {
        var seed: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in store.utf8 { seed = (seed ^ UInt64(byte)) &* 0x100_0000_01B3 }
        self.seed = seed
    }

    /// Returns the tag; `nil` for an object that has no row yet.
    package func tag(of object: NSManagedObject) -> String? {
        guard let version = object.storedVersion else { return nil }
        var state = seed
        for byte in object.objectID.uriRepresentation().path.utf8 {
            state = Self.mixed(state ^ UInt64(byte))
        }
        state = Self.mixed(state ^ UInt64(bitPattern: Int64(version)))
        let digits = String(state, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// SplitMix64.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var state = value &+ 0x9E37_79B9_7F4A_7C15
        state = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        state = (state ^ (state >> 27)) &* 0x94D0_49BB_1331_11EB
        return state ^ (state >> 31)
    }
}

/// The tags of an `If-Match` or `If-None-Match`.
package struct TagList: Sendable, Equatable {
    package let isAny: Bool
    package let tags: [String]
    /// The tags that are not weak. A weak tag does not say that an object is the same in all its parts.
    private let strong: [String]

    /// - Returns: `nil` for a header that is not a list of tags.
    package init?(_ header: String) {
        let text = header.trimmingCharacters(in: .whitespaces)
        if text == "*" {
            (isAny, tags, strong) = (true, [], [])
            return
        }
        var tags: [String] = []
        var strong: [String] = []
        for part in text.split(separator: ",") {
            var part = part.trimmingCharacters(in: .whitespaces)
            let isWeak = part.hasPrefix("W/")
            if isWeak { part = String(part.dropFirst(2)) }
            guard part.count >= 2, part.hasPrefix("\""), part.hasSuffix("\"") else { return nil }
            tags.append(String(part.dropFirst().dropLast()))
            if !isWeak { strong.append(tags[tags.count - 1]) }
        }
        guard !tags.isEmpty else { return nil }
        (isAny, self.tags, self.strong) = (false, tags, strong)
    }

    /// Whether a tag is in the list of an `If-None-Match`: weak tags count.
    package func contains(_ tag: String) -> Bool {
        isAny || tags.contains { $0 == tag }
    }

    /// Whether the tag of a row, or of an answer with that row, is in the list of an `If-Match`: weak tags do not count.
    package func containsRow(_ tag: String) -> Bool {
        isAny || strong.contains { $0 == tag || $0.hasPrefix(tag + "-") }
    }

    /// Whether the list has weak tags only, so that ``containsRow(_:)`` is false for every row.
    package var isWeak: Bool { !isAny && strong.isEmpty }
}
