import CoreData
@_spi(Service) import CoreDataSync
import Foundation

/// Names an object in the served store and in every replica: by the UUID that clients know.
struct HubKey: Hashable, Codable, Sendable, Comparable {
    /// The topmost ancestor of the object's entity: UUIDs are unique among its descendants.
    var root: String
    var id: UUID

    static func < (a: Self, b: Self) -> Bool { (a.root, a.id.uuidString) < (b.root, b.id.uuidString) }
}

/// A value as both stores have it, to be compared.
enum HubValue: Hashable, Codable, Sendable {
    case null
    case integer(Int64)
    /// By bit pattern.
    case real(UInt64)
    case decimal(String)
    case text(String)
    case data(Data)
    case uuid(UUID)
    /// A large text or large data, by the digest of its bytes.
    case large(Data)
    case composite([String: HubValue])
    case reference(HubKey)
    /// The members of a to-many relationship, in order if it is ordered.
    case members([HubKey])

    /// Greater texts and data are compared by their digests.
    static let largest = 1024
}

/// The values of an object as one store has them: those that devices exchange.
struct HubRecord: Hashable, Codable, Sendable {
    var entity: String
    /// Attributes and relationships by name; of ordered one-to-many relationships the order of the members.
    var values: [String: HubValue]

    subscript(name: String) -> HubValue { values[name] ?? .null }
}

extension HubValue {
    /// The value of an attribute.
    init(_ value: Any?, _ attribute: HubEntity.Attribute) {
        guard let value, !(value is NSNull) else {
            self = .null
            return
        }
        switch attribute.kind {
        case .integer: self = (value as? NSNumber).map { .integer($0.int64Value) } ?? .null
        case .real: self = (value as? NSNumber).map { .real($0.doubleValue.bitPattern) } ?? .null
        case .decimal: self = (value as? NSNumber).map { .decimal("\($0.decimalValue)") } ?? .null
        case .date: self = (value as? Date).map { .real($0.timeIntervalSinceReferenceDate.bitPattern) } ?? .null
        case .text:
            guard let text = value as? String else {
                self = .null
                return
            }
            // What merges by its parts is needed as a whole.
            let isWhole = attribute.merge != .last || text.utf8.count <= Self.largest
            self = isWhole ? .text(text) : .large(Sync.digest(of: Data(text.utf8)))
        case .uri: self = (value as? URL).map { .text($0.absoluteString) } ?? .null
        case .data:
            guard let data = value as? Data else {
                self = .null
                return
            }
            self = data.count <= Self.largest ? .data(data) : .large(Sync.digest(of: data))
        case .uuid: self = (value as? UUID).map { .uuid($0) } ?? .null
        case .composite(let elements):
            guard let values = value as? [String: Any] ?? (value as? NSDictionary) as? [String: Any] else {
                self = .null
                return
            }
            let found = elements.map { ($0.name, HubValue(values[$0.name], $0)) }.filter { $0.1 != .null }
            self = .composite(Dictionary(found, uniquingKeysWith: { first, _ in first }))
        }
    }

    /// The value for people, in a journal.
    var text: String {
        switch self {
        case .null: "nil"
        case .integer(let number): String(number)
        case .real(let bits): String(Double(bitPattern: bits))
        case .decimal(let text), .text(let text): text
        case .data(let data): "\(data.count) bytes"
        case .uuid(let id): id.uuidString
        case .large: "a large value"
        case .composite(let values):
            values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" }.joined(separator: ", ")
        case .reference(let key): key.id.uuidString
        case .members(let keys): "\(keys.count) objects"
        }
    }

    var members: [HubKey] { if case .members(let keys) = self { keys } else { [] } }
    var reference: HubKey? { if case .reference(let key) = self { key } else { nil } }
}
