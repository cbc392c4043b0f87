import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataStore

@Suite struct ExternalDataTests {
    private let small = Data([2, 0, 1])
    private let large = Data((0..<ExternalData.fileThreshold).map { UInt8(truncatingIfNeeded: $0) })

    private func stored(_ library: SavedLibrary, _ key: Int64 = 1) throws -> Data? {
        guard
            case .blob(let data)? = try library.rows("SELECT ZCOVER FROM ZBOOK WHERE Z_PK = \(integer: key)").first?
                .first
        else { return nil }
        return data
    }

    private func read(_ stored: Data, _ external: ExternalData) throws -> Data {
        try stored.withUnsafeBytes { try external.data(of: $0) }
    }

    @Test func theFolderStandsBesideTheStore() {
        // store-format §8
        #expect(ExternalData(storePath: "/data/Shop.sqlite").folder == "/data/.Shop_SUPPORT/_EXTERNAL_DATA")
        #expect(ExternalData(storePath: "/data/My Shop").folder == "/data/.My Shop_SUPPORT/_EXTERNAL_DATA")
        #expect(ExternalData(storePath: nil).folder == nil)
    }

    @Test func smallBytesAreKeptInlineBehindAMark() throws {
        let library = try SavedLibrary(inFile: true)
        try library.save {
            $0.insertions = [
                library.insertion("Book", 1, ["cover": .blob(small)]),
                library.insertion("Novel", 2, ["cover": .blob(Data())]),
                library.insertion("Book", 3),
            ]
        }
        #expect(try stored(library) == Data([1]) + small)
        #expect(try stored(library, 2) == Data([1]))
        #expect(try stored(library, 3) == nil)
        #expect(library.files() == [])
        #expect(try read(Data([1]) + small, library.engine.externalData) == small)
        #expect(try read(Data([1]), library.engine.externalData) == Data())
    }

    @Test func largeBytesGoIntoAFile() throws {
        let library = try SavedLibrary(inFile: true)
        try library.save { $0.insertions = [library.insertion("Book", 1, ["cover": .blob(large)])] }
        let files = library.files()
        let envelope = try #require(try stored(library))
        #expect(files.count == 1)
        #expect(envelope == Data([2] + (files.first ?? "").utf8 + [0]))
        #expect(try read(envelope, library.engine.externalData) == large)
    }

    @Test func aStoreInMemoryKeepsEverythingInline() throws {
        let library = try SavedLibrary()
        try library.save { $0.insertions = [library.insertion("Book", 1, ["cover": .blob(large)])] }
        #expect(try stored(library) == Data([1]) + large)
    }

    @Test func filesFollowTheirRows() throws {
        let library = try SavedLibrary(inFile: true)
        let other = Data(large.reversed())
        try library.save {
            $0.insertions = [
                library.insertion("Book", 1, ["cover": .blob(large)]),
                library.insertion("Book", 2, ["cover": .blob(large)]),
            ]
        }
        let first = library.files()
        #expect(first.count == 2)
        // Another attribute's change leaves the file alone.
        try library.save {
            $0.updates = [
                library.update("Book", 1, ["cover": .blob(large)], ["cover": .blob(large), "title": .text("New")])
            ]
        }
        #expect(library.files() == first)
        try library.save {
            $0.updates = [library.update("Book", 1, version: 2, ["cover": .blob(large)], ["cover": .blob(other)])]
            $0.deletions = [library.deletion("Book", 2)]
        }
        #expect(library.files().count == 1)
        #expect(try read(try #require(try stored(library)), library.engine.externalData) == other)
        try library.save {
            $0.updates = [library.update("Book", 1, version: 3, ["cover": .blob(other)], ["cover": .null])]
        }
        #expect(library.files() == [])
        #expect(try stored(library) == nil)
    }

    @Test func aSaveThatFailsLeavesNoNewFileAndKeepsTheOld() throws {
        let library = try SavedLibrary(inFile: true)
        try library.save {
            $0.insertions = [library.insertion("Book", 1, ["cover": .blob(large), "code": .text("A")])]
        }
        let before = library.files()
        let error = library.failure {
            $0.updates = [
                library.update(
                    "Book", 1, ["cover": .blob(large), "code": .text("A")],
                    ["cover": .blob(Data(large.reversed())), "code": .text("A")])
            ]
            $0.insertions = [library.insertion("Book", 2, ["cover": .blob(large), "code": .text("A")])]
        }
        #expect(error is SaveFailure)
        #expect(library.files() == before)
    }

