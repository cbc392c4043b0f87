import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import StoreTestSupport
import TestSupport

/// Makes predicates of every kind that a store can answer, over the ``Bookshop``.
struct PredicateGenerator {
    var numbers: SeededNumbers
    /// Constants for objects of an entity.
    let objects: (Int) -> [any PredicateObject]

    /// What key paths may start from: SELF and the variables of SUBQUERYs.
    struct Base {
        var expression: ExpressionNode
        var entity: Int
    }

    static let texts = [
        "", "a", "A", "b", "ab", "Ab", "aB", "é", "E", "e\u{301}", "Straße", "STRASSE", "İ", "i", "a%b", "a_b", "ba",
        "日本", "日", "👩‍👩‍👧", "z", "ä", "Äb", "\u{FFFD}", "\u{10FFFF}",
    ]
    static let patterns = ["*", "a*", "?", "*b", "?b*", "a?", "", "é", "\\*", "*[a-b]*"]
    static let expressions = ["a.*", "[ab]+", "", ".", "(?i)a.*", "é|É", ".*b"]

    /// A predicate on objects of the entity.
    mutating func predicate(on entity: Int) -> PredicateNode {
        predicate([Base(expression: .evaluatedObject, entity: entity)], depth: 3)
    }

    mutating func predicate(_ bases: [Base], depth: Int) -> PredicateNode {
        if depth > 0, numbers.chance(2) {
            switch numbers.below(5) {
            case 0, 1: return .and([predicate(bases, depth: depth - 1), predicate(bases, depth: depth - 1)])
            case 2: return .or([predicate(bases, depth: depth - 1), predicate(bases, depth: depth - 1)])
            case 3: return .not(predicate(bases, depth: depth - 1))
            default: break
            }
        }
        switch numbers.below(15) {
        case 0, 1, 2: return compare(number(bases, depth: 2), number(bases, depth: 1))
        case 3, 4: return compareTexts(text(bases, depth: 1), text(bases, depth: 1))
        case 5: return matchTexts(text(bases, depth: 1), bases)
        case 6: return compare(date(bases), date(bases))
        case 7: return compareWithNil(bases)
        case 8: return isInList(bases)
        case 9: return between(bases)
        case 10, 11: return quantified(bases)
        case 12: return onObjects(bases)
        case 13: return onCollections(bases, depth: depth)
        default: return numbers.chance(8) ? .constant(numbers.chance(2)) : onEntity(bases)
        }
    }

    // MARK: Leaves

    mutating func comparator() -> PredicateNode.Comparator {
        numbers.pick([
            .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo,
        ])
    }

    mutating func options() -> TextOptions {
        TextOptions(rawValue: numbers.pick([0, 0, 1, 2, 3, 4, 5]))
    }

    mutating func compare(_ a: ExpressionNode, _ b: ExpressionNode) -> PredicateNode {
        .comparison(.init(a, comparator(), b))
    }

    mutating func compareTexts(_ a: ExpressionNode, _ b: ExpressionNode) -> PredicateNode {
        .comparison(.init(a, comparator(), b, options: options()))
    }

    mutating func matchTexts(_ a: ExpressionNode, _ bases: [Base]) -> PredicateNode {
        let comparator = numbers.pick([
            PredicateNode.Comparator.beginsWith, .endsWith, .contains, .in, .like, .matches, .beginsWith,
        ])
        let b: ExpressionNode
        switch comparator {
        case .like: b = .constant(.value(.string(numbers.pick(Self.patterns))))
        case .matches: b = .constant(.value(.string(numbers.pick(Self.expressions))))
        default: b = text(bases, depth: 0)
        }
        return .comparison(.init(a, comparator, b, options: options()))
    }

