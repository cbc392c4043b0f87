import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// Translates the predicate of a partial index to its WHERE clause: comparisons of the entity's own attributes with
/// constants, AND, OR, NOT.
///
///     title != nil                    // ZTITLE IS NOT NULL
///     age > 17 AND state == "open"    // (ZAGE > 17 AND ZSTATE = 'open')
struct PartialIndexCondition {
    let entity: CompiledEntity
    let index: String
    /// Returns the column of a property by name; `nil` if there is none.
    let column: (String) -> String?

    func condition(of predicate: String) throws -> SQLExpression {
        let node: PredicateNode
        do {
            node = try PredicateParser.parse(format: predicate)
        } catch {
            throw failure(error.diagnostic.message, predicate)
        }
        return try condition(of: node, text: predicate)
    }

    func condition(of node: PredicateNode, text: String) throws -> SQLExpression {
        switch node {
        case .constant(let value): return value ? .and([]) : .or([])
        case .and(let terms): return .and(try terms.map { try condition(of: $0, text: text) })
        case .or(let terms): return .or(try terms.map { try condition(of: $0, text: text) })
        case .not(let term): return .not(try condition(of: term, text: text))
        case .comparison(let comparison): return try condition(of: comparison, text: text)
        case .block: throw failure("code cannot be part of an index", text)
        }
    }

    private func condition(of comparison: PredicateNode.Comparison, text: String) throws -> SQLExpression {
        guard comparison.modifier == .direct, comparison.options.isEmpty else {
            throw failure("an index knows no ANY, ALL or text options", text)
        }
        // Apple writes the property first; a constant on the left is swapped.
        if let name = propertyName(comparison.left) {
            return try self.comparison(name, comparison.comparator, comparison.right, text: text)
        }
        if let name = propertyName(comparison.right), let turned = comparison.comparator.turned {
            return try self.comparison(name, turned, comparison.left, text: text)
        }
        throw failure("it must compare properties of '\(entity.name)' with constants", text)
    }

    private func comparison(
        _ name: String, _ comparator: PredicateNode.Comparator, _ other: ExpressionNode, text: String
    ) throws -> SQLExpression {
        guard let column = column(name) else {
            throw failure("'\(name)' is no stored attribute or to-one relationship of '\(entity.name)'", text)
        }
        let left = SQLExpression.column(nil, column)
        if let items = constants(other) {
            switch comparator {
            case .in: return .inList(left, items.map { constant($0, of: name) })
            case .between where items.count == 2:
                return .and([
                    .comparison(.greaterOrEqual, left, constant(items[0], of: name)),
                    .comparison(.lessOrEqual, left, constant(items[1], of: name)),
                ])
            default: break
            }
        }
        guard case .constant(.value(let value)) = other, let constant = sqlValue(value) else {
            throw failure("it must compare with constants", text)
        }
        let right = self.constant(constant, of: name)
        switch (comparator, constant) {
        case (.equalTo, .null): return .isNull(left)
        case (.notEqualTo, .null): return .isNotNull(left)
        case (_, .null): throw failure("only == and != can compare with nil", text)
        case (.equalTo, _): return .comparison(.equal, left, right)
        case (.notEqualTo, _): return .comparison(.notEqual, left, right)
        case (.lessThan, _): return .comparison(.less, left, right)
        case (.lessThanOrEqualTo, _): return .comparison(.lessOrEqual, left, right)
        case (.greaterThan, _): return .comparison(.greater, left, right)
        case (.greaterThanOrEqualTo, _): return .comparison(.greaterOrEqual, left, right)
        default: throw failure("only ==, !=, <, <=, >, >=, IN and BETWEEN can be part of an index", text)
        }
    }

    /// Returns the value in the type of the attribute's column.
    private func constant(_ value: SQLValue, of name: String) -> SQLExpression {
        let kind = entity.property(named: name)?.attribute?.type.kind
        switch (kind, value) {
        case (.boolean?, .integer(let truth)) where truth == 0 || truth == 1: return .cast(.bind(value), to: .boolean)
        case (.date?, .real(let seconds)) where !seconds.isNaN: return .cast(.bind(value), to: .date)
        case (.identifier?, .blob): return .cast(.bind(value), to: .identifier)
        default: return .bind(value)
        }
    }

    private func propertyName(_ expression: ExpressionNode) -> String? {
        switch expression {
        case .keyPath(.evaluatedObject, let path) where path.count == 1: path[0]
        default: nil
        }
    }

    /// Returns the constants of `{1, 2}`.
    private func constants(_ expression: ExpressionNode) -> [SQLValue]? {
        switch expression {
        case .aggregate(let items):
            let values = items.map { item -> SQLValue? in
                guard case .constant(.value(let value)) = item, !value.isNull else { return nil }
                return sqlValue(value)
            }
            return values.contains(nil) ? nil : values.compactMap { $0 }
        case .constant(.collection(let items, _)):
            return constants(.aggregate(items.map(ExpressionNode.constant)))
        default: return nil
        }
    }

    private func sqlValue(_ value: Value) -> SQLValue? {
        switch value {
        case .null: .null
        case .integer(let value): .integer(value)
        case .double(let value), .date(let value): .real(value)
        case .string(let value), .uri(let value): .text(value)
        case .decimal(let value): .real((value as NSDecimalNumber).doubleValue)
        case .data(let value): .blob(value)
        case .uuid(let value): .blob(value.data)
        case .opaque: nil
        }
    }

    private func failure(_ reason: String, _ predicate: String) -> StoreFailure {
        StoreFailure(
            .unsupportedModel,
            "The predicate of index '\(index)' in entity '\(entity.name)' (\(predicate)) cannot be stored: \(reason).",
            entity: entity.name)
    }
}

extension PredicateNode.Comparator {
    /// The comparator with swapped operands.
    fileprivate var turned: Self? {
        switch self {
        case .lessThan: .greaterThan
        case .lessThanOrEqualTo: .greaterThanOrEqualTo
        case .greaterThan: .lessThan
        case .greaterThanOrEqualTo: .lessThanOrEqualTo
        case .equalTo, .notEqualTo: self
        default: nil
        }
    }
}
