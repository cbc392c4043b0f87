import CoreData
import CoreDataPredicate
import Foundation
import TestSupport

/// An expression of whatever type, so that a generator needs not know it; the one inside is what is converted.
struct AnyPart<Output>: StandardPredicateExpression, ConvertibleExpression {
    let base: any StandardPredicateExpression<Output>

    init(_ base: any StandardPredicateExpression<Output>) { self.base = base }

    func evaluate(_ bindings: PredicateBindings) throws -> Output { try base.evaluate(bindings) }

    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part { try conversion.part(base) }

    init(from decoder: any Decoder) throws { throw CocoaError(.coderReadCorrupt) }
    func encode(to encoder: any Encoder) throws { throw CocoaError(.coderInvalidValue) }
}

/// Makes predicates of Swift's at random, as `#Predicate` would write them.
struct PredicateGenerator {
    typealias E = PredicateExpressions
    typealias Truth = AnyPart<Bool>
    typealias Number = AnyPart<Int64>
    typealias Real = AnyPart<Double>
    typealias Text = AnyPart<String>
    typealias MaybeText = AnyPart<String?>
    typealias MaybeTruth = AnyPart<Bool?>

    /// What an expression may speak of.
    struct Scope {
        var sagas: [AnyPart<Saga>] = []
        var beings: [AnyPart<Being>] = []
        var labels: [AnyPart<Label>] = []
        var texts: [Text] = []
        var numbers: [Number] = []
    }

    final class Source {
        var random: SeededNumbers
        init(seed: UInt64) { random = SeededNumbers(seed: seed) }
    }

    /// Numbers that are drawn in closures, too.
    let source: Source

    init(seed: UInt64) { source = Source(seed: seed) }

    func sagas() -> Predicate<Saga> { Predicate<Saga> { truth(5, Scope(sagas: [AnyPart($0)])) } }

    func beings() -> Predicate<Being> { Predicate<Being> { truth(5, Scope(beings: [AnyPart($0)])) } }

    private func below(_ limit: Int) -> Int { source.random.below(limit) }
    private func chance(_ oneIn: Int) -> Bool { source.random.chance(oneIn) }
    private func pick<T>(_ items: [T]) -> T { source.random.pick(items) }
    private func arg<T: Codable & Sendable>(_ value: T) -> AnyPart<T> { AnyPart(E.build_Arg(value)) }

    // MARK: Truth

    func truth(_ depth: Int, _ scope: Scope) -> Truth {
        guard depth > 0 else { return truthLeaf(scope) }
        switch below(26) {
        case 0, 1: return AnyPart(E.build_Conjunction(lhs: truth(depth - 1, scope), rhs: truth(depth - 1, scope)))
        case 2, 3: return AnyPart(E.build_Disjunction(lhs: truth(depth - 1, scope), rhs: truth(depth - 1, scope)))
        case 4, 5: return AnyPart(E.build_Negation(truth(depth - 1, scope)))
        case 6, 7: return comparison(number(depth - 1, scope), number(depth - 1, scope))
        case 8: return equality(number(depth - 1, scope), number(depth - 1, scope))
        case 9: return comparison(real(depth - 1, scope), real(depth - 1, scope))
        case 10: return comparison(text(depth - 1, scope), text(depth - 1, scope))
        case 11: return equality(text(depth - 1, scope), text(depth - 1, scope))
        case 12: return equality(maybeText(depth - 1, scope), maybeText(depth - 1, scope))
        case 13: return AnyPart(E.build_contains(text(depth - 1, scope), text(0, scope)))
        case 14: return AnyPart(E.build_starts(text(depth - 1, scope), with: text(0, scope)))
        case 15:
            return AnyPart(
                E.build_Conditional(truth(depth - 1, scope), truth(depth - 2, scope), truth(depth - 2, scope)))
        case 16, 17: return answer(maybeTruth(depth - 1, scope))
        case 18: return membership(depth - 1, scope)
        case 19: return range(depth - 1, scope)
        case 20: return equality(truth(depth - 2, scope), truth(depth - 2, scope))
        case 21: return nested(depth - 2, scope)
        default: return ofObjects(depth - 1, scope)
        }
    }

    private func truthLeaf(_ scope: Scope) -> Truth {
        if let saga = scope.sagas.last, !chance(3) {
            return AnyPart(E.build_KeyPath(root: saga, keyPath: \.isLent))
        }
        return arg(chance(2))
    }

    private func comparison<T: Comparable>(_ a: AnyPart<T>, _ b: AnyPart<T>) -> Truth {
        let operators: [E.ComparisonOperator] = [.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual]
        return AnyPart(E.build_Comparison(lhs: a, rhs: b, op: pick(operators)))
    }

    private func equality<T: Equatable>(_ a: AnyPart<T>, _ b: AnyPart<T>) -> Truth {
        chance(2) ? AnyPart(E.build_Equal(lhs: a, rhs: b)) : AnyPart(E.build_NotEqual(lhs: a, rhs: b))
    }

