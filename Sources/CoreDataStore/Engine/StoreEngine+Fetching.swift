import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation

extension StoreEngine {
    var dialect: SQLDialect { database.dialect }

    var planner: FetchPlanner {
        FetchPlanner(
            model: model, layout: layout, now: clock.now, dialect: dialect)
    }

    /// A planner that leaves all computation to memory.
    var plannerWithoutComputation: FetchPlanner {
        FetchPlanner(
            model: model, layout: layout, now: clock.now,
            dialect: dialect.withoutComputation)
    }

    /// Lets the database evaluate a request; if it fails on a value, memory does: a value that is too large for the
    /// database's numbers may fit ours.
    private func answering<R>(_ body: (FetchPlanner) throws -> R) throws -> R {
        try reading { try answeringInMemory(body) }
    }

    /// Runs a read. If a server rejects it, checks whether the store was migrated.
    func reading<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let failure as SQLFailure {
            try checkModelAfter(failure)
            throw failure
        }
    }

    private func answeringInMemory<R>(_ body: (FetchPlanner) throws -> R) throws -> R {
        do { return try body(planner) } catch let failure as SQLFailure
            where (failure.kind == .computation || failure.kind == .pattern) && dialect.failsOnValues
        {
            database.note("answered in memory, since the database says: \(failure.message)")
            return try body(plannerWithoutComputation)
        }
    }

    /// Returns the rows that the plan selects, whole and in its order, with one statement. Rows that contexts hold at
    /// this version are the same instances.
    ///
    /// - Throws: ``PredicateFailure`` for a predicate or a sort that no store supports, ``SQLFailure``.
    package func rows(_ plan: FetchPlan) throws -> RowList {
        let all = RowList()
        try fetchRows(plan) { portion in
            for index in portion.indices { all.append(portion.take(index)) }
        }
        return all
    }

    /// Fetches the rows that the plan selects in portions. So the caller processes the rows of a portion while they are
    /// in the processor's cache. Rows that the caller leaves in the list are released.
    package func fetchRows(_ plan: FetchPlan, _ take: (RowList) throws -> Void) throws {
        try answering { try fetchRows(plan, $0, take) }
    }

    private func fetchRows(_ plan: FetchPlan, _ planner: FetchPlanner, _ take: (RowList) throws -> Void) throws {
        if planner.mayLackFeatures {
            let split = try planner.split(plan)
            if !split.isWhole { return try fetchRows(plan, split, now: planner.now, take) }
        }
        let statement = try fetchTexts.statement(of: plan, dialect) {
            let (statement, shape) = try planner.rows(plan)
            return (statement.text(in: dialect), shape)
        }
        let decoder = RowDecoder(statement.shape, externalData: externalData)
        let portion = RowList()
        let moment = rowCache.moment
        // Rows without hidden values are not for other contexts.
        let isShared = plan.security?.masksRows(of: plan.entity) != true
        func handOver() throws {
            guard !portion.isEmpty else { return }
            if isShared { rowCache.adopt(portion, readSince: moment, at: clock.now) }
            defer { giveUp(portion) }
            try take(portion)
        }
        try forEachResult(of: statement.sql, statement.bindings) { result in
            portion.append(try decoder.held(result))
            if portion.count == Self.portionSize { try handOver() }
        }
        try handOver()
    }

    private static let portionSize = 256

    /// Releases rows that no caller has taken.
    func giveUp(_ rows: RowList) {
        for index in rows.indices where rows.hasRow(index) {
            let row = rows.view(index)
            let (root, key) = (model.entities[row.entity].root, row.primaryKey)
            rowCache.giveUp(rows.take(index), root: root, primaryKey: key)
        }
        rows.removeAll()
    }

    /// Returns the keys of the rows that the plan selects, in its order, each with its row's own entity.
    package func keys(_ plan: FetchPlan) throws -> [RowKey] { try answering { try keys(plan, $0) } }

    private func keys(_ plan: FetchPlan, _ planner: FetchPlanner) throws -> [RowKey] {
        let entity = plan.entity
        if planner.mayLackFeatures {
            let split = try planner.split(plan)
            if !split.isWhole { return try keys(plan, split, now: planner.now) }
        }
        return try query(planner.keys(plan)) { key($0, at: 0, of: entity) }
    }

    /// Returns the number of rows that the plan selects, considering limit and offset.
    package func count(_ plan: FetchPlan) throws -> Int { try answering { try count(plan, $0) } }

    private func count(_ plan: FetchPlan, _ planner: FetchPlanner) throws -> Int {
        if planner.mayLackFeatures {
            let split = try planner.splitPredicate(plan)
            if !split.isWhole { return try keys(plan, split, now: planner.now).count }
        }
        let total = try query(planner.count(plan)) { Int($0.integer(0)) }
        return FetchPlanner.counted(total.first ?? 0, plan)
    }

    /// Returns the columns' values of every row or group that the plan selects.
    ///
    /// Values have the types of their attributes. A to-one relationship, `SELF` and `objectID` give an ``OpaqueValue``
    /// with a ``RowKey``; a transformable attribute gives its stored bytes.
    package func tuples(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?
    ) throws -> [[Value]] {
        var tuples: [[Value]] = []
        try forEachTuple(plan, columns: columns, distinct: distinct, groupBy: groupBy, having: having) { tuple in
            tuples.append(columns.indices.map { tuple[$0] })
        }
        return tuples
    }

    /// Calls a closure for each tuple, otherwise like ``tuples(_:columns:distinct:groupBy:having:)``; a tuple is valid
    /// only during the call.
    package func forEachTuple(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?, _ body: (FetchTuple) throws -> Void
    ) throws {
        try answering { planner in
            try forEachTuple(
                plan, columns: columns, distinct: distinct, groupBy: groupBy, having: having, planner, body)
        }
    }

    private func forEachTuple(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?, _ planner: FetchPlanner, _ body: (FetchTuple) throws -> Void
    ) throws {
        var plan = plan
        if planner.mayLackFeatures {
            let request = MemoryTuples(
                plan: plan, columns: columns, distinct: distinct, groupBy: groupBy, having: having)
            guard let answerable = try answerable(request, planner) else {
                return try tuplesInMemory(request, planner).forEach { try body(FetchTuple($0)) }
            }
            plan = answerable
        }
        let (statement, columns) = try planner.tuples(
            plan, columns: columns, distinct: distinct, groupBy: groupBy, having: having)
        var reader: TupleReader?
        defer { withExtendedLifetime(reader) {} }
        var tuple = FetchTuple([])
        try forEachResult(of: statement.text(in: dialect)) { result in
            if reader == nil {
                let made = TupleReader(result, columns: columns, layout: layout)
                reader = made
                tuple = FetchTuple(made)
            }
            try body(tuple)
        }
    }

    package func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R {
        try database.stopping(when: isStopped, body)
    }

    /// Returns the statement that a fetch of the plan runs, and the database's plan for it.
    package func explain(_ plan: FetchPlan) throws -> (sql: String, bindings: [SQLValue], plan: [String]) {
        let planner = planner
        let text = try planner.rows(planner.split(plan).plan).statement.text(in: dialect)
        return (text.sql, text.bindings, try database.plan(of: text))
    }

    /// Fetches the rows of one entity by ascending key, in pages: for callers that process all rows, since a server
    /// sends a whole result at once.
    func fetchPages(of entity: Int, size: Int, _ take: (RowList) throws -> Void) throws {
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        let planner = planner
        let key = SQLExpression.column(try planner.start(plan).scope.alias, "Z_PK")
        var last: Int64?
        while true {
            var (statement, shape) = try planner.rows(plan)
            if let last {
                let further = SQLExpression.comparison(.greater, key, .bind(.integer(last)))
                statement.condition = statement.condition.map { .and([$0, further]) } ?? further
            }
            statement.orders = [.init(key, isAscending: true)]
            statement.limit = size
            let decoder = RowDecoder(shape, externalData: externalData)
            let page = RowList()
            try forEachResult(of: statement.text(in: dialect)) { page.append(try decoder.held($0)) }
            last = page.isEmpty ? nil : page[page.count - 1].primaryKey
            let isLast = page.count < size
            defer { giveUp(page) }
            if !page.isEmpty { try take(page) }
            if isLast { return }
        }
    }

    /// Fetches the keys of the rows of an entity and its subentities, ascending, in pages.
    func keyPages(of entity: Int, size: Int, _ take: ([Int64]) throws -> Void) throws {
        let planner = planner
        let plan = FetchPlan(entity: entity)
        let key = SQLExpression.column(try planner.start(plan).scope.alias, "Z_PK")
        var last: Int64?
        while true {
            var statement = try planner.keys(plan)
            if let last {
                let further = SQLExpression.comparison(.greater, key, .bind(.integer(last)))
                statement.condition = statement.condition.map { .and([$0, further]) } ?? further
            }
            statement.orders = [.init(key, isAscending: true)]
            statement.limit = size
            let page = try query(statement) { $0.integer(0) }
            if !page.isEmpty { try take(page) }
            if page.count < size { return }
            last = page.last
        }
    }

    // MARK: Rows by key

    /// Returns the rows with these keys in the table of a root entity, in any order, without missing rows.
    ///
    /// It runs one statement for up to 500 keys.
    package func rows(forKeys keys: [Int64], root: Int) throws -> RowList {
        let rows = RowList()
        guard !keys.isEmpty else { return rows }
        var keys = keys
        if keys.count > SizeClass.sizes.last ?? 1 {
            // Sorted, so that adjacent rows are read together. A duplicate key in two statements would give two rows.
            keys.sort()
            var last: Int64?
            keys.removeAll { key in
                defer { last = key }
                return key == last
            }
        }
        try reading { try database.read { try reader(ofRoot: root, $0).read(keys[...], into: rows) } }
        return rows
    }

    /// Returns the row with the key in the table of a root entity; `nil` if there is none.
    package func row(_ primaryKey: Int64, root: Int) throws -> RowSnapshot? {
        try heldRow(primaryKey, root: root)?.snapshot()
    }

    /// Returns a hold on the row with the key in the table of a root entity; `nil` if there is none.
    package func heldRow(_ primaryKey: Int64, root: Int) throws -> HeldRow? {
        // Like ``reading(_:)``, without the cost of a closure per row.
        do {
            return HeldRow(
                word: try database.readStatement { HeldRow.word(of: try reader(ofRoot: root, $0).held(primaryKey)) })
        } catch let failure as SQLFailure {
            try checkModelAfter(failure)
            throw failure
        }
    }

    /// Returns the reader of the root's rows; it is made once per connection and kept with it.
    func reader(ofRoot root: Int, _ connection: any SQLConnection) throws -> RowReader {
        if let kept = connection.companion(root) { return unsafeDowncast(kept, to: RowReader.self) }
        let context = QueryContext(model: model, layout: layout, dialect: dialect)
        let shape = try RowShape(of: root, true, context)
        let reader = RowReader(shape, table: try context.table(of: root), connection, externalData: externalData)
        connection.keep(reader, as: root)
        return reader
    }

    // MARK: Results

    /// Runs a query and converts each row to a result.
    func query<R>(_ statement: SelectStatement, _ row: (any SQLStatement) throws -> R) throws -> [R] {
        try query(statement.text(in: dialect), row)
    }

    func query<R>(_ text: SQLText, _ row: (any SQLStatement) throws -> R) throws -> [R] {
        var results: [R] = []
        try forEachResult(of: text) { results.append(try row($0)) }
        return results
    }

    private func forEachResult(of text: SQLText, _ body: (any SQLStatement) throws -> Void) throws {
        try forEachResult(of: text.sql, text.bindings, body)
    }

    private func forEachResult(
        of sql: String, _ bindings: [SQLValue], _ body: (any SQLStatement) throws -> Void
    ) throws {
        try database.readStatement { connection in
            let statement = try connection.statement(sql)
            defer { statement.reset() }
            try statement.bind(bindings, at: 0)
            while try statement.step() { try body(statement) }
        }
    }

    /// Returns the key in the columns `Z_PK` and `Z_ENT` from `first` on.
    func key(_ statement: any SQLStatement, at first: Int, of entity: Int) -> RowKey {
        let ordinal = layout.ordinalByNumber[statement.integer(first + 1)] ?? entity
        return RowKey(entity: ordinal, primaryKey: statement.integer(first))
    }
}
