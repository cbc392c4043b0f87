import Foundation

/// What devices of an account changed of one object, to be written into the served store as the account.
struct HubOperation: Sendable {
    enum Kind: Sendable { case create, update, delete }

    var key: HubKey
    var entity: String
    var kind: Kind
    var changes: [String: HubChange] = [:]
    /// All properties of which the replica's value is dealt with by this operation.
    var accepted: Set<String> = []

    /// The objects to which changes refer.
    var references: Set<HubKey> {
        changes.values.reduce(into: []) { found, change in
            switch change {
            case .copy, .merge: break
            case .toOne(let key): if let key { found.insert(key) }
            case .members(let added, let removed, let order):
                found.formUnion(added)
                found.formUnion(removed)
                found.formUnion(order ?? [])
            case .order(let order): found.formUnion(order)
            }
        }
    }
}

/// What becomes of one property.
enum HubChange: Hashable, Sendable {
    /// The replica's value.
    case copy
    /// The value that the two values make together, by the attribute's rule; `base` is the value before.
    case merge(HubEntity.Merge, base: HubValue)
    case toOne(HubKey?)
    case members(added: [HubKey], removed: [HubKey], order: [HubKey]?)
    /// The order of members of which the other side says who they are.
    case order([HubKey])
}

extension HubOperation {
    /// The operations in an order in which no object refers to one that is created later, as far as there is one.
    static func sorted(_ operations: [HubOperation]) -> [HubOperation] {
        let creates = Dictionary(
            operations.filter { $0.kind == .create }.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        var result: [HubOperation] = []
        var seen: Set<HubKey> = []
        for start in creates.keys.sorted() {
            // Depth first, without recursion: chains may be long.
            var stack: [(key: HubKey, isDone: Bool)] = [(start, false)]
            while let (key, isDone) = stack.popLast() {
                guard let operation = creates[key] else { continue }
                if isDone {
                    result.append(operation)
                    continue
                }
                guard seen.insert(key).inserted else { continue }
                stack.append((key, true))
                for other in operation.references.sorted() where creates[other] != nil && !seen.contains(other) {
                    stack.append((other, false))
                }
            }
        }
        return result + operations.filter { $0.kind == .update }.sorted { $0.key < $1.key }
            + operations.filter { $0.kind == .delete }.sorted { $0.key < $1.key }
    }
}
