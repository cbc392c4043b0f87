import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import TestSupport

@testable import CoreDataStore

/// A store of authors, books and tags, made fresh for a test.
///
///     Author ──< Book >──< Tag        Novel is a Book; a book's tags are ordered
struct SavedLibrary {
    let model: CompiledModel
    let engine: StoreEngine
    let database: any SQLDatabase
    let path: String?

    static func makeModel() throws -> CompiledModel {
        try StoreTestSupport.model(
            Entity("Author").string("name", "email").toMany("books", "Book", inverse: "author")
                .attribute("bookCount", .integer64, derived: "books.@count").unique("email"),
            Entity("Book").string("title", "code", "shelf").integer("place").attribute("price", .double)
                .attribute("cover", .binaryData, external: true)
                .toOne("author", "Author", inverse: "books").toMany("tags", "Tag", inverse: "books", ordered: true)
                .unique("code").unique("shelf", "place"),
            Entity("Novel", parent: "Book").string("genre"),
            Entity("Person").string("name").toMany("friends", "Person", inverse: "friends"),
            Entity("Tag").string("name").toMany("books", "Book", inverse: "tags"))
    }

    init(inFile: Bool = false) throws {
        try self.init(
            path: inFile ? try Fixtures.temporaryFolder().appendingPathComponent("Library.sqlite").path : nil)
    }

    init(path: String?, isReadOnly: Bool = false, participants: [any SaveParticipant] = []) throws {
        self.path = path
        model = try Self.makeModel()
        var options = StoreOptions(path: path)
        options.identifier = "UUID"
        options.database.isReadOnly = isReadOnly
        options.participants = participants
        engine = try StoreEngine.open(model: model, options: options, makeDatabase: makeDatabase)
        database = engine.database
    }

    // MARK: Rows

    func entity(_ name: String) -> CompiledEntity { model.entity(named: name) ?? model.entities[0] }

    func key(_ entity: String, _ primaryKey: Int64) -> RowKey {
        RowKey(entity: self.entity(entity).ordinal, primaryKey: primaryKey)
    }

    func row(_ name: String, _ key: Int64, version: Int32 = 1, _ values: [String: SQLValue] = [:]) -> RowSnapshot {
        let entity = entity(name)
        let builder = RowBuilder(columnCount: entity.rowLayout.columns.count)
        for (property, value) in values {
            let slot = entity.slotByName[property] ?? 0
            let column = entity.rowLayout.columnOfSlot[slot]
            switch value {
            case .null: break
            case .integer(let value): builder.setInteger(value, at: column)
            case .real(let value): builder.setReal(value, at: column)
            case .text(let value): builder.setText(value, at: column)
            case .blob(let value): value.withUnsafeBytes { builder.setBytes($0, at: column) }
            }
        }
        return builder.finish(primaryKey: key, version: version, entity: entity.ordinal)
    }

    func insertion(_ name: String, _ key: Int64, _ values: [String: SQLValue] = [:]) -> ChangeSet.Insertion {
        .init(row: row(name, key, values))
    }

    func update(
        _ name: String, _ key: Int64, version: Int32 = 1, _ old: [String: SQLValue], _ new: [String: SQLValue]
    ) -> ChangeSet.Update {
        .init(old: row(name, key, version: version, old), new: row(name, key, version: version + 1, new))
    }

    func deletion(_ name: String, _ key: Int64, version: Int32 = 1) -> ChangeSet.Deletion {
        .init(key: self.key(name, key), version: version)
    }

    func link(
        _ kind: ChangeSet.Link.Kind, _ entity: String, _ property: String, _ owner: Int64, _ destination: Int64,
        order: Int64? = nil, inverseOrder: Int64? = nil
    ) -> ChangeSet.Link {
        let owning = self.entity(entity)
        return .init(
            kind, entity: owning.ordinal, slot: owning.slotByName[property] ?? 0, owner: owner,
            destination: destination, order: order, inverseOrder: inverseOrder)
    }

    // MARK: Saving

    @discardableResult
    func save(keys: [Int: Int] = [:], _ change: (inout ChangeSet) -> Void) throws -> SaveOutcome {
        var changes = ChangeSet()
        change(&changes)
        return try engine.save(keys: keys) { _ in changes }
    }

    func failure(_ change: (inout ChangeSet) -> Void) -> (any Error)? {
        do {
            try save(change)
            return nil
        } catch {
            return error
        }
    }

    /// Two authors, two books and a tag, all of version 1.
    func fill() throws {
        try save { changes in
            changes.insertions = [
                insertion("Author", 1, ["name": .text("Ann"), "email": .text("ann@x")]),
                insertion("Author", 2, ["name": .text("Bob"), "email": .text("bob@x")]),
                insertion("Book", 1, ["title": .text("One"), "code": .text("A"), "author": .integer(1)]),
                insertion("Novel", 2, ["title": .text("Two"), "code": .text("B"), "genre": .text("Crime")]),
                insertion("Tag", 1, ["name": .text("red")]),
            ]
            changes.links = [link(.insert, "Book", "tags", 1, 1, order: 2048)]
        }
    }

    // MARK: Looking

    func rows(_ text: SQLText) throws -> [[SQLValue]] { try database.read { try $0.rows(text) } }

    /// The statements that a save runs, transaction included.
    func statements(_ body: () throws -> Void) throws -> [String] {
        let recorder = SQLRecorder()
        database.setObserver(recorder)
        defer { database.setObserver(nil) }
        try body()
        return recorder.statements
    }

    /// Everything in the store: tables with their rows, and files of external data with their sizes.
    func dump() throws -> [String] {
        var lines: [String] = []
        let tables = try rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        for case .text(let table)? in tables.map(\.first) {
            for row in try rows("SELECT * FROM \(identifier: table) ORDER BY rowid") {
                lines.append("\(table): \(row)")
            }
        }
        return lines + files()
    }

    func files() -> [String] {
        guard let folder = engine.externalData.folder else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted()
    }
}
