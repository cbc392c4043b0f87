import CoreDataPrimitives

/// A predicate as a tree of values.
///
/// The tree contains no managed objects of Apple's classes: an object constant is a ``PredicateObject``. Before passing
/// a tree to the engine, the caller replaces those by ``Constant/key(_:)``.
package indirect enum PredicateNode {
    case constant(Bool)
    case comparison(Comparison)
    case and([PredicateNode])
    case or([PredicateNode])
    case not(PredicateNode)
    /// Code: evaluated in memory, never translated.
    case block(PredicateBlock)

    package struct Comparison {
        package var left: ExpressionNode
        package var right: ExpressionNode
        package var comparator: Comparator
        package var modifier: Modifier
        package var options: TextOptions

        package init(
            _ left: ExpressionNode, _ comparator: Comparator, _ right: ExpressionNode,
            modifier: Modifier = .direct, options: TextOptions = []
        ) {
            self.left = left
            self.right = right
            self.comparator = comparator
            self.modifier = modifier
            self.options = options
        }
    }

    /// Apple's comparison operators, with Apple's raw values.
    package enum Comparator: UInt, Sendable {
        case lessThan = 0
        case lessThanOrEqualTo = 1
        case greaterThan = 2
        case greaterThanOrEqualTo = 3
        case equalTo = 4
        case notEqualTo = 5
        case matches = 6
        case like = 7
        case beginsWith = 8
        case endsWith = 9
        case `in` = 10
        case customSelector = 11
        case contains = 99
        case between = 100
    }

    package enum Modifier: UInt, Sendable {
        case direct = 0
        case all = 1
        case any = 2
    }
}

/// A block, and an identity that decides whether two predicates with blocks are equal.
package final class PredicateBlock {
    package let body: (Operand, [String: Operand]) throws -> Bool
    /// The object that the block was made for; two blocks with the same origin are equal.
    package let origin: AnyObject?

    /// The reason why the block must not run, in memory or in a store.
    package let refusal: PredicateFailure?

    package init(origin: AnyObject? = nil, _ body: @escaping (Operand, [String: Operand]) throws -> Bool) {
        self.origin = origin
        self.body = body
        refusal = nil
    }

    /// Makes a predicate that fails with the reason.
    package init(refusal: PredicateFailure) {
        origin = nil
        body = { _, _ in throw refusal }
        self.refusal = refusal
    }

    package var identity: ObjectIdentifier { ObjectIdentifier(origin ?? self) }
}

/// An expression as a tree of values.
package indirect enum ExpressionNode {
    case constant(Constant)
    /// `SELF`.
    case evaluatedObject
    /// `$name`.
    case variable(String)
    /// A key path on an operand: `name`, `unit.name`, `items.@count`, `$x.price`, `@sum` elements included.
    case keyPath(operand: ExpressionNode, [String])
    /// `ANYKEY`.
    case anyKey
    /// One of the language's functions by Apple's selector name: `add:to:`, `uppercase:`, `now`, `sum:`,
    /// `castObject:toType:`, `objectFrom:withIndex:` (whose index is an expression or a constant
    /// `.symbol("FIRST" | "LAST" | "SIZE")`).
    case function(String, [ExpressionNode])
    /// `FUNCTION(target, "selector:", …)`.
    case message(target: ExpressionNode, selector: String, [ExpressionNode])
    case aggregate([ExpressionNode])
    case union(ExpressionNode, ExpressionNode)
    case intersection(ExpressionNode, ExpressionNode)
    case difference(ExpressionNode, ExpressionNode)
    case subquery(ExpressionNode, variable: String, PredicateNode)
    case conditional(PredicateNode, ExpressionNode, ExpressionNode)
    case assignment(variable: String, ExpressionNode)
    case fetch(request: ExpressionNode, context: ExpressionNode, countOnly: Bool)
    case block(ExpressionBlock)
}

/// A block, its arguments besides the object, and an identity that decides whether two expressions with blocks are
/// equal.
package final class ExpressionBlock {
    package let arguments: [ExpressionNode]
    package let body: (Operand, [Operand]) throws -> Operand
    /// The object that the block was made for; two blocks with the same origin are equal.
    package let origin: AnyObject?

    /// The reason why the block must not run, in memory or in a store.
    package let refusal: PredicateFailure?

    package init(
        origin: AnyObject? = nil, arguments: [ExpressionNode],
        _ body: @escaping (Operand, [Operand]) throws -> Operand
    ) {
        self.origin = origin
        self.arguments = arguments
        self.body = body
        refusal = nil
    }

    /// Makes an expression that fails with the reason.
    package init(refusal: PredicateFailure) {
        origin = nil
        arguments = []
        body = { _, _ in throw refusal }
        self.refusal = refusal
    }

    package var identity: ObjectIdentifier { ObjectIdentifier(origin ?? self) }
}

/// A constant of a predicate.
package indirect enum Constant {
    case value(Value)
    /// A managed object or object ID, as passed by the caller.
    case object(any PredicateObject)
    /// A row of the store that the predicate is translated for; `nil` for an object that has no row there.
    case key(RowKey?)
    /// An array, set or ordered set; sets are printed and compared without order.
    case collection([Constant], isOrdered: Bool)
    case dictionary([(key: Constant, value: Constant)])
    /// `FIRST`, `LAST`, `SIZE` as an index.
    case symbol(String)
}

/// The options of text comparisons: `[c]`, `[d]`, `[n]`, `[l]`; raw values are Apple's.
package struct TextOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt

    package init(rawValue: UInt) { self.rawValue = rawValue }

    package static let caseInsensitive = TextOptions(rawValue: 1)
    package static let diacriticInsensitive = TextOptions(rawValue: 2)
    package static let normalized = TextOptions(rawValue: 4)
    package static let localeSensitive = TextOptions(rawValue: 8)
}
