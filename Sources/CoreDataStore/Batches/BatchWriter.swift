import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// One batch request at work: what it writes, portion by portion, in one transaction of the store and of its history.
///
/// Nobody's objects are asked or told. Everything is read on the connection that writes, so that a portion sees those before it.
package final class BatchWriter {
    let engine: StoreEngine
    let connection: any SQLConnection
    private let files: ExternalDataWriter
    /// The parts that the store's participants have in the transaction.
    let participations: [any SaveParticipation]
    /// Rows that to-ones lead to and that are there, by the roots of their entities.
    private var knownDestinations: [Int: KeyTable] = [:]
    /// What the rows of a hierarchy have on other sides, by its root.
    var relatedSides: [Int: RelatedSides] = [:]

    /// So many rows are written before the next are looked at.
    package static let portion = 512

    /// So many new rows are: where they travel, as many as are worth a copy.
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

    /// The rows of which it is known that they are there.
    func destinations(root: Int) -> KeyTable {
        let known = knownDestinations[root] ?? KeyTable()
        knownDestinations[root] = known
        return known
    }

    /// Takes note that the rows are there; what was known is forgotten when there is much of it.
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

    /// Has the database find and write, or where it fails because of a value that it meets, memory find; see ``StoreEngine/rows(_:)``.
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
            engine.tellOfRollback()
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

    /// The rows with those keys in the root's table, in any order; what does not exist is not in it.
    func rows(_ keys: [Int64], root: Int) throws -> [RowSnapshot] {
        guard !keys.isEmpty else { return [] }
        let list = RowList()
        try engine.reader(ofRoot: root, connection).read(keys[...], into: list)
        return list.snapshots
    }

    /// The members of a to-many relationship, of each owner.
    func destinations(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, key: RowKey)] {
        let planner = try DestinationPlanner(
            entity: entity, slot: slot, model: engine.model, layout: engine.layout, dialect: engine.dialect)
        var found: [(Int64, RowKey)] = []
        try forEachRow(of: owners, planner.keys) { statement in
            found.append((statement.integer(0), engine.key(statement, at: 1, of: planner.destination)))
        }
        return found
    }

    /// Runs a query of keys for as many of them at a time as one statement takes.
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
    /// What contexts hold stays as it is until they read it anew, which is from the file: the cache forgets all rows.
    ///
    /// - Parameter isRepeatable: Whether `body` may be called again where others were in the way, or the connection was lost.
    /// - Throws: ``SaveFailure`` for unique values that are taken, and what `body` throws.
    package func batch<R>(
        origin: ChangeOrigin, isRepeatable: Bool = false, _ body: (BatchWriter) throws -> R
    ) throws -> R {
        guard isRepeatable else { return try batch(origin, body) }
        return try retrying { try batch(origin, body) }
    }

    private func batch<R>(_ origin: ChangeOrigin, _ body: (BatchWriter) throws -> R) throws -> R {
        let files = ExternalDataWriter(externalData)
        do {
            let result = try writeOnce(
                { connection in
                    let participations = try participations(in: connection, origin: origin)
                    let result = try body(BatchWriter(self, connection, participations, files))
                    for participation in participations { try participation.willEnd() }
                    return result
                },
                committed: { _ in
                    files.finish()
                    rowCache.commitOfUnknownRows()
                })
            return result
        } catch {
            files.cancel()
            keyCounters.withLock { $0 = [:] }
            tellOfRollback()
            if let failure = error as? SQLFailure, failure.kind == .constraint { throw SaveFailure.constraints([]) }
            if error is SaveExecutor.RowIsOutdated {
                throw SQLFailure(
                    kind: .serialization, code: 0, message: "a row was changed after the batch request had read it")
            }
            throw error
        }
    }
}
