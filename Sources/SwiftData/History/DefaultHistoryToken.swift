import CoreData
import Foundation

/// A position in the histories of a container's stores: of each store the number of a transaction.
///
///     let data = try JSONEncoder().encode(transactions.last?.token)      // for the next launch
///
/// Tokens compare by the stores that both name. A transaction of a store that a token does not name is later than the
/// token, so that a fetch with `$0.token > token` gives all transactions of a store that was added meanwhile.
public struct DefaultHistoryToken: HistoryToken {
    public typealias TokenType = [String: Int64]

    let positions: [String: Int64]
    /// Whether this is the token of a transaction that a predicate is evaluated for.
    private let isCandidate: Bool

    init(_ positions: [String: Int64], isCandidate: Bool = false) {
        self.positions = positions
        self.isCandidate = isCandidate
    }

    /// The number of the last transaction of each store, by the store's identifier.
    public var tokenValue: [String: Int64]? { positions }

    /// The identifier of the store; of several stores the first in the order of their identifiers.
    public var storeIdentifier: String { positions.keys.min() ?? "" }

    public var id: Int { hashValue }

    /// The same position as Core Data names it.
    var coreDataToken: NSPersistentHistoryToken { NSPersistentHistoryToken(positions) }

    public static func == (one: DefaultHistoryToken, other: DefaultHistoryToken) -> Bool {
        one.positions == other.positions
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(positions) }

    public static func < (one: DefaultHistoryToken, other: DefaultHistoryToken) -> Bool {
        let common = one.positions.keys.filter { other.positions[$0] != nil }.sorted()
        if let store = common.first(where: { one.positions[$0] != other.positions[$0] }),
            let first = one.positions[store], let second = other.positions[store]
        {
            return first < second
        }
        if !common.isEmpty {
            // A transaction is in one store, a token may be of several: there they are at the same place.
            return !one.isCandidate && !other.isCandidate && one.positions.count < other.positions.count
        }
        if one.isCandidate != other.isCandidate { return other.isCandidate }
        return one.sorted.lexicographicallyPrecedes(other.sorted) { ($0.key, $0.value) < ($1.key, $1.value) }
    }

    private var sorted: [(key: String, value: Int64)] { positions.sorted { $0.key < $1.key } }

    // MARK: Coding

    private enum CodingKeys: CodingKey { case tokenValue }

    public init(from decoder: any Decoder) throws {
        self.init(try decoder.container(keyedBy: CodingKeys.self).decode([String: Int64].self, forKey: .tokenValue))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(positions, forKey: .tokenValue)
    }
}
