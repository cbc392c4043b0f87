import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreDataStore

/// What takes part in a store's transactions beside its rows.
@Suite struct SaveParticipantTests {
    private struct Refusal: Error {}

    /// Notes what it is called with, writes a row of its own with each portion, and refuses where it is told to.
    private final class Recorder: SaveParticipant {
        private struct State {
            var events: [String] = []
            var refusedHook: String?
        }

        private let state = Mutex(State())

        /// The events since this was last read.
        func takeEvents() -> [String] {
            state.withLock { state in
                defer { state.events = [] }
                return state.events
            }
        }

        func refuse(_ hook: String?) { state.withLock { $0.refusedHook = hook } }

        fileprivate func note(_ hook: String, _ details: String = "") throws {
            let isRefused = state.withLock { state in
                state.events.append(details.isEmpty ? hook : "\(hook) \(details)")
                return state.refusedHook == hook
            }
            if isRefused { throw Refusal() }
        }

        func prepare(_ engine: StoreEngine) throws {
            try engine.write { try $0.execute("CREATE TABLE PARTNER (TAGS INTEGER)") }
            try note("prepare")
        }

        func begin(_ transaction: SaveTransaction) throws -> (any SaveParticipation)? {
            try note("begin", transaction.origin?.author ?? "")
            return Part(recorder: self, connection: transaction.connection)
        }

        func rolledBack(_ engine: StoreEngine) { try? note("rolledBack") }
    }

    private struct Part: SaveParticipation {
        let recorder: Recorder
        let connection: any SQLConnection

        var wantsKeys: Bool { true }

        private func tags() throws -> String {
            guard case .integer(let count)? = try connection.rows("SELECT COUNT(*) FROM ZTAG").first?.first else {
                return "no tags"
            }
            return "\(count) tags"
        }

        func willWrite(_ portion: SavePortion) throws {
            let changes = portion.changes
            let counts = [changes.insertions.count, changes.updates.count, changes.deletions.count]
            try recorder.note("willWrite", "\(counts), \(tags())")
        }
        func willDelete(_ portion: SavePortion) throws { try recorder.note("willDelete", tags()) }
        func didWrite(_ portion: SavePortion) throws {
            try connection.execute("INSERT INTO PARTNER SELECT COUNT(*) FROM ZTAG")
            try recorder.note("didWrite", tags())
        }
        func note(_ kind: HistoryKind, _ keys: [RowKey], _ columns: IndexMask) throws {
            try recorder.note("note", "\(kind) \(keys.map(\.primaryKey))")
        }
        func willEnd() throws { try recorder.note("willEnd") }
        func finish(_ outcome: inout SaveOutcome) throws {
            outcome.historyTransaction = 7
            try recorder.note("finish")
        }
    }

    /// A library of three tags.
    private func library(_ recorder: Recorder) throws -> SavedLibrary {
        let library = try SavedLibrary(path: nil, participants: [recorder])
        try library.save { changes in
            changes.insertions = (1...3).map { library.insertion("Tag", Int64($0), ["name": .text("\($0)")]) }
        }
        return library
    }

    /// One tag leaves, one changes, two come.
    private func change(_ library: SavedLibrary, _ changes: inout ChangeSet) {
        changes.insertions = [library.insertion("Tag", 4), library.insertion("Tag", 5)]
        changes.updates = [library.update("Tag", 2, ["name": .text("2")], ["name": .text("two")])]
        changes.deletions = [library.deletion("Tag", 1)]
    }

    @Test func hooksOfASaveAreCalledInOrder() throws {
        let recorder = Recorder()
        let library = try library(recorder)
        #expect(recorder.takeEvents().first == "prepare")
        let outcome = try library.save { change(library, &$0) }
        #expect(
            recorder.takeEvents() == [
                "begin", "willWrite [2, 1, 1], 3 tags", "willDelete 3 tags", "didWrite 4 tags", "willEnd", "finish",
            ])
        #expect(outcome.historyTransaction == 7)
        #expect(try library.rows("SELECT TAGS FROM PARTNER") == [[.integer(3)], [.integer(4)]])
    }

    @Test(arguments: ["begin", "willWrite", "willDelete", "didWrite", "willEnd", "finish"])
    func whateverRefusesLeavesTheStoreAsItWas(hook: String) throws {
        let recorder = Recorder()
        let library = try library(recorder)
        let before = try library.dump()
        _ = recorder.takeEvents()
        recorder.refuse(hook)
        #expect(throws: Refusal.self) { try library.save { change(library, &$0) } }
        let events = recorder.takeEvents()
        #expect(events.last == "rolledBack" && events.dropLast().last?.hasPrefix(hook) == true, "\(events)")
        #expect(try library.dump() == before)
        recorder.refuse(nil)
        try library.save { change(library, &$0) }
        #expect(try library.rows("SELECT COUNT(*) FROM ZTAG") == [[.integer(4)]])
    }

    @Test func aBatchIsOneTransactionOfSeveralPortions() throws {
        let recorder = Recorder()
        let library = try library(recorder)
        _ = recorder.takeEvents()
        try library.engine.batch(origin: ChangeOrigin(author: "Ann", contextName: nil)) { writer in
            for key in [Int64(4), 5] {
                var changes = ChangeSet()
                changes.insertions = [library.insertion("Tag", key)]
                try writer.write(changes)
            }
            try writer.record(.update, [library.key("Tag", 1)], IndexMask())
        }
        #expect(
            recorder.takeEvents() == [
                "begin Ann", "willWrite [1, 0, 0], 3 tags", "willDelete 3 tags", "didWrite 4 tags",
                "willWrite [1, 0, 0], 4 tags", "willDelete 4 tags", "didWrite 5 tags", "note update [1]", "willEnd",
            ])
        #expect(try library.rows("SELECT TAGS FROM PARTNER") == [[.integer(3)], [.integer(4)], [.integer(5)]])
    }

    @Test func aStoreWithoutHistoryAndSearchIndexesHasNoParticipants() throws {
        let library = try SavedLibrary()
        #expect(library.engine.participants.isEmpty)
        #expect(
            try library.engine.database.write { try library.engine.participations(in: $0, checkedBy: nil).isEmpty })
    }

    /// Which rows took the values of new ones nobody could tell it.
    @Test(arguments: [false, true])
    func rowsAbsorbNothingWhereAParticipantIs(hasParticipant: Bool) throws {
        var options = StoreOptions(path: nil)
        if hasParticipant { options.participants = [Recorder()] }
        let engine = try StoreEngine.open(
            model: try StoreTestSupport.model(Entity("Tag").string("name").unique("name")), options: options,
            makeDatabase: makeDatabase)
        #expect((engine.absorbs(entity: 0) == nil) == hasParticipant)
    }

    @Test func aStoreWithReadersOnlyIsNotPrepared() throws {
        let path = try Fixtures.temporaryFolder().appendingPathComponent("Library.sqlite").path
        try SavedLibrary(path: path).engine.close()
        let recorder = Recorder()
        let library = try SavedLibrary(path: path, isReadOnly: true, participants: [recorder])
        #expect(recorder.takeEvents().isEmpty)
        library.engine.close()
    }

    @Test func aStoreIsNotOpenedWhereAParticipantRefusesToPrepareIt() throws {
        let recorder = Recorder()
        recorder.refuse("prepare")
        #expect(throws: Refusal.self) { try SavedLibrary(path: nil, participants: [recorder]) }
    }
}
