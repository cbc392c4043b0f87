import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Synchronization

/// An open store: the model, its layout in tables, and the database.
///
/// All reading and writing of rows is in extensions of this type: `Fetching` reads, `Saving` writes, `Schema` creates
/// and checks. It can be used from any thread.
///
/// Make one with ``open(model:configuration:options:makeDatabase:)``.
package final class StoreEngine: Sendable {
    package let model: CompiledModel
    package let layout: StoreLayout
    package let database: any SQLDatabase
    /// The store's UUID, the host of its object URIs.
    package let identifier: String
    /// The store's metadata when it was opened.
    package let openedMetadata: MetadataRow
    /// Ordinals of the entities of the store's configuration, ascending.
    package let entities: [Int]
    /// The path of the file; `nil` for a store in memory.
    package var path: String? { location.withLock { $0 } }
    private let location: Mutex<String?>
    /// Whether saves fail: because the caller requested it, or see ``isReadOnlyForHistory``.
    package let isReadOnly: Bool
    /// Whether the store is read-only because it has a history that the caller does not record; this is worth a
    /// warning.
    package let isReadOnlyForHistory: Bool
    /// Whether the store has history tables, and they are written.
    package let tracksHistory: Bool
    /// The participants of every transaction that writes rows, in this order.
    let participants: [any SaveParticipant]
    /// The clock for the history, `now()` and cached rows.
    package let clock: StoreClock
    /// The rows that contexts hold.
    package let rowCache: RowCache

    /// The statements that save rows, made on the first save.
    var saveTables: SaveTables {
        madeSaveTables.withLock { made in
            if let made { return made }
            let tables = SaveTables(
                model: model, layout: layout, dialect: database.dialect)
            made = tables
            return tables
        }
    }
    private let madeSaveTables = Mutex<SaveTables?>(nil)
    /// The statements that fetch rows.
    let fetchTexts: FetchTexts
    /// Whether the database derives attributes from other rows.
    var derivesFromOthers: Bool { entitiesWithDerived.contains(true) }
    /// By ordinal, whether the entity has attributes that the database derives.
    let entitiesWithDerived: [Bool]
    /// The number of further saves that query the history's numbers, because another writer was detected.
    let savesBesideOthers = Atomic<Int>(0)
    /// By entity, the date columns whose precision the database reduces; empty otherwise.
    private let roundedColumns: [[Int]]
    /// Keeps the external files of older row versions.
    let formerFiles: FormerFiles?
    /// Guards the layout of the history's tables.
    let madeHistoryTables = Mutex<HistoryTables?>(nil)
    /// Guards the schema version that is known to match the model.
    let knownSchemaVersion: Mutex<Int64?>
    /// Guards the last known values of the key counters, by root entity; the file has the same values unless other
    /// clients write too.
    let keyCounters = Mutex<[Int: Int64]>([:])

    /// Guards the reserved keys by root entity, which no other client gets; see ``takeReservedKeys(_:)``.
    let reservedKeys = Mutex<[Int: ClosedRange<Int64>]>([:])

    package init(
        model: CompiledModel, layout: StoreLayout, database: any SQLDatabase, identifier: String,
        metadata: StoreMetadata = StoreMetadata(propertyList: Data()), schemaVersion: Int64? = nil,
        entities: [Int]? = nil, path: String? = nil, isReadOnly: Bool = false, isReadOnlyForHistory: Bool = false,
        tracksHistory: Bool = false, formerFiles: FormerFiles? = nil, keepsRows: Bool = true,
        fetchTexts: FetchTexts = FetchTexts(), participants: [any SaveParticipant] = [],
        clock: StoreClock = .system
    ) {
        self.model = model
        self.layout = layout
        self.database = database
        self.identifier = identifier
        openedMetadata = MetadataRow(identifier: identifier, metadata: metadata)
        knownSchemaVersion = Mutex(schemaVersion)
        self.entities = entities ?? Array(model.entities.indices)
        location = Mutex(path)
        self.isReadOnly = isReadOnly
        self.isReadOnlyForHistory = isReadOnlyForHistory
        self.tracksHistory = tracksHistory
        self.clock = clock
        var own: [any SaveParticipant] = []
        if !layout.searchIndexes.isEmpty { own.append(SearchParticipant(indexes: layout.searchIndexes)) }
        if tracksHistory { own.append(HistoryParticipant()) }
        self.participants = own + participants
        self.formerFiles = formerFiles
        self.fetchTexts = fetchTexts
        entitiesWithDerived = model.entities.map { entity in
            entity.properties.contains { $0.attribute?.derivationExpression != nil }
        }
        rowCache = RowCache(model: model, keepsRows: keepsRows)
        roundedColumns =
            database.dialect.typesValues
            ? model.entities.map { entity in
                entity.properties.compactMap { property in
                    let column = entity.rowLayout.columnOfSlot[property.slot]
                    return property.attribute?.type.kind == .date && column >= 0 ? column : nil
                }
            } : []
    }

    /// Rounds the dates of new rows to the database's precision, so that the saved values equal the stored ones.
    ///
    /// - Throws: ``SQLFailure`` for a date that the database cannot store.
    func roundDates(_ changes: ChangeSet) throws {
        guard !roundedColumns.isEmpty else { return }
        func round(_ row: RowSnapshot) throws {
            for column in roundedColumns[row.entity] where !row.isNull(column) {
                let seconds = row.real(column)
                guard let kept = Microseconds(seconds) else {
                    if seconds.isFinite { throw unkeptDate(model.entities[row.entity], column) }
                    continue
                }
                row.assign(real: kept.seconds, at: column)
            }
        }
        for insertion in changes.insertions { try round(insertion.row) }
        for update in changes.updates { try round(update.new) }
    }

    private func unkeptDate(_ entity: CompiledEntity, _ column: Int) -> SQLFailure {
        SQLFailure(
            kind: .unkept, code: 0,
            message: "the date of '\(name(of: column, entity))' of entity '\(entity.name)' is \(Self.unkeptDate)")
    }

    private static let unkeptDate = "before 4713 BC or after 294275 AD, which the database does not keep"
    private static let unkeptText =
        "has the character U+0000, which the database does not keep: take it out, or keep the text as data"

    private func name(of column: Int, _ entity: CompiledEntity) -> String {
        entity.properties.first { entity.rowLayout.columnOfSlot[$0.slot] == column }?.name ?? ""
    }

    /// Returns the reason why the database cannot store a value; `nil` if it can.
    func reasonNotToKeep(_ value: Value) -> String? {
        switch value {
        case .date(let seconds) where dialect.typesValues && seconds.isFinite && Microseconds(seconds) == nil:
            "the date is " + Self.unkeptDate
        case .string(let text) where dialect.failsOnValues && text.utf8.contains(0),
            .uri(let text) where dialect.failsOnValues && text.utf8.contains(0):
            "the text " + Self.unkeptText
        default: nil
        }
    }

    /// Adds to a failure the names of the attribute and the entity whose value the database cannot store, if they are
    /// missing.
    func named(_ error: any Error, in changes: ChangeSet) -> any Error {
        guard var failure = error as? SQLFailure, failure.kind == .unkept, failure.code != 0 else { return error }
        let rows = changes.insertions.lazy.map(\.row) + changes.updates.lazy.map(\.new)
        for row in rows {
            let entity = model.entities[row.entity]
            for (column, kind) in entity.rowLayout.kinds.enumerated()
            where kind == .text && !row.isNull(column) && row.withBytes(column, { $0.contains(0) }) {
                failure.message =
                    "the text of '\(name(of: column, entity))' of entity '\(entity.name)' \(Self.unkeptText)"
                return failure
            }
        }
        return failure
    }

    /// Switches to another path of the same store, which was copied or moved there.
    ///
    /// - Throws: if there is no store, or one with another UUID or other tables; then nothing has changed.
    package func move(to path: String) throws {
        let path = FileLink.followed(path)
        guard self.path != nil, FileSize.of(path) ?? 0 > 0 else { throw StoreFailure.notAStore(path, missing: []) }
        try StoreFailure.translated(path) {
            try database.move(to: path) { connection in
                let missing = try StoreCatalog.read(connection).missingBookkeeping
                guard missing.isEmpty else { throw StoreFailure.notAStore(path, missing: missing) }
                guard try MetadataRow.read(connection, path: path).identifier == identifier else {
                    throw StoreFailure(
                        .incompatibleModel, "The store\(StoreFailure.quoted(path)) is another one: it has another UUID."
                    )
                }
                _ = try SchemaLayout.existing(model: model, entities: entities, connection: connection)
            }
        }
        location.withLock { $0 = path }
        madeHistoryTables.withLock { $0 = nil }
        // Unused cached rows may differ at the new path.
        rowCache.removeAll()
    }
}