    /// What is made of an optional truth value.
    private func answer(_ optional: MaybeTruth) -> Truth {
        switch below(4) {
        case 0: equality(optional, arg(Bool?.some(chance(2))))
        case 1: equality(optional, AnyPart(E.NilLiteral<Bool>()))
        default: AnyPart(E.build_NilCoalesce(lhs: optional, rhs: arg(chance(2))))
        }
    }

    private func maybeTruth(_ depth: Int, _ scope: Scope) -> MaybeTruth {
        if let saga = scope.sagas.last, chance(2) {
            let writer = AnyPart(E.build_KeyPath(root: saga, keyPath: \.writer))
            switch below(3) {
            case 0:
                return AnyPart(
                    E.build_flatMap(E.ConditionalCast<AnyPart<Being?>, Poet>(writer)) { poet in
                        self.equality(AnyPart(E.build_KeyPath(root: poet, keyPath: \.meter)), self.maybeText(0, scope))
                    })
            default:
                return AnyPart(
                    E.build_flatMap(writer) { being -> Truth in
                        var scope = scope
                        scope.beings.append(AnyPart(being))
                        return self.truth(depth - 1, scope)
                    })
            }
        }
        return AnyPart(
            E.build_flatMap(maybeText(depth - 1, scope)) { text -> Truth in
                var scope = scope
                scope.texts.append(AnyPart(text))
                return self.truth(depth - 1, scope)
            })
    }

    private func membership(_ depth: Int, _ scope: Scope) -> Truth {
        switch below(4) {
        case 0: AnyPart(E.build_contains(arg((0..<below(4)).map { _ in Int64(below(8) - 3) }), number(depth, scope)))
        case 1: AnyPart(E.build_contains(arg((0..<below(5)).map { _ in pick(SagaModel.texts) }), text(depth, scope)))
        case 2:
            AnyPart(
                E.build_contains(
                    arg((0..<below(4)).map { _ in chance(3) ? nil : pick(SagaModel.texts) }), maybeText(depth, scope)))
        default:
            AnyPart(
                E.build_contains(arg((0..<below(4)).map { _ in Int64(below(8) - 3) })) { number -> Truth in
                    var scope = scope
                    scope.numbers.append(AnyPart(number))
                    return self.truth(depth - 1, scope)
                })
        }
    }

    private func range(_ depth: Int, _ scope: Scope) -> Truth {
        let low = Int64(below(8) - 4)
        let high = low + Int64(below(5))
        let element = number(depth, scope)
        switch below(6) {
        case 0: return AnyPart(E.build_contains(E.build_Arg(low..<high), element))
        case 1: return AnyPart(E.build_contains(E.build_Arg(low...high), element))
        case 2: return AnyPart(E.build_contains(E.build_Arg(low...), element))
        case 3: return AnyPart(E.build_contains(E.build_Arg(...high), element))
        default:
            // Foundation stops the program for a range that is none.
            let other = number(0, scope)
            let isAbove = AnyPart(E.build_Comparison(lhs: other, rhs: arg(low), op: .greaterThan))
            let upper = AnyPart(E.build_Conditional(isAbove, other, arg(low)))
            return chance(2)
                ? AnyPart(E.build_contains(E.build_ClosedRange(lower: arg(low), upper: upper), element))
                : AnyPart(E.build_contains(E.build_Range(lower: arg(low), upper: upper), element))
        }
    }

    /// Another predicate, asked about an object.
    private func nested(_ depth: Int, _ scope: Scope) -> Truth {
        if let saga = scope.sagas.last {
            let other = Predicate<Saga> { truth(depth, Scope(sagas: [AnyPart($0)])) }
            return AnyPart(E.PredicateEvaluate(predicate: Held(value: other), input: saga))
        }
        if let being = scope.beings.last {
            let other = Expression<Being, Bool> { truth(depth, Scope(beings: [AnyPart($0)])) }
            return AnyPart(E.ExpressionEvaluate(expression: Held(value: other), input: being))
        }
        return truthLeaf(scope)
    }

    // MARK: Objects

    private func ofObjects(_ depth: Int, _ scope: Scope) -> Truth {
        if let being = scope.beings.last {
            let sagas = AnyPart(E.build_KeyPath(root: being, keyPath: \.sagas))
            switch below(6) {
            case 0: return AnyPart(E.TypeCheck<AnyPart<Being>, Poet>(being))
            case 1: return AnyPart(E.build_KeyPath(root: sagas, keyPath: \.isEmpty))
            case 2: return AnyPart(E.build_contains(sagas) { self.truth(depth - 1, scope.with(AnyPart($0))) })
            case 3: return AnyPart(E.build_allSatisfy(sagas) { self.truth(depth - 1, scope.with(AnyPart($0))) })
            default:
                let some = E.build_filter(sagas) { self.truth(depth - 1, scope.with(AnyPart($0))) }
                return comparison(AnyPart(E.build_KeyPath(root: some, keyPath: \.count)), arg(below(4)))
            }
        }
        guard let saga = scope.sagas.last else { return truthLeaf(scope) }
        switch below(3) {
        case 0: return equality(AnyPart(E.build_KeyPath(root: saga, keyPath: \.writer)), AnyPart(E.NilLiteral<Being>()))
        case 1:
            let labels = AnyPart(E.build_KeyPath(root: saga, keyPath: \.labels))
            return AnyPart(
                E.build_contains(labels) { label in
                    self.equality(AnyPart(E.build_KeyPath(root: label, keyPath: \.word)), self.maybeText(0, scope))
                })
        default: return answer(maybeTruth(depth, scope))
        }
    }

