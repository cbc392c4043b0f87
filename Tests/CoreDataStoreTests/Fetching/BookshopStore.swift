import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import Foundation

@testable import CoreDataStore

/// A store of the ``Bookshop`` in memory, filled by INSERTs of named values.
struct BookshopStore {
    let engine: StoreEngine
    let database: SQLiteDatabase

    init(_ dialect: SQLDialect = .sqlite, _ fill: (inout Filler) throws -> Void) throws {
        var options = SQLiteOptions(.memory)
        options.dialect = dialect
        database = try SQLiteDatabase(options)
        engine = StoreEngine(
            model: Bookshop.model, layout: Bookshop.layout, database: database, identifier: "LIBRARY")
        let statements = try Bookshop.schema.statements().map { try SchemaRenderer.text($0) }
        var filler = Filler()
        try fill(&filler)
        try database.write { connection in
            for statement in statements { try connection.execute(statement) }
            for insertion in filler.insertions { try connection.run(insertion) }
        }
    }

    /// Collects INSERTs.
    struct Filler {
        private(set) var insertions: [SQLText] = []

        /// A row; keys are names of attributes and to-ones, `order(…)` gives the place in an ordered inverse.
        mutating func insert(
            _ entity: String, _ key: Int64, _ values: KeyValuePairs<String, SQLValue>, version: Int64 = 1
        ) {
            let ordinal = Bookshop.ordinal(entity)
            guard let stored = Bookshop.layout.entities[ordinal] else { return }
            let layout = Bookshop.model.entities[ordinal].rowLayout
            var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
            var bound: [SQLValue] = [.integer(key), .integer(stored.number), .integer(version)]
            for (name, value) in values {
                let isOrder = name.hasPrefix("order of ")
                let slot = Bookshop.slot(entity, isOrder ? String(name.dropFirst(9)) : name)
                let column = isOrder ? layout.orderColumnOfSlot[slot] : layout.columnOfSlot[slot]
                guard column >= 0, let name = stored.columnNames[column] else { continue }
                columns.append(name)
                bound.append(value)
            }
            insert(into: stored.table, columns, bound)
        }

        /// A pair of a many-to-many relationship.
        mutating func link(
            _ entity: String, _ property: String, _ owner: Int64, _ destination: Int64, order: Int64? = nil
        ) {
            let relationship = StoreLayout.Relationship(
                entity: Bookshop.ordinal(entity), slot: Bookshop.slot(entity, property))
            guard let table = Bookshop.layout.joinTables[relationship] else { return }
            var columns = [table.ownerColumn, table.destinationColumn]
            var values: [SQLValue] = [.integer(owner), .integer(destination)]
            if let column = table.orderColumn, let order {
                columns.append(column)
                values.append(.integer(order))
            }
            insert(into: table.name, columns, values)
        }

        /// Sets the owner of a one-way to-many in the destination's row.
        mutating func own(_ entity: String, _ property: String, _ owner: Int64, _ destination: Int64) {
            let ordinal = Bookshop.ordinal(entity)
            let slot = Bookshop.slot(entity, property)
            guard let relationship = Bookshop.model.entities[ordinal].properties[slot].relationship,
                let stored = Bookshop.layout.entities[relationship.destination],
                let column = Bookshop.model.entities[relationship.destination].rowLayout.column(
                    of: .ownerKey(entity: ordinal, slot: slot)),
                let name = stored.columnNames[column]
            else { return }
            var text: SQLText = "UPDATE "
            text.append(identifier: stored.table)
            text.append(" SET ")
            text.append(identifier: name)
            text.append(" = ")
            text.append(.integer(owner))
            text.append(" WHERE Z_PK = ")
            text.append(.integer(destination))
            insertions.append(text)
        }

        private mutating func insert(into table: String, _ columns: [String], _ values: [SQLValue]) {
            var text: SQLText = "INSERT INTO "
            text.append(identifier: table)
            text.append(" (")
            text.append(identifiers: columns)
            text.append(") VALUES (")
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(", ") }
                text.append(value)
            }
            text.append(")")
            insertions.append(text)
        }
    }
}
