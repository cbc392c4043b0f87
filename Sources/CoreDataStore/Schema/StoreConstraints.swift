import CoreDataModel
import CoreDataSQL

/// The foreign keys and checks that the user requests for a store on a server. They are created when it is opened, kept
/// by a migration in place, and dropped while a store is built in portions.
///
/// Existing rows need not satisfy them: the constraint then applies only to new and changed rows.
enum StoreConstraints {
    private struct Found {
        var table: String
        var name: String
        var words: String
    }

    /// Gives the store the constraints that its URL requests, and drops others of these kinds.
    static func prepare(
        _ schema: SchemaLayout, document: (@Sendable () -> ModelDocument)?, in database: any SQLDatabase
    ) throws {
        guard let kinds = database.wantedConstraints, database.dialect.hasConstraints else { return }
        let wanted = schema.constraints(kinds, document: kinds.contains(.checks) ? document?() : nil)
        guard try !database.read({ try areThere(wanted, $0) }) else { return }
        do {
            let unmet = try database.write { try make(wanted, in: $0) }
            for constraint in unmet {
                database.note(
                    "rows of the table \(SQLIdentifier.quoted(constraint.table)) do not meet the constraint \(SQLIdentifier.quoted(constraint.name)) (\(constraint.words)): it holds for what is written from now on"
                )
            }
        } catch let failure as SQLFailure where failure.kind == .busy || failure.kind == .readOnly {
            // A role without permission, or with tables in use, works without them.
            database.note("the store's tables do not have the constraints that are wanted: \(failure.message)")
        }
    }

    /// Drops the constraints before tables change.
    ///
    /// - Returns: their kinds.
    @discardableResult
    static func remove(in connection: any SQLConnection) throws -> ConstraintKinds {
        guard connection.dialect.hasConstraints else { return [] }
        var kinds: ConstraintKinds = []
        for found in try read(connection) {
            kinds.formUnion(ConstraintKinds(ofName: found.name))
            try connection.run(SchemaChange.dropConstraint(found.name, on: found.table))
        }
        return kinds
    }

    /// Creates the requested constraints, and drops this library's others, in the caller's transaction.
    ///
    /// - Returns: the constraints that existing rows violate.
    @discardableResult
    static func make(_ wanted: [TableConstraint], in connection: any SQLConnection) throws -> [TableConstraint] {
        guard connection.dialect.hasConstraints else { return [] }
        let found = try read(connection)
        let kept = wanted.filter { constraint in found.contains { isSame($0, constraint, connection) } }
        for old in found where !kept.contains(where: { isSame(old, $0, connection) }) {
            try connection.run(SchemaChange.dropConstraint(old.name, on: old.table))
        }
        var unmet: [TableConstraint] = []
        for constraint in wanted where !kept.contains(constraint) {
            try connection.run(SchemaChange.addConstraint(constraint))
            try connection.run(SchemaChange.describeConstraint(constraint))
            do {
                _ = try connection.attempting {
                    try connection.run(SchemaChange.validateConstraint(constraint.name, on: constraint.table))
                }
            } catch let failure as SQLFailure where failure.kind == .reference || failure.kind == .check {
                unmet.append(constraint)
            }
        }
        return unmet
    }

    /// Returns the existing constraints of this library.
    static func names(in connection: any SQLConnection) throws -> [(table: String, name: String)] {
        guard connection.dialect.hasConstraints else { return [] }
        return try read(connection).map { ($0.table, $0.name) }
    }

    private static func areThere(_ wanted: [TableConstraint], _ connection: any SQLConnection) throws -> Bool {
        let found = try read(connection)
        return found.count == wanted.count
            && wanted.allSatisfy { constraint in found.contains { isSame($0, constraint, connection) } }
    }

    /// The descriptions distinguish constraints with the same name: they contain all compared values.
    private static func isSame(_ found: Found, _ wanted: TableConstraint, _ connection: any SQLConnection) -> Bool {
        found.words == wanted.words && found.name == connection.dialect.stored(wanted.name)
            && found.table == connection.dialect.stored(wanted.table)
    }

    private static func read(_ connection: any SQLConnection) throws -> [Found] {
        try connection.rows(CatalogQuery.constraints).compactMap { row in
            guard case .text(let table) = row[0], case .text(let name) = row[1], case .text(let words) = row[2] else {
                return nil
            }
            return Found(table: table, name: name, words: String(words.dropFirst(TableConstraint.mark.count)))
        }
    }
}
