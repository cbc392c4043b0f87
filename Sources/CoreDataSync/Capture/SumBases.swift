import CoreDataSyncEngine
import Foundation

/// What this device had added to sums before segments that are not sent yet.
///
/// If another device turns out to use the same ID, because one is a copy of the other, the additions in these segments
/// move to the new ID of this one. What was added before belongs to both.
struct SumBases {
    struct Base: Hashable {
        var object: GlobalID
        var property: String
        /// `nil` if the device had added nothing.
        var contribution: PropertyState.Contribution?
    }

    struct Key: Hashable {
        var object: GlobalID
        var property: String
    }

    private(set) var bases: [Base] = []

    mutating func add(_ base: Base) { bases.append(base) }

    /// Settings keep the bases of each capture under this and the number of its last segment.
    private static let prefix = "sums-"

    /// - Parameter last: the number of the last segment of the capture.
    func write(to settings: inout SidecarSettings, through last: UInt64) {
        guard !bases.isEmpty else { return }
        var writer = ByteWriter()
        writer.varint(bases.count)
        for base in bases {
            writer.identifier(base.object)
            writer.string(base.property)
            writer.byte(base.contribution == nil ? 0 : 1)
            guard let contribution = base.contribution else { continue }
            writer.varint(contribution.ticks)
            writer.data(contribution.amount.bytes)
        }
        settings.extras[Self.prefix + String(last)] = writer.asData
    }

    /// The earliest base of each sum, of all segments from a number on.
    static func earliest(_ settings: SidecarSettings, from first: UInt64) -> [Key: PropertyState.Contribution?] {
        var result: [Key: PropertyState.Contribution?] = [:]
        for number in numbers(settings).sorted() where number >= first {
            guard let data = settings.extras[prefix + String(number)], let bases = try? read(data) else { continue }
            for base in bases {
                let key = Key(object: base.object, property: base.property)
                if result[key] == nil { result[key] = .some(base.contribution) }
            }
        }
        return result
    }

    /// Forgets the bases of segments that were sent.
    static func remove(upTo number: UInt64, from settings: inout SidecarSettings) {
        for sent in numbers(settings) where sent <= number { settings.extras[prefix + String(sent)] = nil }
    }

    static func removeAll(from settings: inout SidecarSettings) { remove(upTo: .max, from: &settings) }

    static func isEmpty(_ settings: SidecarSettings) -> Bool { numbers(settings).isEmpty }

    private static func numbers(_ settings: SidecarSettings) -> [UInt64] {
        settings.extras.keys.compactMap { $0.hasPrefix(prefix) ? UInt64($0.dropFirst(prefix.count)) : nil }
    }

    private static func read(_ data: Data) throws -> [Base] {
        var reader = ByteReader(data)
        let count = try reader.count(ofSize: 18)
        return try (0..<count).map { _ in
            let (object, property) = (try reader.identifier() as GlobalID, try reader.string())
            guard try reader.byte() == 1 else { return Base(object: object, property: property, contribution: nil) }
            let ticks: UInt64 = try reader.varint()
            let amount = try SyncValue(bytes: try reader.data())
            return Base(object: object, property: property, contribution: .init(ticks: ticks, amount: amount))
        }
    }
}
