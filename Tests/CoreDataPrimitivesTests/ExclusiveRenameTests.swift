import Foundation
import TestSupport
import Testing

@testable import CoreDataPrimitives

@Suite struct ExclusiveRenameTests {
    /// As the file systems do that know everything, no `RENAME_NOREPLACE`, and no hard links either.
    enum Way: CaseIterable {
        case whole, byLink, overOwnFile

        func move(_ source: String, to destination: String) -> Int32 {
            switch self {
            case .whole: ExclusiveRename.move(source, to: destination)
            case .byLink: ExclusiveRename.moveByLink(source, to: destination)
            case .overOwnFile: ExclusiveRename.moveOverOwnFile(source, to: destination)
            }
        }
    }

    private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test(arguments: Way.allCases)
    func nothingIsOverwritten(_ way: Way) throws {
        let folder = try Fixtures.temporaryFolder().path
        let (new, old) = ("\(folder)/new", "\(folder)/old")
        try "new".write(toFile: new, atomically: false, encoding: .utf8)
        try "old".write(toFile: old, atomically: false, encoding: .utf8)
        #expect(way.move(new, to: old) == EEXIST)
        #expect(text(new) == "new" && text(old) == "old")
        #expect(way.move(new, to: "\(folder)/free") == 0)
        #expect(text(new) == nil && text("\(folder)/free") == "new")
    }

    /// A link that leads nowhere has the name, too.
    @Test(arguments: Way.allCases)
    func noLinkIsFollowed(_ way: Way) throws {
        let folder = try Fixtures.temporaryFolder().path
        try "new".write(toFile: "\(folder)/new", atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/link", withDestinationPath: "\(folder)/elsewhere")
        #expect(way.move("\(folder)/new", to: "\(folder)/link") == EEXIST)
        #expect(text("\(folder)/elsewhere") == nil && text("\(folder)/new") == "new")
    }

    @Test(arguments: Way.allCases)
    func aFailureLeavesNothing(_ way: Way) throws {
        let folder = try Fixtures.temporaryFolder().path
        #expect(way.move("\(folder)/missing", to: "\(folder)/free") == ENOENT)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test func theSystemsOwnCallIsFound() {
        #expect(ExclusiveRename.isKnownToLibrary, "glibc has had renameat2 since 2.28")
    }
}
