import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

/// A request divided for a dialect: the part for SQL, and the rest that memory evaluates on the rows.
///
///     name LIKE "a*" AND quantity > 2, first 20      // for a dialect without LIKE
///     // SQL:    quantity > 2
///     // memory: name LIKE "a*", then the first 20
///
/// If SQL can find a superset of the rows that satisfy the rest, it does (``FetchPlan/narrowing``):
///
///     name CONTAINS[c] "ok"                          // for a dialect with patterns
///     // SQL:    name ~ '[Oo][Kk]'
///     // memory: name CONTAINS[c] "ok"
struct PlanSplit {
    /// The plan for SQL.
    private(set) var plan: FetchPlan
    /// The rest of the predicate.
    private(set) var predicate: PredicateNode?
    /// Whether memory sorts the rows; then it evaluates the plan's whole order.
    private(set) var sorts = false
    /// The features that the dialect lacks, without duplicates, in the order of the request.
    private(set) var unsupportedFeatures: [UnsupportedSQLFeature] = []
    /// The number of conjuncts in the rest.
    private var remainders = 0

    /// Whether SQL evaluates the whole request.
    var isWhole: Bool { unsupportedFeatures.isEmpty }
    /// Whether SQL sorts the rows, and the rest of the predicate rejects only few of them.
    var isNarrow: Bool { !sorts && remainders > 0 && plan.narrowing.count == remainders }

    init(_ plan: FetchPlan) { self.plan = plan }

    /// Moves a conjunct to memory.
    fileprivate mutating func leave(_ conjunct: PredicateNode, _ feature: UnsupportedSQLFeature) {
        predicate = predicate.map { .and([$0, conjunct]) } ?? conjunct
        remainders += 1
        note(feature)
    }

    fileprivate mutating func narrow(_ conjunct: PredicateNode) { plan.narrowing.append(conjunct) }

    fileprivate mutating func leaveSorts(_ feature: UnsupportedSQLFeature) {
        plan.sorts = []
        sorts = true
        note(feature)
    }

    fileprivate mutating func push(_ conjuncts: [PredicateNode]) {
        plan.predicate = conjuncts.isEmpty ? nil : conjuncts.count == 1 ? conjuncts[0] : .and(conjuncts)
    }

    /// Moves limit and offset to memory, because they count the rows after the rest.
    fileprivate mutating func leaveWindow() {
        plan.limit = 0
        plan.offset = 0
    }

    private mutating func note(_ feature: UnsupportedSQLFeature) {
        if !unsupportedFeatures.contains(feature) { unsupportedFeatures.append(feature) }
    }

    /// A line for the log.
    var explanation: String {
        var left: [String] = []
        if let predicate { left.append(predicate.predicateFormat) }
        if sorts { left.append("the order") }
        let hint = plan.narrowing.isEmpty ? "" : " (of the rows that regular expressions find)"
        return
            "answered in memory, since the database lacks \(unsupportedFeatures.map(\.description).joined(separator: ", ")): "
            + left.joined(separator: "; ") + hint
    }
}

extension FetchPlanner {
    /// Divides a request into the part that SQL supports and the rest.
    ///
    /// - Throws: ``PredicateFailure`` for a request that no store supports, in any dialect.
    func split(_ plan: FetchPlan) throws -> PlanSplit {
        var split = PlanSplit(plan)
        guard mayLackFeatures else { return split }
        try splitPredicate(plan, &split)
        for sort in plan.sorts {
            let fetch = try start(FetchPlan(entity: plan.entity))
            if let feature = try order(sort, fetch.translator).expression.unsupportedFeature(in: dialect) {
                split.leaveSorts(feature)
            }
        }
        if !split.isWhole {
            split.leaveWindow()
            try checkSecurity(of: plan, split)
        }
        return split
    }

    /// - Throws: a failure if memory would evaluate a path through rows or values that the plan may not read.
    private func checkSecurity(of plan: FetchPlan, _ split: PlanSplit) throws {
        guard let security = plan.security else { return }
        if let predicate = split.predicate, !security.isOpen(predicate, of: plan.entity, in: model) {
            throw PredicateFailure.closed(predicate.predicateFormat)
        }
        guard split.sorts else { return }
        for sort in plan.sorts where !security.isOpen(sort.keyPath, of: plan.entity, in: model) {
            throw PredicateFailure.closed(sort.keyPath.joined(separator: "."))
        }
    }

    /// Divides only the predicate: selects all rows that satisfy it, in no order.
    func splitPredicate(_ plan: FetchPlan) throws -> PlanSplit {
        try split(plan.withoutOrderAndWindow)
    }

    private func splitPredicate(_ plan: FetchPlan, _ split: inout PlanSplit) throws {
        guard let predicate = plan.predicate else { return }
        var answered: [PredicateNode] = []
        // Reserve some for other bound values of the statement.
        var places = dialect.maximumBindings - 500
        for conjunct in predicate.conjuncts {
            // Plan each conjunct separately: its joins are not shared.
            var part = FetchPlan(entity: plan.entity)
            part.predicate = conjunct
            let statement = try count(part)
            let count = statement.condition?.bindingCount ?? 0
            if let feature = statement.unsupportedFeature(in: dialect) ?? (count > places ? .values : nil) {
                split.leave(dialect.typesValues ? conjunct.roundingDates : conjunct, feature)
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

    /// A condition with more values narrows less than it costs; a long list of texts, for example, would be searched in
    /// every row.
    private static let narrowingLimit = 64

    /// Returns the number of bound values in the condition that finds the rows that may satisfy the predicate; `nil` if
    /// all may.
    private func narrowingBindings(_ predicate: PredicateNode, _ entity: Int) throws -> Int? {
        guard dialect.findsPatterns else { return nil }
        let translator = try start(FetchPlan(entity: entity)).translator
        let condition = try translator.superset(of: predicate)
        return condition == .alwaysTrue ? nil : condition.bindingCount
    }
}

extension PredicateFailure {
    /// Memory would read rows or values that permissions hide.
    static func closed(_ text: String) -> PredicateFailure {
        PredicateFailure(
            .unsupported,
            Diagnostic(
                .error,
                "'\(text)' leads through objects that permissions may hide, and the database cannot evaluate it",
                hint: "use comparisons that the database supports, or fetch the objects and filter them"))
    }
}

extension PredicateNode {
    /// The predicate with dates rounded to the microseconds of the database's rows.
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

    /// The conjuncts: the predicates that AND joins, at any depth.
    fileprivate var conjuncts: [PredicateNode] {
        if case .and(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
    }
}
