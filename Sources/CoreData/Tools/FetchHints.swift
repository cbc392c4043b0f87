import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Explains a database's plan, and what to do about it.
struct FetchHints {
    private let explained: ExplainedStatement
    private let request: AnyFetchRequest
    private let plan: FetchPlan
    private let entity: CompiledEntity

    init(_ explained: ExplainedStatement, _ request: AnyFetchRequest, _ plan: FetchPlan, _ model: CompiledModel) {
        self.explained = explained
        self.request = request
        self.plan = plan
        entity = model.entities[plan.entity]
    }

    var all: [String] {
        explained.plan.compactMap(hint) + explained.statement.memory.map { [$0] }.orEmpty
    }

    static func unsaved(_ count: Int) -> String {
        "\(number(count)) unsaved \(count == 1 ? "object is" : "objects are") held against the predicate in memory"
    }

    private func hint(_ step: String) -> String? {
        if step.hasPrefix("SCAN "), let table = explained.tables.first(where: { step.names($0.alias) }) {
            return scan(table, step)
        }
        if step.contains("AUTOMATIC"), let table = explained.tables.first(where: { step.names($0.alias) }) {
            return
                "an index of table \(table.name) is made for this statement alone, each time that it runs: add one on "
                + "what its rows are found by"
        }
        guard step.hasPrefix("USE TEMP B-TREE") else { return nil }
        if step.contains("ORDER") { return sorting }
        return step.contains("GROUP") ? "groups are gathered in a temporary B-tree" + grouping : nil
    }

    // MARK: Scans

    private func scan(_ table: ExplainedStatement.Table, _ step: String) -> String? {
        let rows = "\(Self.number(table.rows ?? 0)) row\(table.rows == 1 ? "" : "s")"
        guard table.alias == "t0" else {
            return "full scan of the \(rows) of table \(table.name), perhaps for each row of \(entity.name)"
        }
        // All rows are asked for; an index that they are walked by is their order.
        guard let predicate = plan.predicate else { return nil }
        let scanned = "full scan of the \(rows) of \(entity.name)"
        let (found, lost) = (Candidates(predicate, entity), predicate)
        if !found.properties.isEmpty {
            let names = found.properties.joined(separator: ", ")
            if isIndexed(found.properties) {
                return scanned + ": the database took it for faster than the index on \(names)"
            }
            return scanned + ": add an index on \(names)"
        }
        if let name = substring(of: predicate) {
            return scanned + ": give \(name) a trigram index (\(SearchIndexKinds.key) = trigram in its user info)"
        }
        return scanned + ": no index helps with \(lost.predicateFormat)"
    }

    /// Returns the attribute whose trigram index would serve the predicate.
    private func substring(of predicate: PredicateNode) -> String? {
        switch predicate {
        case .and(let parts): return parts.lazy.compactMap(substring).first
        case .comparison(let test) where test.modifier == .direct:
            let (side, other) = test.comparator == .in ? (test.right, test.left) : (test.left, test.right)
            guard case .keyPath(.evaluatedObject, let keys) = side, keys.count == 1,
                let property = entity.property(named: keys[0]), !property.isTransient,
                let attribute = property.attribute, attribute.type == .string,
                !attribute.searchIndexes.contains(.trigram), case .constant(.value(.string(let wanted))) = other
            else { return nil }
            let query: String? =
                switch test.comparator {
                case .contains, .beginsWith, .endsWith, .in: SearchText.query(containing: wanted)
                case .like: SearchText.query(like: wanted)
                default: nil
                }
            return query == nil ? nil : keys[0]
        default: return nil
        }
    }

    /// Whether an index of the entity begins with one of the properties.
    private func isIndexed(_ properties: [String]) -> Bool {
        let slots = properties.compactMap { entity.slotByName[$0] }
        return entity.fetchIndexes.contains { index in
            index.elements.first.map { element in slots.contains { element.slot == $0 } } ?? false
        }
    }

    // MARK: Sorting

    private var sorting: String {
        let sorted = "the rows that are found are sorted in a temporary B-tree"
        guard plan.sorts.allSatisfy({ $0.keyPath.count == 1 && $0.comparison == .literal }) else {
            return sorted + ": no index has an order by another entity's properties, or one for people's eyes"
        }
        let names = plan.sorts.compactMap(\.keyPath.first)
        return sorted + ": an index on \(names.joined(separator: ", ")) would have them in order"
    }

    private var grouping: String {
        let names = (request.propertiesToGroupBy ?? []).compactMap {
            ($0 as? NSPropertyDescription)?.path ?? $0 as? String
        }
        return names.isEmpty ? "" : ": an index on \(names.joined(separator: ", ")) would have them together"
    }

    private static func number(_ value: Int) -> String {
        var digits = String(value)
        var place = digits.count - 3
        while place > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
            place -= 3
        }
        return digits
    }

    /// The properties of the entity that an index could find the rows by.
    private struct Candidates {
        private(set) var equal: [String] = []
        private(set) var ranged: [String] = []

        /// The properties that are compared for equality first, then one that is compared with a range.
        var properties: [String] { equal + ranged.prefix(1) }

        init(_ predicate: PredicateNode, _ entity: CompiledEntity) { take(predicate, entity) }

        private mutating func take(_ predicate: PredicateNode, _ entity: CompiledEntity) {
            switch predicate {
            case .and(let parts): for part in parts { take(part, entity) }
            case .comparison(let test): take(test, entity)
            default: break
            }
        }

        private mutating func take(_ test: PredicateNode.Comparison, _ entity: CompiledEntity) {
            guard test.modifier == .direct, test.options.isEmpty || test.options == .normalized,
                let name = name(test.left, test.right, entity) ?? name(test.right, test.left, entity)
            else { return }
            switch test.comparator {
            case .equalTo, .in: if !equal.contains(name) { equal.append(name) }
            case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between, .beginsWith:
                if !ranged.contains(name) { ranged.append(name) }
            case .notEqualTo, .matches, .like, .endsWith, .customSelector, .contains: break
            }
        }

        private func name(_ side: ExpressionNode, _ other: ExpressionNode, _ entity: CompiledEntity) -> String? {
            guard case .keyPath(.evaluatedObject, let keys) = side, keys.count == 1,
                let property = entity.property(named: keys[0]), !property.isTransient, property.attribute != nil
            else { return nil }
            switch other {
            case .constant, .aggregate: return keys[0]
            default: return nil
            }
        }
    }
}

extension Optional where Wrapped == [String] {
    fileprivate var orEmpty: [String] { self ?? [] }
}

extension String {
    /// Whether a step of a plan is about the table of that alias.
    fileprivate func names(_ alias: String) -> Bool { split(separator: " ").contains { $0 == alias } }
}
