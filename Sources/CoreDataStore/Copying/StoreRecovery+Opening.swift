import CoreDataModel
import CoreDataSQL
import Foundation

extension StoreRecovery {
    /// A damaged store that is open for reading, and the parts of its metadata that are missing.
    struct Opened {
        var engine: StoreEngine
        var notes: [String] = []
    }

    /// Opens the store. If its metadata or entity numbers cannot be read, they are derived from the model.
    ///
    /// - Throws: if the list of its tables cannot be read, or lacks a table of the model.
    static func open(
        model: CompiledModel, configuration: String?, _ options: StoreOptions, makeDatabase: @escaping DatabaseFactory
    ) throws -> Opened {
        do {
            return Opened(
                engine: try StoreEngine.open(
                    model: model, configuration: configuration, options: options, makeDatabase: makeDatabase))
        } catch let failure as StoreFailure where [.notADatabase, .lostMetadata].contains(failure.kind) {
            guard let members = model.entities(inConfiguration: configuration) else { throw failure }
            let database = try makeDatabase(options.database)
            do {
                return try database.read { try salvaged($0, database, model, members.map(\.ordinal), options) }
            } catch {
                database.close()
                throw failure
            }
        }
    }

    private static func salvaged(
        _ connection: any SQLConnection, _ database: any SQLDatabase, _ model: CompiledModel, _ entities: [Int],
        _ options: StoreOptions
    ) throws -> Opened {
        let catalog = try StoreCatalog.read(connection)
        let fresh = SchemaLayout.fresh(model: model, entities: entities)
        var notes: [String] = []
        var numbers = (try? EntityNumber.all(in: connection)) ?? []
        if !fresh.entities.allSatisfy({ entity in numbers.contains { $0.name == model.entities[entity].name } }) {
            notes.append(
                "the numbers of entities (Z_PRIMARYKEY) could not be read: those of a new store of the model were taken"
            )
            numbers = fresh.entities.compactMap { entity in
                fresh.numbers[entity].map { number in
                    EntityNumber(
                        number: number, name: model.entities[entity].name,
                        parent: model.entities[entity].parent.flatMap { fresh.numbers[$0] } ?? 0, maximum: 0)
                }
            }
        }
        let row = try? MetadataRow.read(connection)
        if row == nil {
            notes.append("the metadata (Z_METADATA) could not be read: the store is taken for one of this model")
        }
        let layout = try SchemaLayout.existing(model: model, entities: entities, numbers: numbers, catalog: catalog)
        let engine = StoreEngine(
            model: model, layout: layout.layout, database: database, identifier: row?.identifier ?? UUID().uuidString,
            metadata: row?.metadata ?? StoreMetadata(propertyList: Data()), entities: entities,
            path: options.database.path, isReadOnly: true)
        return Opened(engine: engine, notes: notes)
    }
}

extension StoreEngine {
    /// Returns the highest key that the store has assigned or a row has; if unknown, an upper limit that follows from
    /// the file's size.
    func highestKey(root: Int) -> Int64 {
        let most = Int64((FileSize.of(path) ?? 0) / 8)
        guard let bound = layout.entities[root] else { return most }
        var query = SelectStatement([.init(.column(nil, "Z_MAX"))], from: .init(BookkeepingSchema.primaryKeyTable))
        query.condition = .comparison(.equal, .column(nil, "Z_ENT"), .bind(.integer(bound.number)))
        let known = try? database.read { try $0.rows(query) }
        guard let last = highestNumber("Z_PK", in: bound.table) else {
            guard case .integer(let highest)? = known?.first?.first else { return most }
            return highest
        }
        guard case .integer(let highest)? = known?.first?.first else { return last }
        return max(highest, last)
    }

    /// Returns the highest value of a column that an index sorts; `nil` if it cannot be read.
    func highestNumber(_ column: String, in table: String) -> Int64? {
        var query = SelectStatement([.init(.column("t0", column))], from: .init(table, as: "t0"))
        query.orders = [.init(.column("t0", column), isAscending: false)]
        query.limit = 1
        guard let rows = try? database.read({ try $0.rows(query) }) else { return nil }
        guard case .integer(let highest)? = rows.first?.first else { return 0 }
        return highest
    }

    /// Returns whether no row of a table can be reached: its root page is unreadable.
    func isUnreachable(root: Int, highest: Int64) -> Bool {
        guard let table = layout.entities[root]?.table else { return false }
        guard highest > 0 else { return false }
        let key = SQLExpression.column("t0", "Z_PK")
        // By key, which needs no index. A table whose leaves are damaged at all these positions counts as lost too.
        return (0...16).allSatisfy { place in
            let number = 1 + (highest - 1) / 16 * Int64(place)
            var query = SelectStatement([.init(key)], from: .init(table, as: "t0"))
            query.condition = .comparison(.equal, key, .bind(.integer(number)))
            return (try? database.read { try $0.rows(query) }) == nil
        }
    }
}
