import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

/// A request as a dialect can answer it: what goes to SQL, and what is left to do with the rows that come.
///
///     name LIKE "a*" AND quantity > 2, first 20      // of a dialect without LIKE
///     // SQL:    quantity > 2
///     // memory: name LIKE "a*", then the first 20
///
/// Where SQL can at least find the rows that may meet what is left, it does (``FetchPlan/narrowing``):
///
///     name CONTAINS[c] "ok"                          // of a dialect that finds patterns
///     // SQL:    name ~ '[Oo][Kk]'
///     // memory: name CONTAINS[c] "ok"
struct PlanSplit {
    /// What SQL answers.
    private(set) var plan: FetchPlan
    /// The rest of the predicate.
    private(set) var predicate: PredicateNode?
    /// Whether the rows are to be sorted, too; then all that the plan said of their order is left.
    private(set) var sorts = false
    /// What the dialect lacks, each once, in the order of the request.
    private(set) var gaps: [SQLGap] = []
    /// How many conjuncts are left.
    private var remainders = 0

    /// Whether SQL answers everything.
    var isWhole: Bool { gaps.isEmpty }
    /// Whether few rows come that the rest of the predicate rejects, in their order.
    var isNarrow: Bool { !sorts && remainders > 0 && plan.narrowing.count == remainders }

    init(_ plan: FetchPlan) { self.plan = plan }

    /// Leaves a conjunct to memory.
    fileprivate mutating func leave(_ conjunct: PredicateNode, _ gap: SQLGap) {
        predicate = predicate.map { .and([$0, conjunct]) } ?? conjunct
        remainders += 1
        note(gap)
    }

    fileprivate mutating func narrow(_ conjunct: PredicateNode) { plan.narrowing.append(conjunct) }

    fileprivate mutating func leaveSorts(_ gap: SQLGap) {
        plan.sorts = []
        sorts = true
        note(gap)
    }

    fileprivate mutating func push(_ conjuncts: [PredicateNode]) {
        plan.predicate = conjuncts.isEmpty ? nil : conjuncts.count == 1 ? conjuncts[0] : .and(conjuncts)
    }

    /// Limit and offset count what is left at the end.
    fileprivate mutating func leaveWindow() {
        plan.limit = 0
        plan.offset = 0
    }

    private mutating func note(_ gap: SQLGap) {
        if !gaps.contains(gap) { gaps.append(gap) }
    }

    /// A line for the log.
    var explanation: String {
        var left: [String] = []
        if let predicate { left.append(predicate.predicateFormat) }
        if sorts { left.append("the order") }
        let hint = plan.narrowing.isEmpty ? "" : " (of the rows that regular expressions find)"
        return "answered in memory, since the database lacks \(gaps.map(\.description).joined(separator: ", ")): "
            + left.joined(separator: "; ") + hint
    }
}

extension FetchPlanner {
    /// What SQL answers of a request, and what it cannot.
    ///
    /// - Throws: ``PredicateFailure`` for what no store can answer, whatever its dialect has.
    func split(_ plan: FetchPlan) throws -> PlanSplit {
        var split = PlanSplit(plan)
        guard hasGaps else { return split }
        try splitPredicate(plan, &split)
        for sort in plan.sorts {
            let fetch = try start(FetchPlan(entity: plan.entity))
            if let gap = try order(sort, fetch.translator).expression.gap(in: dialect) { split.leaveSorts(gap) }
        }
        if !split.isWhole { split.leaveWindow() }
        return split
    }

    /// As ``split(_:)``, of the predicate alone: all rows that meet it, in no order.
    func splitPredicate(_ plan: FetchPlan) throws -> PlanSplit {
        try split(plan.withoutOrderAndWindow)
    }

    private func splitPredicate(_ plan: FetchPlan, _ split: inout PlanSplit) throws {
        guard let predicate = plan.predicate else { return }
        var answered: [PredicateNode] = []
        // Some are left for what the statement binds besides.
        var places = dialect.maximumBindings - 500
        for conjunct in predicate.conjuncts {
            // Each by itself: what one joins or selects from is no other's.
            var part = FetchPlan(entity: plan.entity)
            part.predicate = conjunct
            let statement = try count(part)
            let count = statement.condition?.bindingCount ?? 0
            if let gap = statement.gap(in: dialect) ?? (count > places ? .values : nil) {
                split.leave(dialect.typesValues ? conjunct.roundingDates : conjunct, gap)
                if let count = try narrowingBindings(conjunct, plan.entity), count <= min(places, Self.narrowingLimit) {
                    split.narrow(conjunct)
                    places -= count
                }
            } else {
                places -= count
                answered.append(conjunct)
            }
        }
        split.push(answered)
    }

    /// A condition of more values narrows less than it costs, such as a long list of texts: each is sought in every row.
    private static let narrowingLimit = 64

    /// The number of values bound in the condition that finds the rows which may meet the predicate; `nil` where all may.
    private func narrowingBindings(_ predicate: PredicateNode, _ entity: Int) throws -> Int? {
        guard dialect.findsPatterns else { return nil }
        let translator = try start(FetchPlan(entity: entity)).translator
        let condition = try translator.superset(of: predicate)
        return condition == .alwaysTrue ? nil : condition.bindingCount
    }
}

extension PredicateNode {
    /// With the dates that rows have of a database that counts microseconds.
    fileprivate var roundingDates: PredicateNode {
        func rounded(_ constant: Constant) -> Constant {
            switch constant {
            case .value(.date(let seconds)): .value(.date(Microseconds.rounded(seconds)))
            case .collection(let members, let isOrdered): .collection(members.map(rounded), isOrdered: isOrdered)
            default: constant
            }
        }
        return mapExpressions { expression in
            if case .constant(let constant) = expression { .constant(rounded(constant)) } else { expression }
        }
    }

    /// What must all be true for it to be: the predicates that AND joins, however deep.
    fileprivate var conjuncts: [PredicateNode] {
        if case .and(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
    }
}
