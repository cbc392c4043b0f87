import Foundation
import TestSupport
import Testing

@testable import CoreDataStore

/// What others may have put beside a store that is one file.
@Suite struct AtomicFileTests {
    let folder: URL
    let file: AtomicFile

    init() throws {
        folder = try Fixtures.temporaryFolder()
        file = AtomicFile(path: folder.appendingPathComponent("Shop.xml").path)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }
    private func text(_ name: String) -> String? {
        try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }
    private func put(_ text: String, at name: String) throws {
        try text.write(to: folder.appendingPathComponent(name), atomically: false, encoding: .utf8)
    }

    @Test func aLinkInThePlaceOfTheTemporaryFileIsNotFollowed() throws {
        try put("precious", at: "Letter.txt")
        _ = try file.create { try $0.write("old") }
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent(".Shop.xml.saving").path, withDestinationPath: "Letter.txt")
        _ = try file.replace(nil) { try $0.write("new") }
        #expect(text("Letter.txt") == "precious" && text("Shop.xml") == "new")
        #expect(try names() == ["Letter.txt", "Shop.xml"])
    }

    @Test func whatAKilledProcessLeftIsTakenAway() throws {
        _ = try file.create { try $0.write("old") }
        try put("half of a save", at: ".Shop.xml.saving")
        _ = try file.replace(nil) { try $0.write("new") }
        #expect(text("Shop.xml") == "new")
        #expect(try names() == ["Shop.xml"])
    }

    @Test func whatCannotBeTakenAwayIsNamed() throws {
        _ = try file.create { try $0.write("old") }
        let blocking = folder.appendingPathComponent(".Shop.xml.saving")
        try FileManager.default.createDirectory(at: blocking, withIntermediateDirectories: false)
        do {
            _ = try file.replace(nil) { try $0.write("new") }
            Issue.record("it was written")
        } catch let failure as AtomicFileFailure {
            #expect(failure.kind == .blocked(by: blocking.path) && failure.message.contains(blocking.path))
        }
        #expect(text("Shop.xml") == "old")
    }

    /// A store that only its owner may read is not readable by others while it is written.
    @Test func theTemporaryFileIsNobodyElses() throws {
        _ = try file.create { try $0.write("old") }
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
        var modes: [Int] = []
        _ = try file.replace(nil) { writer in
            try writer.write("new")
            for name in try names() {
                let path = folder.appendingPathComponent(name).path
                modes.append(
                    (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int) ?? 0)
            }
        }
        #expect(modes == [0o640, 0o640])
    }

    @Test func aFileThatIsMadeMeanwhileIsNotOverwritten() throws {
        do {
            _ = try file.create { writer in
                try writer.write("mine")
                try put("theirs", at: "Shop.xml")
            }
            Issue.record("it was overwritten")
        } catch let failure as AtomicFileFailure { #expect(failure.kind == .exists) }
        #expect(text("Shop.xml") == "theirs")
        #expect(try names() == ["Shop.xml"])
    }

    /// To open a pipe waits for whoever writes to it.
    @Test(.timeLimit(.minutes(1))) func aPipeThatLooksLikeLeavingsIsNotWaitedFor() throws {
        mkfifo(folder.appendingPathComponent(".Shop.xml.1-2").path, 0o600)
        _ = try file.create { try $0.write("new") }
        #expect(text("Shop.xml") == "new")
    }

    @Test func anotherFileInItsPlaceIsNotRemoved() throws {
        _ = try file.create { try $0.write("old") }
        let lock = open(file.path, O_RDONLY)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let (path, started) = (file.path, DispatchSemaphore(value: 0))
        let removed = DispatchSemaphore(value: 0)
        let failures = FailureBox()
        Thread.detachNewThread {
            started.signal()
            do { try AtomicFile(path: path).remove() } catch { failures.add(error) }
            removed.signal()
        }
        started.wait()
        // It has the old file open, and waits for its lock, by now or never.
        let end = Date() + 20
        while !Self.isOpenTwice(path), Date() < end { usleep(1000) }
        try put("theirs", at: "Other.xml")
        #expect(rename(folder.appendingPathComponent("Other.xml").path, path) == 0)
        flock(lock, LOCK_UN)
        removed.wait()
        #expect(text("Shop.xml") == "theirs")
        #expect((failures.first as? AtomicFileFailure)?.kind == .changed)
    }

    private static func isOpenTwice(_ path: String) -> Bool {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path }
            > 1
    }
}

private final class FailureBox: @unchecked Sendable {
    // Safe because the lock guards the failures.
    private let lock = NSLock()
    private var failures: [any Error] = []

    func add(_ error: any Error) { lock.withLock { failures.append(error) } }
    var first: (any Error)? { lock.withLock { failures.first } }
}
