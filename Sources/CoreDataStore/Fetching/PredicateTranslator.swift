import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

/// Translates predicates to SQL that is true for exactly the rows for which the evaluator returns true.
///
/// Predicates have two truth values; SQL also has NULL. The translation is *true exactly if* the predicate is, and
/// false or NULL otherwise: WHERE, AND and OR do not distinguish these. NOT would, so it is pushed down: every leaf can
/// be translated negated, and handles NULL itself.
///
///     name == "a"          // t0.ZNAME = ?
///     NOT name == "a"      // (t0.ZNAME <> ? OR t0.ZNAME IS NULL)
///     NOT (a < 3 OR b)     // (t0.ZA >= ? OR t0.ZA IS NULL) AND …
///
/// The translator is pure: it accesses no database. One translator serves one statement.
final class PredicateTranslator {
    let context: QueryContext
    /// The row of `SELF`, where unqualified key paths start.
    let root: RowReference
    /// The values of `$name`: the members of enclosing SUBQUERYs, and named columns.
    var variables: [String: QueryTerm] = [:]
    /// The named columns of a dictionary fetch, which HAVING and sort keys may use like properties.
    var columns: [String: QueryTerm] = [:]
    /// Whether `sum:(price)` aggregates all rows of a group: in columns, HAVING and the sort of a dictionary fetch.
    var aggregatesRows = false
    /// Whether comparisons of folded text become patterns that match a superset, see ``superset(of:)``.
    var narrows = false

    /// The number of compounds around the predicate that is being translated.
    private var nesting = 0
    /// Each level takes three entries on the stack of SQLite's parser, which has a hundred; the rest is for the
    /// conditions.
    private static let nestingLimit = 24

    init(context: QueryContext, root: RowReference) {
        self.context = context
        self.root = root
    }

    // MARK: Predicates

    /// Returns the condition that is true exactly if the predicate is; with `negated`, exactly if it is not.
    ///
    /// - Throws: ``PredicateFailure`` with the part that SQL cannot express or that is invalid.
    func condition(_ predicate: PredicateNode, negated: Bool = false) throws -> SQLExpression {
        switch predicate {
        case .constant(let value):
            return .boolean(value != negated)
        case .comparison(let comparison):
            return try condition(comparison, negated: negated)
        case .and(let parts), .or(let parts):
            nesting += 1
            defer { nesting -= 1 }
            if nesting > Self.nestingLimit {
                throw failure(
                    "AND and OR are nested more than \(Self.nestingLimit) levels deep, and a database reads no more",
                    predicate,
                    hint: "join conditions of one kind in one compound")
            }
            let terms = try parts.map { try condition($0, negated: negated) }
            if case .and = predicate { return negated ? .any(terms) : .all(terms) }
            return negated ? .all(terms) : .any(terms)
        case .not(let part):
            return try condition(part, negated: !negated)
        case .block(let block):
            if let refusal = block.refusal { throw refusal }
            throw failure(
                "Problem with subpredicate \(text(of: predicate)): a block cannot run in a store", predicate,
                hint: "fetch without it and filter the objects in memory")
        }
    }

    private func condition(_ comparison: PredicateNode.Comparison, negated: Bool) throws -> SQLExpression {
        let leaf = Leaf(comparison)
        if comparison.comparator == .customSelector {
            throw failure("unimplemented SQL generation for predicate", leaf.predicate)
        }
        let narrows = self.narrows
        defer { self.narrows = narrows }
        // Conditions in a SUBQUERY or TERNARY, and negated ones, must be exact.
        self.narrows = false
        let left = try term(comparison.left)
        let right = try term(comparison.right)
        self.narrows = narrows && !negated && comparison.modifier != .all
        let condition =
            switch comparison.modifier {
            case .direct: try condition(left, leaf, right, negated: negated)
            case .any: try quantified(left, leaf, right, all: false, negated: negated)
            case .all: try quantified(left, leaf, right, all: true, negated: negated)
            }
        if context.joinsTooMany { throw joinsTooMany(text(of: leaf.predicate)) }
        return condition
    }