    mutating func compareWithNil(_ bases: [Base]) -> PredicateNode {
        let value: ExpressionNode =
            switch numbers.below(5) {
            case 0: number(bases, depth: 1)
            case 1: text(bases, depth: 1)
            case 2: date(bases)
            case 3: path(to: [.uuid, .uri, .binaryData, .transformable, .boolean], bases) ?? number(bases, depth: 1)
            default: toOne(bases)
            }
        let null = ExpressionNode.constant(.value(.null))
        let comparator = numbers.chance(4) ? self.comparator() : numbers.pick([.equalTo, .notEqualTo])
        if case .keyPath(_, let keys) = value, keys.last.map({ isObject($0) }) ?? false {
            return .comparison(.init(value, numbers.pick([.equalTo, .notEqualTo]), null))
        }
        return numbers.chance(4)
            ? .comparison(.init(null, comparator, value)) : .comparison(.init(value, comparator, null))
    }

    func isObject(_ name: String) -> Bool {
        Bookshop.model.entities.contains { $0.property(named: name)?.relationship != nil }
    }

    mutating func isInList(_ bases: [Base]) -> PredicateNode {
        let count = numbers.pick([0, 1, 2, 3, 12])
        if numbers.chance(2) {
            let members = (0..<count).map { _ in Constant.value(numbers.chance(6) ? .null : numberValue()) }
            return .comparison(.init(number(bases, depth: 1), .in, .constant(.collection(members, isOrdered: true))))
        }
        if numbers.chance(3) {
            let members = (0..<count).map { _ in text(bases, depth: 0) }
            return .comparison(.init(text(bases, depth: 0), .in, .aggregate(members), options: options()))
        }
        let members = (0..<count).map { _ in Constant.value(numbers.chance(6) ? .null : textValue()) }
        return .comparison(
            .init(text(bases, depth: 1), .in, .constant(.collection(members, isOrdered: false)), options: options()))
    }

    mutating func between(_ bases: [Base]) -> PredicateNode {
        if numbers.chance(3) {
            return .comparison(
                .init(
                    text(bases, depth: 0), .between, .aggregate([text(bases, depth: 0), text(bases, depth: 0)]),
                    options: options()))
        }
        return .comparison(
            .init(number(bases, depth: 1), .between, .aggregate([number(bases, depth: 0), number(bases, depth: 0)])))
    }

    mutating func onEntity(_ bases: [Base]) -> PredicateNode {
        let base = numbers.pick(bases)
        let names = ["Book", "Comic", "Tag", "book"]
        let path = ExpressionNode.keyPath(operand: base.expression, ["entity", "name"])
        if numbers.chance(3) {
            let members = [numbers.pick(names), numbers.pick(names)].map { Constant.value(.string($0)) }
            return .comparison(.init(path, .in, .constant(.collection(members, isOrdered: true))))
        }
        return .comparison(
            .init(
                path, numbers.pick([.equalTo, .notEqualTo, .beginsWith, .contains]),
                .constant(.value(.string(numbers.pick(names)))), options: options()))
    }

    // MARK: Collections

    /// ANY, ALL, and IN a to-many's values.
    mutating func quantified(_ bases: [Base]) -> PredicateNode {
        guard let (collection, entity) = toMany(bases) else {
            return compare(number(bases, depth: 1), number(bases, depth: 0))
        }
        let modifier = numbers.pick([PredicateNode.Modifier.any, .all])
        let member = [Base(expression: .evaluatedObject, entity: entity)]
        let isText = numbers.chance(2)
        let types: [AttributeType] = isText ? [.string] : [.integer16, .integer32, .integer64, .double, .decimal]
        guard case .keyPath(_, let rest)? = path(to: types, member, hops: 1),
            case .keyPath(let operand, let keys) = collection
        else { return .comparison(.init(collection, .equalTo, object(entity), modifier: modifier)) }
        let values = ExpressionNode.keyPath(operand: operand, keys + rest)
        if isText {
            let other = text(bases, depth: 0)
            switch numbers.below(4) {
            case 0: return .comparison(.init(other, .in, values, options: options()))
            case 1: return .comparison(.init(values, .contains, other, options: options()))
            case 2:
                return .comparison(
                    .init(
                        values, numbers.pick([.beginsWith, .contains, .endsWith]), other, modifier: modifier,
                        options: options()))
            default:
                return .comparison(.init(values, comparator(), other, modifier: modifier, options: options()))
            }
        }
        let other = numbers.chance(6) ? .constant(.value(.null)) : number(bases, depth: 1)
        return .comparison(.init(values, comparator(), other, modifier: modifier))
    }

