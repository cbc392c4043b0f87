import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataStore

@Suite struct SavingTests {
    @Test func aSaveRunsOneStatementForEachRowAndTwoForItsKeys() throws {
        let library = try SavedLibrary()
        let tag = library.entity("Tag")
        let statements = try library.statements {
            _ = try library.engine.save(keys: [tag.ordinal: 2]) { keys in
                #expect(keys == [tag.ordinal: 1...2])
                var changes = ChangeSet()
                changes.insertions = [
                    library.insertion("Tag", 1, ["name": .text("red")]), library.insertion("Tag", 2),
                ]
                return changes
            }
        }
        #expect(
            statements == [
                "BEGIN IMMEDIATE",
                """
                SELECT MAX(IFNULL(Z_MAX, 0), IFNULL((SELECT MAX(Z_PK) FROM ZTAG), 0)) FROM Z_PRIMARYKEY \
                WHERE Z_ENT = ?
                """,
                "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
                "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?, ?, ?, ?)",
                "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?, ?, ?, ?)",
                "COMMIT",
            ])
        #expect(
            try library.rows("SELECT * FROM ZTAG") == [
                [.integer(1), .integer(5), .integer(1), .text("red")], [.integer(2), .integer(5), .integer(1), .null],
            ])
        #expect(try library.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'") == [[.integer(2)]])
    }

    @Test func anInsertWritesTheRowOfItsOwnEntityIntoTheRootsTable() throws {
        let library = try SavedLibrary()
        try library.save {
            $0.insertions = [
                library.insertion(
                    "Novel", 4,
                    [
                        "title": .text("Größe 🥛"), "place": .integer(-3), "price": .real(1.5), "author": .integer(9),
                        "genre": .text(""),
                    ])
            ]
        }
        #expect(
            try library.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPLACE, ZPRICE, ZAUTHOR, ZGENRE, ZCODE FROM ZBOOK")
                == [
                    [
                        .integer(4), .integer(3), .integer(1), .text("Größe 🥛"), .integer(-3), .real(1.5), .integer(9),
                        .text(""), .null,
                    ]
                ])
    }

    @Test func anUpdateWritesWhatDiffersUnderTheOldVersion() throws {
        // I1
        let library = try SavedLibrary()
        try library.fill()
        let statements = try library.statements {
            try library.save {
                $0.updates = [
                    library.update(
                        "Book", 1, ["title": .text("One"), "code": .text("A"), "author": .integer(1)],
                        ["title": .text("Eins"), "code": .text("A"), "author": .null]),
                    library.update("Author", 2, ["name": .text("Bob")], ["name": .text("Bob")]),
                ]
            }
        }
        #expect(
            Array(statements.dropFirst().dropLast()) == [
                "UPDATE ZBOOK SET Z_OPT = ?, ZAUTHOR = ?, ZTITLE = ? WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?",
                "UPDATE ZAUTHOR SET Z_OPT = ? WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?",
            ])
        #expect(
            try library.rows("SELECT Z_OPT, ZTITLE, ZCODE, ZAUTHOR FROM ZBOOK WHERE Z_PK = 1") == [
                [.integer(2), .text("Eins"), .text("A"), .null]
            ])
        #expect(
            try library.rows("SELECT Z_OPT, ZNAME FROM ZAUTHOR") == [
                [.integer(1), .text("Ann")], [.integer(2), .text("Bob")],
            ])
    }

    @Test func aDeleteRemovesTheRowOfItsVersion() throws {
        let library = try SavedLibrary()
        try library.fill()
        try library.save {
            $0.deletions = [library.deletion("Book", 1), library.deletion("Novel", 2)]
            $0.links = [library.link(.remove, "Book", "tags", 1, 1)]
        }
        #expect(try library.rows("SELECT COUNT(*) FROM ZBOOK") == [[.integer(0)]])
        #expect(try library.rows("SELECT COUNT(*) FROM Z_2TAGS") == [[.integer(0)]])
    }

    @Test func aRowWithoutAVersionCountsAsVersionZero() throws {
        let library = try SavedLibrary()
        try library.fill()
        try library.database.write { try $0.execute("UPDATE ZTAG SET Z_OPT = NULL") }
        try library.save { $0.updates = [library.update("Tag", 1, version: 0, [:], ["name": .text("blue")])] }
        #expect(try library.rows("SELECT Z_OPT, ZNAME FROM ZTAG") == [[.integer(1), .text("blue")]])
    }

    @Test func metadataIsWrittenWithTheRows() throws {
        // H10
        let library = try SavedLibrary()
        let metadata = try StoreMetadata(dictionary: ["Owner": "Ann"])
        try library.save { $0.metadata = metadata }
        #expect(
            try library.rows("SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA") == [
                [.integer(1), .text("UUID"), .blob(metadata.propertyList)]
            ])
    }

    @Test func aSaveThatBuildsNothingKeepsItsKeysToItself() throws {
        struct Stop: Error {}
        let library = try SavedLibrary()
        #expect(throws: Stop.self) {
            _ = try library.engine.save(keys: [library.entity("Tag").ordinal: 3]) { _ in throw Stop() }
        }
        #expect(try library.engine.allocateKeys(root: library.entity("Tag").ordinal, count: 1) == 1...1)
    }

    @Test func aReadOnlyStoreRefuses() throws {
        let path = try SavedLibrary(inFile: true).path
        let library = try SavedLibrary(path: path, isReadOnly: true)
        #expect((library.failure { _ in } as? StoreFailure)?.kind == .readOnly)
        #expect(throws: StoreFailure.self) { try library.engine.allocateKeys(root: 0, count: 1) }
    }

    @Test func rowsWithDerivedAttributesAreReported() throws {
        // U1
        let library = try SavedLibrary()
        try library.fill()
        let outcome = try library.save {
            $0.updates = [library.update("Novel", 2, [:], ["author": .integer(2)])]
            $0.insertions = [library.insertion("Author", 3), library.insertion("Book", 3, ["author": .integer(3)])]
        }
        #expect(outcome.derivedRows == [library.key("Author", 2), library.key("Author", 3)])
        #expect(
            try library.rows("SELECT ZBOOKCOUNT FROM ZAUTHOR ORDER BY Z_PK")
                == [[.integer(1)], [.integer(1)], [.integer(1)]])
    }

    @Test func anUnknownEntityIsNamed() throws {
        let library = try SavedLibrary()
        let row = RowBuilder(columnCount: 0).finish(primaryKey: 1, version: 1, entity: 99)
        let failure = library.failure { $0.insertions = [.init(row: row)] } as? StoreFailure
        #expect(failure?.message.contains("99") == true)
    }
}

