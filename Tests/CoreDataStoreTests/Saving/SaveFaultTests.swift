import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataStore

@Suite struct SaveFaultTests {
    /// Every kind of statement that a save knows.
    private func change(_ library: SavedLibrary, _ keys: ClosedRange<Int64>) throws -> ChangeSet {
        let large = Data(repeating: 7, count: ExternalData.fileThreshold)
        var changes = ChangeSet()
        changes.insertions = [
            library.insertion("Book", keys.lowerBound, ["title": .text("New"), "cover": .blob(large)]),
            library.insertion("Novel", keys.upperBound, ["author": .integer(2)]),
            library.insertion("Tag", 50),
        ]
        changes.updates = [
            library.update(
                "Book", 1, ["code": .text("A"), "author": .integer(1)], ["code": .text("B"), "cover": .blob(large)]),
            library.update("Novel", 2, ["code": .text("B")], ["code": .text("A")]),
            library.update("Author", 1, ["name": .text("Ann")], ["name": .text("Anna")]),
        ]
        changes.deletions = [library.deletion("Author", 2), library.deletion("Tag", 1)]
        changes.links = [
            library.link(.remove, "Book", "tags", 1, 1), library.link(.insert, "Novel", "tags", 2, 50, order: 2048),
        ]
        changes.metadata = try StoreMetadata(dictionary: ["Key": 1])
        return changes
    }

    @Test(arguments: [false, true])
    func aFaultAtAnyStatementLeavesTheStoreAsItWas(inFile: Bool) throws {
        let library = try SavedLibrary(inFile: inFile)
        try library.fill()
        let before = try library.dump()
        let book = library.entity("Book").ordinal
        var number = 1
        while true {
            let injector = SQLFaultInjector(failingStatement: number)
            library.database.setObserver(injector)
            let result = Result {
                try library.engine.save(keys: [book: 2]) { try change(library, $0[book] ?? 0...0) }
            }
            library.database.setObserver(nil)
            guard injector.hasFailed else {
                _ = try result.get()
                break
            }
            #expect(throws: SQLFailure.self) { try result.get() }
            #expect(try library.dump() == before, "statement \(number)")
            number += 1
        }
        // BEGIN, 2 for the keys, a link, 2 deletes, 2 parked values, 3 updates, 3 inserts, a link, metadata, COMMIT;
        // the update of a cover looks for its file first.
        #expect(number == 1 + 18)
        #expect(try library.dump() != before)
        #expect(try library.database.integrityProblems() == [])
        #expect(library.files().count == (inFile ? 2 : 0))
    }
}
