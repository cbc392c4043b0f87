import CoreDataSQL
import Foundation

/// A schema beside a store's, in which another store is made before that is put at its place.
///
/// ```
///  shop ◀── shop_new_3k9… "OpenCoreData on the way to "shop": copy of …", held by who makes it
/// ```
/// One that nobody holds was left by a program that died. It is told from schemas of others by what stands in its comment.
package struct PostgreSQLPlace: Sendable {
    package var name: String
    /// Whether it was left by somebody who did the same.
    package var isFound = false
    /// `nil` where nothing can be held, so that nothing that is left can be told from what is being made.
    package var hold: (any SQLHold)?
}

extension PostgreSQLDatabase {
    /// A place of the caller's own. What others have left goes, but for what is to be gone on with.
    ///
    /// - Parameter purpose: what is done there, where it can be gone on with after somebody died of it: the same for the same.
    package func takePlace(purpose: String?) throws -> PostgreSQLPlace {
        var found: PostgreSQLPlace?
        if traits.locksByNumber {
            for name in try leavings().map(\.name) {
                guard case .own(let hold) = try hold("place \(name)") else { continue }
                // By now it may have been put at its place, or somebody else may have taken it away.
                guard let note = try leavings().first(where: { $0.name == name })?.note else {
                    hold.release()
                    continue
                }
                if found == nil, let purpose, note == purpose {
                    found = PostgreSQLPlace(name: name, isFound: true, hold: hold)
                    continue
                }
                // Another role's is for that to take away.
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

    /// Takes a place away with all that is in it.
    package func remove(place name: String) throws {
        try writeWithoutTransaction { try $0.execute(ServerText.dropSchema(name)) }
    }

    /// Removes the schema if nothing is in it. One that has something in it, another role's, and `public` stay.
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

    private func leavings() throws -> [(name: String, note: String)] {
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