@Suite struct KeyAllocationTests {
    private func maximum(_ library: SavedLibrary, _ entity: String) throws -> [[SQLValue]] {
        try library.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = \(bind: .text(entity))")
    }

    @Test func keysAreNeverGivenOutTwice() throws {
        // S9
        let library = try SavedLibrary()
        let book = library.entity("Book").ordinal
        #expect(try library.engine.allocateKeys(root: book, count: 2) == 1...2)
        try library.save { $0.insertions = [library.insertion("Book", 2)] }
        try library.save { $0.deletions = [library.deletion("Book", 2)] }
        #expect(try library.engine.allocateKeys(root: book, count: 1) == 3...3)
        #expect(try maximum(library, "Book") == [[.integer(3)]])
        // Only the root counts: store-format §2.
        #expect(try maximum(library, "Novel") == [[.integer(0)]])
    }

    @Test(arguments: ["-1", "NULL", "3"])
    func aCounterBehindItsTableIsMended(counter: String) throws {
        let library = try SavedLibrary()
        try library.save { $0.insertions = [library.insertion("Tag", 41)] }
        try library.database.write { try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(counter)") }
        #expect(try library.engine.allocateKeys(root: library.entity("Tag").ordinal, count: 2) == 42...43)
        #expect(try maximum(library, "Tag") == [[.integer(43)]])
    }

    @Test func aMissingCounterIsNamed() throws {
        let library = try SavedLibrary()
        try library.database.write { try $0.execute("DELETE FROM Z_PRIMARYKEY") }
        #expect {
            try library.engine.allocateKeys(root: library.entity("Tag").ordinal, count: 1)
        } throws: { error in
            (error as? StoreFailure)?.message.contains("'Tag'") == true
        }
    }

    @Test func keysThatAreUsedUpAreAnError() throws {
        let library = try SavedLibrary()
        try library.database.write { try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807") }
        #expect(throws: StoreFailure.self) {
            try library.engine.allocateKeys(root: library.entity("Tag").ordinal, count: 1)
        }
    }
}

@Suite struct LinkSavingTests {
    @Test func pairsAreWrittenFromEitherSide() throws {
        let library = try SavedLibrary()
        try library.save {
            $0.links = [
                library.link(.insert, "Book", "tags", 1, 7, order: 2048),
                library.link(.insert, "Tag", "books", 8, 1, inverseOrder: 3072),
            ]
        }
        let pairs: SQLText = "SELECT Z_2BOOKS, Z_5TAGS, Z_FOK_5TAGS FROM Z_2TAGS ORDER BY 2"
        #expect(
            try library.rows(pairs) == [
                [.integer(1), .integer(7), .integer(2048)], [.integer(1), .integer(8), .integer(3072)],
            ])
        // Again with another order, and again without one.
        try library.save { $0.links = [library.link(.insert, "Book", "tags", 1, 7, order: 4096)] }
        try library.save { $0.links = [library.link(.insert, "Tag", "books", 7, 1)] }
        try library.save { $0.links = [library.link(.remove, "Tag", "books", 8, 1)] }
        #expect(try library.rows(pairs) == [[.integer(1), .integer(7), .integer(4096)]])
    }

    @Test func aSubentityUsesItsParentsTable() throws {
        let library = try SavedLibrary()
        try library.save { $0.links = [library.link(.insert, "Novel", "tags", 2, 7, order: 1)] }
        #expect(try library.rows("SELECT COUNT(*) FROM Z_2TAGS") == [[.integer(1)]])
    }

    @Test func aRelationshipThatIsItsOwnInverseIsWrittenBothWays() throws {
        let library = try SavedLibrary()
        try library.save {
            $0.links = [
                library.link(.insert, "Person", "friends", 1, 2), library.link(.insert, "Person", "friends", 3, 3),
            ]
        }
        let table = try #require(library.engine.layout.joinTables.values.first { $0.name == "Z_4FRIENDS" })
        let pairs: SQLText =
            "SELECT \(identifier: table.ownerColumn), \(identifier: table.destinationColumn) FROM Z_4FRIENDS ORDER BY 1"
        #expect(
            Set(try library.rows(pairs)) == [
                [.integer(1), .integer(2)], [.integer(2), .integer(1)], [.integer(3), .integer(3)],
            ])
        try library.save { $0.links = [library.link(.remove, "Person", "friends", 2, 1)] }
        #expect(try library.rows(pairs) == [[.integer(3), .integer(3)]])
    }

    @Test func aRelationshipWithoutATableIsNamed() throws {
        let library = try SavedLibrary()
        let failure = library.failure { $0.links = [library.link(.insert, "Author", "books", 1, 1)] }
        #expect((failure as? StoreFailure)?.message.contains("'Author.books'") == true)
    }
}