    /// Translates ANY and ALL: some member passes; no member fails.
    ///
    ///     ANY items.price > 3   // EXISTS (SELECT 1 FROM ZITEM t1 WHERE t1.ZUNIT = t0.Z_PK AND t1.ZPRICE > ?)
    ///     ALL items.price > 3   // NOT EXISTS (… AND (t1.ZPRICE <= ? OR t1.ZPRICE IS NULL))
    ///     ANY name == "a"       // t0.ZNAME = ? AND t0.ZNAME IS NOT NULL: a value is its only member
    private func quantified(
        _ left: QueryTerm, _ leaf: Leaf, _ right: QueryTerm, all: Bool, negated: Bool
    ) throws -> SQLExpression {
        switch left {
        case .collection(let collection):
            collection.scope.require(try condition(collection.element, leaf, right, negated: all))
            return collection.scope.exists(negated: all != negated)
        case .list(let members):
            let terms = try members.map { try condition($0, leaf, right, negated: negated) }
            return all == negated ? .any(terms) : .all(terms)
        case .constant(.null), .key(nil):
            return .boolean(negated != all)
        case .scalar, .row, .key, .constant, .entity:
            // A single value counts as a collection of one; nil counts as empty.
            let test = try condition(left, leaf, right, negated: negated)
            guard let value = single(left), value.isOptional else { return test }
            return all == negated
                ? .all([test, null(value, negated: true)]) : .any([test, null(value, negated: false)])
        }
    }

    /// Returns the value whose NULL means an empty collection.
    private func single(_ term: QueryTerm) -> QueryScalar? {
        switch term {
        case .scalar(let scalar): scalar
        case .entity(let row): QueryScalar(row.key, .integer, isOptional: row.isOptional)
        default: rowScalar(term)?.scalar
        }
    }

    /// A comparison, with the data that its leaves need.
    struct Leaf {
        var predicate: PredicateNode
        var left: ExpressionNode
        var right: ExpressionNode
        var comparator: PredicateNode.Comparator
        var options: TextOptions

        init(_ comparison: PredicateNode.Comparison) {
            predicate = .comparison(comparison)
            left = comparison.left
            right = comparison.right
            comparator = comparison.comparator
            options = comparison.options
        }

        /// The options that affect equality of texts: `[n]` disables the others.
        var folding: UInt { options.contains(.normalized) ? 0 : options.rawValue & 3 }
        /// The options that affect the order of texts.
        var ordering: UInt { options.contains(.normalized) ? 0 : options.rawValue & 11 }
    }

    // MARK: Expressions

    /// Translates an expression. The joins that it needs are made in the scopes of the rows where it starts.
    func term(_ expression: ExpressionNode) throws -> QueryTerm {
        if let constant = try folded(expression) { return constant }
        switch expression {
        case .constant(let constant):
            return try term(constant, in: expression)
        case .evaluatedObject:
            return .row(root)
        case .variable(let name):
            guard let term = variables[name] else {
                throw failure(
                    "no value for variable $\(name)", expression,
                    hint: "substitute it before the fetch: withSubstitutionVariables([\"\(name)\": …])")
            }
            return term
        case .keyPath(let operand, let keys):
            return try follow(keys, from: operand, of: expression)
        case .function(let name, let arguments):
            return try function(name, arguments, expression)
        case .aggregate(let members):
            return .list(try members.map { try term($0) })
        case .subquery(let source, let variable, let predicate):
            return try subquery(source, variable, predicate, expression)
        case .conditional(let condition, let first, let second):
            return try conditional(condition, first, second, expression)
        case .block(let block) where block.refusal != nil: throw block.refusal ?? unsupported(expression)
        case .assignment, .anyKey, .message, .union, .intersection, .difference, .fetch, .block:
            throw failure("Unsupported expression \(text(of: expression))", expression)
        }
    }

    /// Returns the value of a constant expression, computed by the evaluator.
    private func folded(_ expression: ExpressionNode) throws -> QueryTerm? {
        switch expression {
        case .function, .keyPath, .union, .intersection, .difference: break
        default: return nil
        }
        var isConstant = true
        expression.forEachExpression { isConstant = isConstant && $0.isConstantPart }
        guard isConstant else { return nil }
        let frame = EvaluationFrame(now: context.now)
        let value = try ExpressionEvaluator(expression).value(for: .null, in: frame)
        return try term(Constant(value), in: expression)
    }