    @Test func aConflictShowsTheRowsPlainBytes() throws {
        let library = try SavedLibrary(inFile: true)
        try library.save { $0.insertions = [library.insertion("Book", 1, ["cover": .blob(large)])] }
        let error = library.failure { $0.updates = [library.update("Book", 1, version: 5, [:], [:])] }
        guard case .conflicts(let conflicts)? = error as? SaveFailure, let row = conflicts.first?.persisted else {
            Issue.record("no conflict")
            return
        }
        let book = library.entity("Book")
        let column = book.rowLayout.columnOfSlot[book.slotByName["cover"] ?? 0]
        #expect(row.withBytes(column) { Data($0) } == large)
    }

    @Test(arguments: [
        Data(), Data([0]), Data([3, 1]), Data("old bytes".utf8), Data([2] + Array("../../etc/passwd".utf8) + [0]),
        Data([2] + Array(repeating: UInt8(ascii: "/"), count: 36) + [0]),
        Data([2] + Array("00000000-0000-0000-0000-000000000000".utf8)),
    ])
    func whatIsNoEnvelopeIsReadAsItIs(stored: Data) throws {
        #expect(try read(stored, ExternalData(storePath: "/data/Shop.sqlite")) == stored)
    }

    @Test func aMissingFileIsNamed() throws {
        let name = "00000000-0000-0000-0000-000000000000"
        let envelope = Data([2] + Array(name.utf8) + [0])
        for path in ["/nowhere/Shop.sqlite", nil] {
            #expect {
                try read(envelope, ExternalData(storePath: path))
            } throws: { error in
                (error as? ExternalDataFailure)?.message.contains(name) == true
            }
        }
    }

    /// Two books whose covers are in files that are gone.
    private func libraryWithoutFiles() throws -> SavedLibrary {
        let library = try SavedLibrary(inFile: true)
        try library.save {
            $0.insertions = [
                library.insertion(
                    "Book", 1, ["cover": .blob(large), "code": .text("A"), "place": .integer(7), "price": .real(2.5)]),
                library.insertion("Novel", 2, ["cover": .blob(large), "code": .text("B")]),
                library.insertion("Book", 3),
            ]
        }
        let folder = try #require(library.engine.externalData.folder)
        for file in library.files() { try FileManager.default.removeItem(atPath: folder + "/" + file) }
        return library
    }

    @Test func aMissingFileCostsItsColumnAlone() throws {
        let library = try libraryWithoutFiles()
        let book = library.entity("Book")
        let cover = book.rowLayout.columnOfSlot[book.slotByName["cover"] ?? 0]
        let row = try #require(try library.engine.row(1, root: book.root))
        #expect(row.isNull(cover) && row.isUnreadable(cover))
        #expect(try row.withBytes(cover) { Data($0) } == stored(library))
        for (property, value) in [("code", SQLValue.text("A")), ("place", .integer(7)), ("price", .real(2.5))] {
            let column = book.rowLayout.columnOfSlot[book.slotByName[property] ?? 0]
            #expect(row.values([column], book.rowLayout.kinds) == [value])
        }
        // What was kept of it does not show in the row that is read next.
        let last = try #require(try library.engine.row(3, root: book.root))
        for (column, kind) in book.rowLayout.kinds.enumerated() {
            let isNumber = kind == .integer || kind == .real
            #expect(last.isNull(column) && !last.isUnreadable(column))
            #expect(isNumber ? last.integer(column) == 0 : last.withBytes(column) { $0.isEmpty })
        }
        let rows = try library.engine.rows(FetchPlan(entity: book.ordinal))
        #expect(rows.count == 3)
        #expect(
            library.engine.key(
                ofRowStoring: try #require(try stored(library, 2)), slot: book.slotByName["cover"] ?? 0,
                entity: book.ordinal) == library.key("Novel", 2))
    }

    @Test func aSaveLeavesWhatCannotBeRead() throws {
        let library = try libraryWithoutFiles()
        let book = library.entity("Book")
        let envelope = try stored(library)
        let old = try #require(try library.engine.row(1, root: book.root))
        let place = book.rowLayout.columnOfSlot[book.slotByName["place"] ?? 0]
        let builder = RowBuilder(columnCount: book.rowLayout.columns.count)
        for (column, kind) in book.rowLayout.kinds.enumerated() { builder.copy(column, kind: kind, from: old) }
        builder.setInteger(8, at: place)
        let new = builder.finish(primaryKey: 1, version: 2, entity: book.ordinal)
        // Also where nobody says which columns differ.
        try library.save { $0.updates = [ChangeSet.Update(old: old, new: new)] }
        #expect(try stored(library) == envelope)
        #expect(try library.rows("SELECT ZPLACE FROM ZBOOK WHERE Z_PK = 1") == [[.integer(8)]])
    }
}
