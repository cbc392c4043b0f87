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
        var result = Data()
        try stored.withUnsafeBytes { try external.read($0) { result = Data($0) } }
        return result
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

    /// What had been read of a row whose file is gone does not show in the row that is read next.
    @Test func aRowAfterOneThatCannotBeReadIsItsOwn() throws {
        let library = try SavedLibrary(inFile: true)
        try library.save {
            $0.insertions = [
                library.insertion(
                    "Book", 1, ["cover": .blob(large), "code": .text("A"), "place": .integer(7), "price": .real(2.5)]),
                library.insertion("Book", 2),
            ]
        }
        let folder = try #require(library.engine.externalData.folder)
        for file in library.files() { try FileManager.default.removeItem(atPath: folder + "/" + file) }
        let book = library.entity("Book")
        #expect(throws: ExternalDataFailure.self) { try library.engine.row(1, root: book.root) }
        let row = try #require(try library.engine.row(2, root: book.root))
        for (column, kind) in book.rowLayout.kinds.enumerated() {
            let isNumber = kind == .integer || kind == .real
            #expect(row.isNull(column))
            #expect(isNumber ? row.integer(column) == 0 : row.withBytes(column) { $0.isEmpty })
        }
    }
}