    private func term(_ constant: Constant, in expression: ExpressionNode) throws -> QueryTerm {
        switch constant {
        case .value(let value): return .constant(value)
        case .key(let key): return .key(key)
        case .collection(let members, _):
            return .list(try members.map { try term($0, in: expression) })
        case .dictionary(let pairs):
            return .list(try pairs.map { try term($0.value, in: expression) })
        case .object(let object):
            // An entity is an object here, and is represented by its name.
            if let name = object.predicateName { return .constant(.string(name)) }
            throw failure("the object \(object.predicateDescription) is of no store", expression)
        case .symbol(let symbol):
            throw failure("Unsupported expression \(symbol)", expression)
        }
    }

    /// Returns the collection's rows that satisfy the predicate, each bound to the variable.
    private func subquery(
        _ source: ExpressionNode, _ variable: String, _ predicate: PredicateNode, _ expression: ExpressionNode
    ) throws -> QueryTerm {
        switch try term(source) {
        case .collection(var collection):
            collection.optionalOwner = nil
            let outer = variables[variable]
            variables[variable] = collection.element
            defer { variables[variable] = outer }
            collection.scope.require(try condition(predicate))
            return .collection(collection)
        case .constant(.null):
            return .list([])
        default:
            throw failure("SUBQUERY needs a to-many relationship", expression)
        }
    }

    /// Translates TERNARY: `CASE WHEN p THEN a ELSE b END`.
    private func conditional(
        _ predicate: PredicateNode, _ first: ExpressionNode, _ second: ExpressionNode,
        _ expression: ExpressionNode
    ) throws -> QueryTerm {
        let condition = try condition(predicate)
        if condition == .alwaysTrue { return try term(first) }
        if condition == .alwaysFalse { return try term(second) }
        let a = try term(first)
        let b = try term(second)
        if case .constant(.null) = a, case .constant(.null) = b { return a }
        if let row = rowConditional(predicate, condition, a, b, subject: first) { return .row(row) }
        let left = try scalar(a)
        let right = try scalar(b)
        try checkNumbers([left, right].compactMap { $0 }, expression)
        guard let kind = Self.common([left?.kind, right?.kind].compactMap { $0 }) else {
            throw failure("both branches of TERNARY must have one type in a store", expression)
        }
        let sql = SQLExpression.caseWhen(
            [.init(condition, left?.sql ?? .null)], otherwise: right?.sql ?? .null)
        let isOptional = (left?.isOptional ?? true) || (right?.isOptional ?? true)
        return .scalar(QueryScalar(sql, kind, isOptional: isOptional))
    }

    /// Returns the term as one value per row, `nil` for NULL.
    ///
    /// - Throws: for a term that is not a single value: rows, collections.
    func scalar(_ term: QueryTerm, _ expression: ExpressionNode? = nil) throws -> QueryScalar? {
        switch term {
        case .constant(.null): return nil
        case .constant(let value):
            if let scalar = QueryScalar(value, context.dialect) { return scalar }
            throw failure("a constant of this type cannot be compared in a store", expression)
        case .scalar(let scalar): return scalar
        case .collection: throw failure("to-many key not allowed here", expression)
        case .row, .key, .entity, .list: throw failure("Unsupported expression", expression)
        }
    }
}

extension ExpressionNode {
    /// Whether the node itself, without its parts, is the same for every row.
    fileprivate var isConstantPart: Bool {
        switch self {
        case .constant(.key), .constant(.object), .evaluatedObject, .variable, .anyKey, .message, .subquery,
            .conditional, .assignment, .fetch, .block:
            return false
        case .function(let name, _):
            return name != PredicateFunction.random.rawValue && name != PredicateFunction.randomBelow.rawValue
        case .constant, .keyPath, .aggregate, .union, .intersection, .difference:
            return true
        }
    }
}
