import CoreDataSyncEngine
import Foundation

/// Converts between an attribute's value and the elements of which its merge rule consists.
struct ElementValues {
    let entity: String
    let property: String
    let kind: AttributeKind
    let elements: PropertyState.ElementKind
    /// Decides between two versions; ``SyncOptions/merge``.
    let merge: (@Sendable (SyncVersions) -> (any Sendable)?)?

    /// A text with more lines or bytes is one element: two versions of it remain one after the other.
    static let greatestLineCount = 4_096
    static let greatestText = 256 * 1024

    /// The value that a set means; the same on all devices that have the same set.
    func value(of set: ElementSet) -> SyncValue {
        let values = ElementList.values(set)
        switch elements {
        case .lines:
            let lines = values.compactMap(Self.text)
            return lines.isEmpty ? .null : .string(lines.joined(separator: "\n"))
        case .items:
            let items = Self.distinct(values.compactMap(Self.text))
            return items.isEmpty ? .null : .string(items.joined(separator: ", "))
        case .versions: return decided(set)
        }
    }

    /// The set after this device, which knows all of it, wrote a value.
    func changed(_ set: ElementSet, to value: SyncValue, at stamp: Stamp) -> ElementSet {
        switch elements {
        case .lines: ElementList.changed(set, to: Self.lines(value), at: stamp)
        case .items: ElementList.changed(set, to: Self.items(value), at: stamp, isSet: true)
        case .versions: set.replaced(by: [ElementSet.Element(stamp, "", value)], at: stamp)
        }
    }

    // MARK: Lines and items

    private static func text(_ value: SyncValue) -> String? { if case .string(let text) = value { text } else { nil } }

    private static func lines(_ value: SyncValue) -> [SyncValue] {
        guard let text = text(value) else { return [] }
        guard text.utf8.count <= greatestText else { return [value] }
        // By bytes: a carriage return and a line feed are one character.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count <= greatestLineCount else { return [value] }
        return lines.map { .string(String(decoding: $0, as: UTF8.self)) }
    }

    private static func items(_ value: SyncValue) -> [SyncValue] {
        guard let text = text(value) else { return [] }
        let items = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        return distinct(items.filter { !$0.isEmpty }).map { .string($0) }
    }

    private static func distinct(_ texts: [String]) -> [String] {
        var seen: Set<[UInt8]> = []
        return texts.filter { seen.insert(Array($0.utf8)).inserted }
    }

    // MARK: Versions

    /// The versions are merged in the order of their stamps. A result of another type is no decision: the later version
    /// stays.
    private func decided(_ set: ElementSet) -> SyncValue {
        let versions = set.counted.sorted { $0.stamp < $1.stamp }
        guard var result = versions.first?.value else { return .null }
        for version in versions.dropFirst() where version.value != result {
            let both = SyncVersions(
                entity: entity, attribute: property, earlier: result.foundation, later: version.value.foundation)
            result = merge.flatMap { SyncValue($0(both), kind) } ?? version.value
        }
        return result
    }
}

extension MergeRule {
    /// The elements of which a value consists by this rule; `nil` for a rule that merges whole values.
    var elements: PropertyState.ElementKind? {
        switch self {
        case .text: .lines
        case .union: .items
        case .app: .versions
        case .last, .min, .max, .sum: nil
        }
    }
}
