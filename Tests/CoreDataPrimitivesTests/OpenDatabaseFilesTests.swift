import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@Suite struct OpenDatabaseFilesTests {
    let folder: URL
    let path: String

    init() throws {
        folder = try Fixtures.temporaryFolder()
        path = folder.appendingPathComponent("Shop.sqlite").path
        try Data("some bytes".utf8).write(to: URL(fileURLWithPath: path))
    }

    /// Whether the descriptor is open, on that file.
    private func isOpen(_ descriptor: Int32) -> Bool {
        OpenDatabaseFiles.Identity(descriptor: descriptor) == OpenDatabaseFiles.Identity(path: path)
    }

    private func release(_ path: String) throws -> Int32 {
        let descriptor = try #require(StoreFileDescriptor(path, O_RDONLY))
        #expect(try descriptor.read(atMost: 4) == Data("some".utf8))
        return descriptor.number
    }

    @Test func aDescriptorStaysOpenAsLongAsAConnectionHasTheFile() throws {
        let (first, second) = (try #require(files.add(path)), try #require(files.add(path)))
        let number = try release(path)
        #expect(isOpen(number) && files.parkedCount(of: path) == 1)
        files.remove(first)
        #expect(isOpen(number), "another connection has it")
        files.remove(second)
        #expect(!isOpen(number))
    }

    @Test func aParkedDescriptorServesTheNextReader() throws {
        let identity = try #require(files.add(path))
        let first = try release(path)
        for _ in 0..<100 { #expect(try release(path) == first) }
        #expect(files.parkedCount(of: path) == 1)
        files.remove(identity)
    }

    @Test func linksLeadToTheSameFile() throws {
        let (symbolic, hard) = (path + ".symbolic", path + ".hard")
        try FileManager.default.createSymbolicLink(atPath: symbolic, withDestinationPath: path)
        try FileManager.default.linkItem(atPath: path, toPath: hard)
        let identity = try #require(files.add(symbolic))
        for link in [symbolic, hard, path] { _ = try release(link) }
        #expect(files.parkedCount(of: path) == 1, "one, used three times")
        files.remove(identity)
    }

    @Test func withoutAConnectionADescriptorIsClosedAtOnce() throws {
        #expect(try !isOpen(release(path)))
        files.remove(try #require(files.add(path)))
        #expect(try !isOpen(release(path)))
    }

    /// Else nobody could write the file until the last connection is closed.
    @Test func aParkedDescriptorHasNoLockOfItsOwn() throws {
        let identity = try #require(files.add(path))
        do {
            let descriptor = try #require(StoreFileDescriptor(path, O_RDONLY))
            #expect(flock(descriptor.number, LOCK_EX | LOCK_NB) == 0)
        }
        let other = try #require(StoreFileDescriptor(path, O_RDWR))
        #expect(flock(other.number, LOCK_EX | LOCK_NB) == 0)
        files.remove(identity)
    }

    private var files: OpenDatabaseFiles { .shared }
}
