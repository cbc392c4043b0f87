import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataStore

@Suite struct ConflictTests {
    private func conflicts(_ error: (any Error)?) -> [SaveFailure.Conflict] {
        guard case .conflicts(let conflicts)? = error as? SaveFailure else { return [] }
        return conflicts
    }

    private func violations(_ error: (any Error)?) -> [SaveFailure.ConstraintViolation] {
        guard case .constraints(let violations)? = error as? SaveFailure else { return [] }
        return violations
    }

    // MARK: Versions

    @Test(arguments: [false, true])
    func everyOutdatedRowIsToldAndNothingIsWritten(inFile: Bool) throws {
        // I1, I2, I3
        let library = try SavedLibrary(inFile: inFile)
        try library.fill()
        try library.save {
            $0.updates = [
                library.update("Author", 1, ["name": .text("Ann")], ["name": .text("Anna")]),
                library.update("Novel", 2, ["genre": .text("Crime")], ["genre": .text("Noir")]),
            ]
            $0.deletions = [library.deletion("Tag", 1)]
        }
        let before = try library.dump()
        let error = library.failure {
            $0.updates = [
                library.update("Book", 1, ["title": .text("One")], ["title": .text("Fine")]),
                library.update("Author", 1, [:], ["name": .text("Lost")]),
                library.update("Tag", 1, [:], ["name": .text("Lost")]),
            ]
            $0.deletions = [library.deletion("Novel", 2), library.deletion("Author", 2)]
            $0.insertions = [library.insertion("Tag", 9)]
        }
        let found = conflicts(error)
        #expect(found.map(\.key) == [library.key("Author", 1), library.key("Tag", 1), library.key("Novel", 2)])
        #expect(found.map(\.expectedVersion) == [1, 1, 1])
        #expect(found.map { $0.persisted?.version } == [2, nil, 2])
        let novel = library.entity("Novel")
        let genre = novel.rowLayout.columnOfSlot[novel.slotByName["genre"] ?? 0]
        #expect(found.last?.persisted?.text(genre) == "Noir")
        #expect(found.last?.persisted?.entity == novel.ordinal)
        #expect(try library.dump() == before)
    }

    @Test func outdatedRowsComeBeforeUniqueValues() throws {
        // I9
        let library = try SavedLibrary()
        try library.fill()
        let error = library.failure {
            $0.insertions = [library.insertion("Author", 3, ["email": .text("bob@x")])]
            $0.updates = [library.update("Tag", 1, version: 4, [:], [:])]
        }
        #expect(conflicts(error).map(\.key) == [library.key("Tag", 1)])
    }

    // MARK: Unique values

    @Test func aTakenValueIsToldWithBothRows() throws {
        // I9, I10
        let library = try SavedLibrary()
        try library.fill()
        let before = try library.dump()
        let error = library.failure {
            $0.insertions = [
                library.insertion("Author", 3, ["email": .text("new@x")]),
                library.insertion("Author", 4, ["email": .text("bob@x")]),
                library.insertion("Book", 5, ["code": .text("B")]),
            ]
            $0.updates = [library.update("Novel", 2, ["code": .text("B")], ["code": .text("A")])]
        }
        let found = violations(error)
        #expect(found.map(\.changed) == [library.key("Novel", 2), library.key("Author", 4)])
        #expect(found.map(\.existing) == [library.key("Book", 1), library.key("Author", 2)])
        let book = library.entity("Book")
        #expect(found.first?.entity == book.ordinal)
        #expect(found.first?.slots == [book.slotByName["code"] ?? -1])
        #expect(try library.dump() == before)
    }

    @Test func newRowsWithOneValueAreTold() throws {
        let library = try SavedLibrary()
        let error = library.failure {
            $0.insertions = [
                library.insertion("Author", 1, ["email": .text("a")]),
                library.insertion("Author", 2, ["email": .text("a")]),
            ]
        }
        #expect(violations(error).map(\.changed) == [library.key("Author", 2)])
        #expect(violations(error).map(\.existing) == [library.key("Author", 1)])
    }

    @Test func compoundValuesCollideOnlyAsAWholeAndNullNever() throws {
        // I12
        let library = try SavedLibrary()
        func book(_ key: Int64, _ shelf: SQLValue, _ place: SQLValue) -> ChangeSet.Insertion {
            library.insertion("Book", key, ["shelf": shelf, "place": place])
        }
        try library.save {
            $0.insertions = [
                book(1, .text("A"), .integer(1)), book(2, .text("A"), .integer(2)), book(3, .text("B"), .integer(1)),
                book(4, .null, .integer(1)), book(5, .null, .integer(1)),
            ]
        }
        let error = library.failure { $0.insertions = [book(6, .text("A"), .integer(2))] }
        #expect(violations(error).map(\.existing) == [library.key("Book", 2)])
        #expect(violations(error).first?.slots.count == 2)
    }

    @Test func rowsMayExchangeTheirValues() throws {
        let library = try SavedLibrary()
        try library.fill()
        try library.save { $0.insertions = [library.insertion("Book", 3, ["code": .text("C")])] }
        let statements = try library.statements {
            try library.save {
                $0.updates = [
                    library.update("Book", 1, ["code": .text("A")], ["code": .text("B")]),
                    library.update("Novel", 2, ["code": .text("B")], ["code": .text("C")]),
                    library.update("Book", 3, ["code": .text("C")], ["code": .text("A")]),
                ]
            }
        }
        #expect(
            try library.rows("SELECT ZCODE FROM ZBOOK ORDER BY Z_PK") == [[.text("B")], [.text("C")], [.text("A")]])
        #expect(statements.filter { $0 == "UPDATE ZBOOK SET ZCODE = NULL WHERE Z_PK = ?" }.count == 3)
    }

    @Test func compoundValuesMayBeExchanged() throws {
        let library = try SavedLibrary()
        func place(_ shelf: String, _ place: Int64) -> [String: SQLValue] {
            ["shelf": .text(shelf), "place": .integer(place)]
        }
        try library.save {
            $0.insertions = [
                library.insertion("Book", 1, place("A", 1)), library.insertion("Book", 2, place("A", 2)),
            ]
        }
        try library.save {
            $0.updates = [
                library.update("Book", 1, place("A", 1), place("A", 2)),
                library.update("Book", 2, place("A", 2), place("A", 1)),
            ]
        }
        #expect(try library.rows("SELECT ZPLACE FROM ZBOOK ORDER BY Z_PK") == [[.integer(2)], [.integer(1)]])
        #expect(try library.rows("SELECT DISTINCT ZSHELF FROM ZBOOK") == [[.text("A")]])
    }

    @Test func valuesOfDeletedAndChangedRowsAreFree() throws {
        let library = try SavedLibrary()
        try library.fill()
        try library.save {
            $0.deletions = [library.deletion("Author", 1)]
            $0.updates = [library.update("Author", 2, ["email": .text("bob@x")], ["email": .text("ann@x")])]
            $0.insertions = [library.insertion("Author", 3, ["email": .text("bob@x")])]
        }
        #expect(
            try library.rows("SELECT Z_PK, ZEMAIL FROM ZAUTHOR ORDER BY 1") == [
                [.integer(2), .text("ann@x")], [.integer(3), .text("bob@x")],
            ])
    }

    @Test func aKeyThatIsInUseIsTheDatabasesFailure() throws {
        let library = try SavedLibrary()
        try library.fill()
        let error = library.failure { $0.insertions = [library.insertion("Tag", 1)] }
        #expect((error as? SQLFailure)?.kind == .constraint)
    }
}
