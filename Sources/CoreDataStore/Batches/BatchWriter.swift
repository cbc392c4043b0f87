import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Executes one batch request in portions, in one transaction of the store and of its history.
///
/// It does not use managed objects. Everything is read on the writing connection, so that a portion sees the changes of
/// earlier ones.
package final class BatchWriter {
    let engine: StoreEngine
    let connection: any SQLConnection
    private let files: ExternalDataWriter
    /// The participants' parts in the transaction.
    let participations: [any SaveParticipation]
    /// The destination rows of to-ones that are known to exist, by root entity.
    private var knownDestinations: [Int: KeyTable] = [:]
    /// The properties of each hierarchy that affect other sides, by root entity.
    var relatedSides: [Int: RelatedSides] = [:]

    /// The number of rows per portion.
    package static let portion = 512

    /// The number of new rows per portion: on a server, the number for which COPY pays off.
    package var insertedPortion: Int { engine.dialect.bindsArrays ? SaveExecutor.fewestCopied : Self.portion }

    init(
        _ engine: StoreEngine, _ connection: any SQLConnection, _ participations: [any SaveParticipation],
        _ files: ExternalDataWriter
    ) {
        self.engine = engine
        self.connection = connection
        self.participations = participations
        self.files = files
    }

    // MARK: Destinations

    /// Returns the rows that are known to exist.
    func destinations(root: Int) -> KeyTable {
        let known = knownDestinations[root] ?? KeyTable()
        knownDestinations[root] = known
        return known
    }

    /// Records that the rows exist; a large set is discarded.
    func know(_ keys: Set<Int64>, root: Int) {
        let known = destinations(root: root)
        if known.count > Self.mostKnown { known.removeAll() }
        for key in keys { known.set(key, 1) }
    }

    package static let mostKnown = 20_000

    // MARK: Writing

    /// Writes a portion.
    func write(_ changes: ChangeSet) throws {
        guard changes.writesAnything else { return }
        let plan = try SavePlanner(tables: engine.saveTables).plan(changes)
        do {
            try SaveExecutor(
                connection: connection, identifier: engine.identifier, externalData: files,
                participations: participations
            ).run(plan, of: changes)
        } catch { throw engine.named(error, in: changes) }
    }

    // MARK: Reading

    /// Lets the database evaluate the request; if it fails on a value, memory evaluates the predicate; see
    /// ``StoreEngine/rows(_:)``.
    func answering<R>(_ body: (FetchPlanner) throws -> R) throws -> R {
        let planner = engine.planner
        guard engine.dialect.failsOnValues else { return try body(planner) }
        for participation in participations { participation.beginAttempt() }
        do {
            let result = try connection.attempting { try body(planner) }
            for participation in participations { participation.endAttempt(rolledBack: false) }
            return result
        } catch {
            for participation in participations { participation.endAttempt(rolledBack: true) }
            guard let failure = error as? SQLFailure, failure.kind == .computation else { throw error }
            engine.keyCounters.withLock { $0 = [:] }
            engine.notifyOfRollback()
            engine.database.note("answered in memory, since the database says: \(failure.message)")
            return try body(engine.plannerWithoutComputation)
        }
    }

    func keys(_ select: SelectStatement, of entity: Int) throws -> [RowKey] {
        let statement = try connection.statement(select)
        defer { statement.reset() }
        var keys: [RowKey] = []
        while try statement.step() { keys.append(engine.key(statement, at: 0, of: entity)) }
        return keys
    }

    /// Returns the rows with these keys in the root's table, in any order, without missing rows.
    func rows(_ keys: [Int64], root: Int) throws -> [RowSnapshot] {
        guard !keys.isEmpty else { return [] }
        let list = RowList()
        try engine.reader(ofRoot: root, connection).read(keys[...], into: list)
        return list.snapshots
    }

    /// Returns the members of a to-many relationship of each owner.
    func destinations(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, key: RowKey)] {
        let planner = try DestinationPlanner(
            entity: entity, slot: slot, model: engine.model, layout: engine.layout, dialect: engine.dialect)
        var found: [(Int64, RowKey)] = []
        try forEachRow(of: owners, planner.keys) { statement in
            found.append((statement.integer(0), engine.key(statement, at: 1, of: planner.destination)))
        }
        return found
    }

    /// Runs a query for keys in groups of as many keys as one statement supports.
    func forEachRow(
        of keys: [Int64], _ query: (SizeClass) throws -> SelectStatement, _ body: (any SQLStatement) throws -> Void
    ) throws {
        for part in keys.parts(in: connection.dialect) {
            let statement = try connection.statement(try query(part.sizeClass))
            defer { statement.reset() }
            try part.sizeClass.bind(part.owners, to: statement)
            while try statement.step() { try body(statement) }
        }
    }
}

extension StoreEngine: BatchSource {
    /// Runs a batch request in one transaction: all of it is written, or nothing.
    ///
    /// Contexts keep their objects' values until they read them again, then from the file: the cache removes all rows.
    ///
    /// - Parameter isRepeatable: whether `body` may be called again after a conflict or a lost connection.
    /// - Throws: ``SaveFailure`` for unique values that exist already, and the errors of `body`.
    package func batch<R>(
        origin: ChangeOrigin, isRepeatable: Bool = false,
        checkedBy check: ((any TransactionReading) -> any SaveParticipation)? = nil,
        _ body: (BatchWriter) throws -> R
    ) throws -> R {
        guard isRepeatable else { return try batch(origin, check, body) }
        return try retrying { try batch(origin, check, body) }
    }

    private func batch<R>(
        _ origin: ChangeOrigin, _ check: ((any TransactionReading) -> any SaveParticipation)?,
        _ body: (BatchWriter) throws -> R
    ) throws -> R {
        let files = ExternalDataWriter(externalData)
        do {
            let result = try writeOnce(
                { connection in
                    let participations = try participations(in: connection, origin: origin, checkedBy: check)
                    let result = try body(BatchWriter(self, connection, participations, files))
                    for participation in participations { try participation.willEnd() }
                    files.isCommitting = true
                    return result
                },
                committed: { _ in
                    files.finish(synchronize: database.synchronize)
                    rowCache.commitOfUnknownRows()
                })
            return result
        } catch {
            files.cancel(after: error)
            keyCounters.withLock { $0 = [:] }
            notifyOfRollback()
            if let failure = error as? SQLFailure, failure.kind == .constraint { throw SaveFailure.constraints([]) }
            if error is SaveExecutor.RowIsOutdated {
                throw SQLFailure(
                    kind: .serialization, code: 0, message: "a row was changed after the batch request had read it")
            }
            throw error
        }
    }
}
