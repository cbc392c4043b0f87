import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import StoreTestSupport

extension PredicateGenerator {
    // MARK: Values

    mutating func numberValue() -> Value {
        switch numbers.below(40) {
        case 0: .integer(numbers.pick([.max, .min, 1 << 53 + 1, -1 << 62]))
        case 1: .double(numbers.pick([.nan, .infinity, -.infinity, 1e300, -0.0]))
        case 2..<12: .double(Double(numbers.below(9) - 2) / 2)
        case 12..<20: .decimal(Decimal(numbers.below(12)) / 4)
        default: .integer(Int64(numbers.below(8) - 2))
        }
    }

    mutating func textValue() -> Value { .string(numbers.pick(Self.texts)) }

    mutating func number(_ bases: [Base], depth: Int) -> ExpressionNode {
        if depth > 0, numbers.chance(3) { return arithmetic(bases, depth: depth - 1) }
        if numbers.chance(3) { return .constant(.value(numbers.chance(12) ? .null : numberValue())) }
        let types: [AttributeType] = [.integer16, .integer32, .integer64, .double, .decimal, .boolean]
        return path(to: types, bases) ?? .constant(.value(numberValue()))
    }

    mutating func arithmetic(_ bases: [Base], depth: Int) -> ExpressionNode {
        switch numbers.below(10) {
        case 0, 1, 2, 3:
            let name = numbers.pick([
                "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "bitwiseAnd:with:",
                "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:",
            ])
            return .function(name, [number(bases, depth: depth), number(bases, depth: depth)])
        case 4:
            let name = numbers.pick([
                "abs:", "floor:", "ceiling:", "trunc:", "sqrt:", "onesComplement:", "ln:", "noindex:",
            ])
            return .function(name, [number(bases, depth: depth)])
        case 5: return .function("length:", [text(bases, depth: depth)])
        case 6:
            return .conditional(predicate(bases, depth: 0), number(bases, depth: depth), number(bases, depth: depth))
        case 7: return .function("from:subtract:", [date(bases), date(bases)])
        case 8 where numbers.chance(2):
            return numbers.chance(2)
                ? .function(
                    "castObject:toType:",
                    [
                        number(bases, depth: 0),
                        .constant(.value(.string(numbers.pick(["NSNumber", "NSDecimalNumber", "Int", "Double"])))),
                    ])
                : .keyPath(operand: text(bases, depth: 0), ["length"])
        case 8:
            return .function(
                numbers.pick(["max:", "min:", "sum:", "count:", "average:"]),
                [number(bases, depth: 0), number(bases, depth: 0)])
        default: return aggregate(bases, depth: depth)
        }
    }

    mutating func text(_ bases: [Base], depth: Int) -> ExpressionNode {
        if depth > 0, numbers.chance(5) {
            let name = numbers.pick(["uppercase:", "lowercase:", "canonical:"])
            return .function(name, [text(bases, depth: depth - 1)])
        }
        if numbers.chance(3) { return .constant(.value(numbers.chance(12) ? .null : textValue())) }
        if numbers.chance(8), let element = ordered(bases) { return element }
        return path(to: numbers.chance(6) ? [.uri] : [.string], bases) ?? .constant(.value(textValue()))
    }

    /// A property of a member by position.
    mutating func ordered(_ bases: [Base]) -> ExpressionNode? {
        let isShelf = numbers.chance(3)
        let property = isShelf ? "books" : "chapters"
        let owner = Bookshop.ordinal(isShelf ? "Shelf" : "Book")
        guard let base = bases.first(where: { Bookshop.model.entities[$0.entity].root == owner }) else { return nil }
        let index = numbers.pick([
            Constant.symbol("FIRST"), .symbol("LAST"), .value(.integer(0)),
        ])
        let members = ExpressionNode.keyPath(operand: base.expression, [property])
        return .keyPath(operand: .function("objectFrom:withIndex:", [members, .constant(index)]), ["title"])
    }

    mutating func date(_ bases: [Base]) -> ExpressionNode {
        if numbers.chance(3) { return .constant(.value(.date(Double(numbers.below(6)) * 50))) }
        if numbers.chance(8) {
            return .function("castObject:toType:", [number(bases, depth: 1), .constant(.value(.string("NSDate")))])
        }
        if numbers.chance(5) {
            return .function(
                "add:to:", [path(to: [.date], bases) ?? .constant(.value(.date(5))), .constant(.value(.integer(50)))])
        }
        return path(to: [.date], bases) ?? .constant(.value(.date(100)))
    }

    // MARK: Paths

    /// A key path over to-ones to an attribute of one of the types.
    mutating func path(to types: [AttributeType], _ bases: [Base], hops: Int = 2) -> ExpressionNode? {
        for _ in 0..<6 {
            let base = numbers.pick(bases)
            var entity = Bookshop.model.entities[base.entity]
            var keys: [String] = []
            for _ in 0..<numbers.below(hops + 1) {
                let ones = entity.properties.filter { $0.relationship.map { !$0.isToMany } ?? false }
                guard !ones.isEmpty else { break }
                let one = numbers.pick(ones)
                keys.append(one.name)
                entity = Bookshop.model.entities[one.relationship?.destination ?? 0]
            }
            let fitting = entity.properties.filter { property in
                !property.isTransient && (property.attribute.map { types.contains($0.type) } ?? false)
            }
            guard !fitting.isEmpty else { continue }
            return .keyPath(operand: base.expression, keys + [numbers.pick(fitting).name])
        }
        return nil
    }

    mutating func toOne(_ bases: [Base]) -> ExpressionNode {
        for _ in 0..<8 {
            let base = numbers.pick(bases)
            let ones = Bookshop.model.entities[base.entity].properties.filter {
                $0.relationship.map { !$0.isToMany } ?? false
            }
            guard !ones.isEmpty else { continue }
            return .keyPath(operand: base.expression, [numbers.pick(ones).name])
        }
        return bases[0].expression
    }

    /// A key path with one or two to-manys in it, and the entity of its members.
    mutating func toMany(_ bases: [Base]) -> (ExpressionNode, Int)? {
        for _ in 0..<8 {
            let base = numbers.pick(bases)
            var entity = Bookshop.model.entities[base.entity]
            var keys: [String] = []
            var isMany = false
            for _ in 0..<(1 + numbers.below(3)) {
                let steps = entity.properties.filter { $0.relationship != nil }
                guard !steps.isEmpty else { break }
                let step = numbers.pick(steps)
                isMany = isMany || step.relationship?.isToMany ?? false
                keys.append(step.name)
                entity = Bookshop.model.entities[step.relationship?.destination ?? 0]
                if isMany && numbers.chance(2) { break }
            }
            if isMany { return (.keyPath(operand: base.expression, keys), entity.ordinal) }
        }
        return nil
    }
}
