import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataStore

/// How SQL meets what the specification of stores says of conflicts.
@Suite struct ConflictTests {
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

    @Test func aKeyThatIsInUseIsTheDatabasesFailure() throws {
        let library = try SavedLibrary()
        try library.fill()
        let error = library.failure { $0.insertions = [library.insertion("Tag", 1)] }
        #expect((error as? SQLFailure)?.kind == .constraint)
    }
}
