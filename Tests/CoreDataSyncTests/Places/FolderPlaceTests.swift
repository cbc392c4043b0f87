import Foundation
import TestSupport
import Testing

@testable import CoreDataSync

/// What other programs and killed ones leave in a folder, and what the system refuses.
@Suite struct FolderPlaceTests {
    private let folder: TemporaryFolder
    private let place: FolderPlace
    private let one = Data("one".utf8)

    init() throws {
        folder = try TemporaryFolder()
        place = FolderPlace(folder.url)
    }

    @Test func nothingButTheFileIsLeft() async throws {
        #expect(try await place.create("f", in: "a", one))
        #expect(try await !place.create("f", in: "a", one))
        #expect(try folder.names(in: "a") == ["f"])
    }

    @Test func filesOfProgramsThatSynchroniseFoldersAreIgnored() async throws {
        for name in [
            "a/segment-1", "a/segment-1 (conflicted copy 2026-01-01)", "a/.syncthing.segment-2.tmp", "a/.segment-3",
            "a/folder/segment-4", ".stfolder/x", "a b/segment-5", "file",
        ] {
            try folder.write(name)
        }
        #expect(try await place.list(nil) == ["a"])
        #expect(try await place.list("a") == ["segment-1"])
    }

    @Test func linksLeadNowhere() async throws {
        let other = try TemporaryFolder()
        try other.write("secret")
        try folder.write("a/f")
        let files = FileManager.default
        try files.createSymbolicLink(at: folder.url.appendingPathComponent("b"), withDestinationURL: other.url)
        try files.createSymbolicLink(
            at: folder.url.appendingPathComponent("a/link"),
            withDestinationURL: other.url.appendingPathComponent("secret"))
        #expect(try await place.list(nil) == ["a"])
        #expect(try await place.list("a") == ["f"])
        #expect(try await place.list("b") == [])
        #expect(try await place.read("secret", in: "b") == nil)
        #expect(try await place.read("link", in: "a") == nil)
        try await place.delete("secret", in: "b")
        #expect(try other.names() == ["secret"])
        let (place, data) = (place, one)
        await #expect(throws: SyncPlaceError.self) { try await place.create("f", in: "b", data) }
        #expect(try await !place.create("link", in: "a", one), "a link is not replaced")
        #expect(try other.names() == ["secret"])
    }

    @Test func temporaryFilesOfKilledProgramsGoAfterADay() async throws {
        let (young, old) = (TemporaryName.random(for: "segment-1"), TemporaryName.random(for: "segment-2"))
        try folder.write("a/\(young)", daysOld: 0.9)
        try folder.write("a/\(old)", daysOld: 1.1)
        try folder.write("a/.other.partial", daysOld: 9)
        try folder.write("a/segment-3", daysOld: 9)
        #expect(try await place.list("a") == ["segment-3"])
        #expect(try folder.names(in: "a") == [young, ".other.partial", "segment-3"].sorted())
        #expect(try await place.create("segment-1", in: "a", one), "another temporary file is in nobody's way")
    }

    @Test(arguments: [
        (".segment-1.1f.partial", true), (".a.b.ff.partial", true), (".1f.partial", false), ("a.1f.partial", false),
        (".a.xyz.partial", false), (".a.1f.tmp", false), (".partial", false), (".", false), ("", false),
    ])
    func temporaryFilesAreKnownByTheirNames(name: String, isOurs: Bool) {
        #expect(TemporaryName.matches(name) == isOurs)
        #expect(
            !PlaceName.isValid(TemporaryName.random(for: "f")) && TemporaryName.matches(TemporaryName.random(for: "f")))
    }

    /// On file systems without hard links and exclusive renames the name is reserved by an empty file.
    @Test func aNameThatAKilledProgramReservedIsFreeAfterAMinute() async throws {
        try folder.write("a/young", "")
        try folder.write("a/old", "", daysOld: 0.01)
        #expect(try await place.read("old", in: "a") == nil)
        #expect(try await !place.create("young", in: "a", one))
        #expect(try await place.create("old", in: "a", one))
        #expect(try await place.read("old", in: "a") == one)
        #expect(try folder.names(in: "a") == ["old", "young"])
    }

    @Test func aPlaceThatIsNoFolderIsAClearError() async throws {
        try folder.write("file")
        let data = one
        let place = FolderPlace(folder.url.appendingPathComponent("file"))
        await #expect(throws: SyncPlaceError.self) { try await place.list(nil) }
        let error = await #expect(throws: SyncPlaceError.self) { try await place.create("f", in: "a", data) }
        #expect(error?.reason == .unavailable)
        #expect(error?.message.contains("/file") == true, "\(error?.message ?? "")")
    }

    @Test func aFolderInWhichNothingMayBeCreatedIsAClearError() async throws {
        let data = one
        let place = FolderPlace(URL(fileURLWithPath: "/sys/place"))
        let error = try #require(
            await #expect(throws: SyncPlaceError.self) { try await place.create("f", in: "a", data) })
        #expect([.noPermission, .readOnly].contains(error.reason), "\(error)")
        #expect(error.localizedDescription.hasPrefix("'/sys/place' cannot be created ("))
    }

    @Test(arguments: [
        (EACCES, SyncPlaceError.Reason.noPermission, 513), (EPERM, .noPermission, 513), (EROFS, .readOnly, 642),
        (ENOSPC, .full, 640), (EDQUOT, .full, 640), (EIO, .unavailable, 256), (ENOTDIR, .unavailable, 256),
    ])
    func errorsOfTheSystemHaveAReasonAndFoundationsCode(code: Int32, reason: SyncPlaceError.Reason, number: Int) {
        let error = SyncPlaceError("written", "/p/f", code)
        #expect(error.reason == reason)
        #expect((error as NSError).domain == NSCocoaErrorDomain && (error as NSError).code == number)
        #expect(error.localizedDescription.hasPrefix("'/p/f' cannot be written ("))
    }

    @Test func aPlaceThatDoesNotExistTellsNoChanges() async throws {
        let place = FolderPlace(folder.url.appendingPathComponent("none"))
        for await _ in place.changes() { Issue.record("nothing changed") }
    }

    @Test func hiddenFilesAreNoChangesAndADeletedFolderEndsThem() async throws {
        try folder.write("a/f")
        var changes = place.changes().makeAsyncIterator()
        try folder.write("a/.syncthing.g.tmp")
        try folder.write("b/f")
        #expect(await changes.next() != nil)
        try FileManager.default.removeItem(at: folder.url)
        while await changes.next() != nil {}
    }
}