    /// Comparisons of rows.
    mutating func onObjects(_ bases: [Base]) -> PredicateNode {
        let base = numbers.pick(bases)
        switch numbers.below(6) {
        case 0:
            return .comparison(.init(base.expression, numbers.pick([.equalTo, .notEqualTo]), object(base.entity)))
        case 1:
            return .comparison(.init(base.expression, .in, objectList(base.entity)))
        case 2, 3:
            guard let (collection, entity) = toMany(bases) else { break }
            if numbers.chance(3) { return .comparison(.init(object(entity), .in, collection)) }
            if numbers.chance(3) {
                return .comparison(.init(collection, .in, objectList(entity), modifier: numbers.pick([.any, .all])))
            }
            if numbers.chance(2) { return .comparison(.init(collection, .contains, object(entity))) }
            return .comparison(
                .init(
                    collection, numbers.pick([.equalTo, .notEqualTo]), object(entity),
                    modifier: numbers.pick([.any, .all])))
        case 4:
            let one = toOne(bases)
            return .comparison(.init(one, .in, objectList(destination(one))))
        default: break
        }
        let one = toOne(bases)
        let other = numbers.chance(3) ? toOne(bases) : object(destination(one))
        return .comparison(.init(one, numbers.pick([.equalTo, .notEqualTo]), other))
    }

    func destination(_ path: ExpressionNode) -> Int {
        guard case .keyPath(_, let keys) = path, let name = keys.last else { return Bookshop.ordinal("Book") }
        for entity in Bookshop.model.entities {
            if let relationship = entity.property(named: name)?.relationship { return relationship.destination }
        }
        return Bookshop.ordinal("Book")
    }

    mutating func object(_ entity: Int) -> ExpressionNode {
        let candidates = objects(entity)
        if candidates.isEmpty || numbers.chance(12) { return .constant(.value(.null)) }
        return .constant(.object(numbers.pick(candidates)))
    }

    mutating func objectList(_ entity: Int) -> ExpressionNode {
        let candidates = objects(entity)
        let members = (0..<numbers.below(4)).compactMap { _ in
            candidates.isEmpty ? nil : Constant.object(numbers.pick(candidates))
        }
        return .constant(.collection(members, isOrdered: false))
    }

    /// SUBQUERY and collection operators, compared with a number.
    mutating func onCollections(_ bases: [Base], depth: Int) -> PredicateNode {
        .comparison(
            .init(aggregate(bases, depth: depth), comparator(), .constant(.value(.integer(Int64(numbers.below(4)))))))
    }

    mutating func aggregate(_ bases: [Base], depth: Int) -> ExpressionNode {
        guard let (collection, entity) = toMany(bases) else { return number(bases, depth: 0) }
        var source = collection
        if numbers.chance(2), depth > 0 {
            let variable = "v\(bases.count)"
            let member = Base(expression: .variable(variable), entity: entity)
            source = .subquery(collection, variable: variable, predicate(bases + [member], depth: depth - 1))
        }
        let rest = path(
            to: [.integer16, .integer32, .integer64, .double], [Base(expression: .evaluatedObject, entity: entity)],
            hops: 1)
        guard numbers.chance(2), case .keyPath(_, let keys)? = rest else {
            if numbers.chance(4) {
                return .function("objectFrom:withIndex:", [source, .constant(.symbol("SIZE"))])
            }
            return .keyPath(operand: source, ["@count"])
        }
        if numbers.chance(5) {
            let union = numbers.pick(["@distinctUnionOfObjects", "@unionOfObjects"])
            return .keyPath(
                operand: source, [union] + keys + numbers.pick([["@count"], ["@max", "self"], ["@sum", "self"]]))
        }
        if numbers.chance(4) {
            let name = numbers.pick(["sum:", "min:", "max:", "average:", "count:", "median:"])
            return .function(name, [.keyPath(operand: source, keys)])
        }
        return .keyPath(operand: source, [numbers.pick(["@sum", "@min", "@max", "@avg"])] + keys)
    }
}
