import CoreDataModel
import CoreDataSQL

/// The foreign keys and checks of a store on a server that somebody wants it to have: made when it is opened so, kept by a
/// migration in place, and gone while a store is made in portions.
///
/// Whatever is there already need not meet them: then the constraint holds for what is written from now on.
enum StoreConstraints {
    private struct Found {
        var table: String
        var name: String
        var words: String
    }

    /// Has the store the constraints that its URL asks for, and no others of these kinds.
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
            // Whoever may not change tables, or finds them in use, does without.
            database.note("the store's tables do not have the constraints that are wanted: \(failure.message)")
        }
    }

    /// Takes them away, before tables change.
    ///
    /// - Returns: of what kinds they were.
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

    /// Makes those that are wanted, and takes others of ours away, in the transaction of whoever calls it.
    ///
    /// - Returns: those that rows which are there do not meet.
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

    /// Those of ours that there are.
    static func names(in connection: any SQLConnection) throws -> [(table: String, name: String)] {
        guard connection.dialect.hasConstraints else { return [] }
        return try read(connection).map { ($0.table, $0.name) }
    }

    private static func areThere(_ wanted: [TableConstraint], _ connection: any SQLConnection) throws -> Bool {
        let found = try read(connection)
        return found.count == wanted.count
            && wanted.allSatisfy { constraint in found.contains { isSame($0, constraint, connection) } }
    }

    /// The words tell one constraint of a name from another: they have all that it compares with.
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