    // MARK: Values

    func number(_ depth: Int, _ scope: Scope) -> Number {
        guard depth > 0 else { return numberLeaf(scope) }
        switch below(9) {
        case 0: return arithmetic(.add, number(depth - 1, scope), number(depth - 1, scope))
        case 1: return arithmetic(.subtract, number(depth - 1, scope), number(depth - 1, scope))
        case 2: return arithmetic(.multiply, number(0, scope), number(0, scope))
        // Foundation stops the program for a division by zero.
        case 3: return AnyPart(E.build_Division(lhs: number(depth - 1, scope), rhs: divisor()))
        case 4: return AnyPart(E.build_Remainder(lhs: number(depth - 1, scope), rhs: divisor()))
        case 5: return AnyPart(E.build_UnaryMinus(number(depth - 1, scope)))
        case 6:
            return AnyPart(
                E.build_Conditional(truth(depth - 1, scope), number(depth - 1, scope), number(depth - 1, scope)))
        default: return numberLeaf(scope)
        }
    }

    private func arithmetic<T: Numeric>(_ op: E.ArithmeticOperator, _ a: AnyPart<T>, _ b: AnyPart<T>) -> AnyPart<T> {
        AnyPart(E.build_Arithmetic(lhs: a, rhs: b, op: op))
    }

    private func divisor() -> Number { arg(pick([-3, -2, 2, 3, 7])) }

    private func numberLeaf(_ scope: Scope) -> Number {
        if let number = scope.numbers.last, chance(2) { return number }
        if let saga = scope.sagas.last, chance(2) { return AnyPart(E.build_KeyPath(root: saga, keyPath: \.pages)) }
        if let being = scope.beings.last, chance(2) { return AnyPart(E.build_KeyPath(root: being, keyPath: \.age)) }
        return arg(Int64(below(9)) - 4)
    }

    private func real(_ depth: Int, _ scope: Scope) -> Real {
        let leaf: Real =
            if let saga = scope.sagas.last, !chance(3) {
                AnyPart(E.build_KeyPath(root: saga, keyPath: \.rating))
            } else {
                arg(Double(below(9)) / 2 - 2)
            }
        guard depth > 0 else { return leaf }
        return switch below(5) {
        case 0: arithmetic(.add, leaf, real(depth - 1, scope))
        case 1: arithmetic(.multiply, leaf, real(depth - 1, scope))
        case 2: AnyPart(E.build_Division(lhs: leaf, rhs: arg(pick([-2.0, 0.5, 3]))))
        case 3: AnyPart(E.build_UnaryMinus(leaf))
        default: leaf
        }
    }

    private func text(_ depth: Int, _ scope: Scope) -> Text {
        if let text = scope.texts.last, chance(2) { return text }
        guard depth > 0 else { return arg(pick(SagaModel.texts)) }
        switch below(4) {
        case 0: return arg(pick(SagaModel.texts))
        // Foundation throws where the value is nil.
        case 1: return AnyPart(E.build_ForcedUnwrap(maybeText(0, scope)))
        default: return AnyPart(E.build_NilCoalesce(lhs: maybeText(0, scope), rhs: arg(pick(SagaModel.texts))))
        }
    }

    private func maybeText(_ depth: Int, _ scope: Scope) -> MaybeText {
        if let saga = scope.sagas.last, !chance(4) {
            return AnyPart(E.build_KeyPath(root: saga, keyPath: chance(2) ? \.title : \.subtitle))
        }
        if let being = scope.beings.last, !chance(4) { return AnyPart(E.build_KeyPath(root: being, keyPath: \.name)) }
        return arg(chance(4) ? nil : pick(SagaModel.texts))
    }
}

/// A captured predicate or expression, as `build_Arg` makes it, of an expression that cannot be archived.
struct Held<Output>: StandardPredicateExpression, @unchecked Sendable {
    let value: Output

    init(value: Output) { self.value = value }
    func evaluate(_ bindings: PredicateBindings) throws -> Output { value }
    init(from decoder: any Decoder) throws { throw CocoaError(.coderReadCorrupt) }
    func encode(to encoder: any Encoder) throws { throw CocoaError(.coderInvalidValue) }
}

extension PredicateGenerator.Scope {
    func with(_ saga: AnyPart<Saga>) -> Self {
        var scope = self
        scope.sagas.append(saga)
        return scope
    }
}
