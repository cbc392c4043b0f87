import CoreDataSQL
import Foundation

/// A temporary schema next to a store's, in which a store is built before it replaces the other one.
///
/// ```
///  shop ◀── shop_new_3k9… "OpenCoreData on the way to "shop": copy of …", locked by its builder
/// ```
/// A temporary schema without a lock was left by a terminated program. Its comment distinguishes it from other
/// programs' schemas.
package struct PostgreSQLPlace: Sendable {
    package var name: String
    /// Whether an earlier attempt with the same purpose left it.
    package var isFound = false
    /// The lock; `nil` if the server has no such locks, so that abandoned schemas cannot be detected.
    package var hold: (any SQLHold)?
}

extension PostgreSQLDatabase {
    /// Creates a temporary schema and locks it. Abandoned ones are deleted, except one whose work can be resumed.
    ///
    /// - Parameter purpose: identifies the work, if it can be resumed after a crash: equal work must have equal
    ///   purposes.
    package func takePlace(purpose: String?) throws -> PostgreSQLPlace {
        var found: PostgreSQLPlace?
        if traits.locksByNumber {
            for name in try abandonedPlaces().map(\.name) {
                guard case .own(let hold) = try hold("place \(name)") else { continue }
                // By now, it may have been put in place, or another client may have deleted it.
                guard let note = try abandonedPlaces().first(where: { $0.name == name })?.note else {
                    hold.release()
                    continue
                }
                if found == nil, let purpose, note == purpose {
                    found = PostgreSQLPlace(name: name, isFound: true, hold: hold)
                    continue
                }
                // Only its owner's role can delete another role's schema.
                do { try remove(place: name) } catch let failure as SQLFailure {
                    self.note("the schema \(name), which a program has left, stays: \(failure.message)")
                }
                hold.release()
            }
        }
        if let found { return found }
        let name = PostgreSQLAddress.nameOfPlace(beside: options.address.schema)
        guard case .own(let hold) = try hold("place \(name)") else { return PostgreSQLPlace(name: name) }
        do {
            try write { connection in
                try connection.execute(ServerText.createSchema(name))
                try connection.execute(ServerText.describe(schema: name, mark + (purpose ?? ""), in: dialect))
            }
        } catch {
            hold.release()
            throw error
        }
        return PostgreSQLPlace(name: name, hold: hold)
    }

    /// Deletes a temporary schema with its content.
    package func remove(place name: String) throws {
        try writeWithoutTransaction { try $0.execute(ServerText.dropSchema(name)) }
    }

    /// Deletes the schema if it is empty. A schema with content, one of another role, and `public` remain.
    package func removeEmptySchema() throws {
        let name = options.address.schema
        guard name != "public" else { return }
        do { try writeWithoutTransaction { try $0.execute(ServerText.dropEmptySchema(name)) } } catch let failure
            as SQLFailure
        {
            note("the schema \(name) stays: \(failure.message)")
        }
    }

    private var mark: String { "OpenCoreData on the way to \(SQLIdentifier.quoted(options.address.schema)): " }

    private func abandonedPlaces() throws -> [(name: String, note: String)] {
        try read { connection in
            let statement = try connection.statement(ServerText.describedSchemas)
            defer { statement.reset() }
            try statement.bind([.text(mark)], at: 0)
            var found: [(String, String)] = []
            while try statement.step() {
                guard case .text(let name) = statement.value(0), case .text(let note) = statement.value(1) else {
                    continue
                }
                found.append((name, String(note.dropFirst(mark.count))))
            }
            return found
        }
    }
}
