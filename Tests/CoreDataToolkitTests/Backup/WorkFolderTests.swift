import Foundation
import TestSupport
import Testing

@testable import CoreDataToolkit

/// Folders of restores in progress, and those that were left. Programs in containers that share a volume do not see one another's
/// processes, and their numbers mean nothing to one another.
@Suite struct WorkFolderTests {
    let folder: URL
    let store: URL

    init() throws {
        folder = try Fixtures.temporaryFolder()
        store = folder.appendingPathComponent("Shop.sqlite")
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }

    /// A folder as a program makes it that has that process number.
    private func make(process: Int32) throws -> URL {
        let url = folder.appendingPathComponent(".Shop.sqlite.restoring-\(process)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url.appendingPathComponent("content"), withIntermediateDirectories: true)
        return url
    }

    /// No process here has the number.
    @Test func aRestoreInAnotherContainerGoesOn() throws {
        let url = try make(process: 2_000_000_000)
        let descriptor = open(url.path, O_RDONLY | O_DIRECTORY)
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        WorkFolder.removeLeftovers(beside: store)
        #expect(FileManager.default.fileExists(atPath: url.path))
        close(descriptor)
        WorkFolder.removeLeftovers(beside: store)
        #expect(try names() == [])
    }

    /// A process here has the number by now, or it was this one's own in another container.
    @Test(arguments: [1, ProcessInfo.processInfo.processIdentifier])
    func whatADeadProgramLeftGoesWhoeverHasItsNumber(process: Int32) throws {
        _ = try make(process: process)
        WorkFolder.removeLeftovers(beside: store)
        #expect(try names() == [])
    }

    @Test func aFolderIsKeptAsLongAsItIsUsed() throws {
        var work: WorkFolder? = try WorkFolder.beside(store)
        WorkFolder.removeLeftovers(beside: store)
        #expect(try names().count == 1)
        #expect(work?.url.lastPathComponent == (try names().first))
        work = nil
        WorkFolder.removeLeftovers(beside: store)
        #expect(try names() == [])
    }

    /// Leftovers of another store are that one's to remove.
    @Test func othersFoldersStay() throws {
        let other = try WorkFolder.beside(folder.appendingPathComponent("Other.sqlite"))
        WorkFolder.removeLeftovers(beside: store)
        #expect(try names() == [other.url.lastPathComponent])
    }

    // MARK: Archives

    @Test func oneOfTwoBackupsOfANameIsStored() async throws {
        let destination = FolderDestination(folder.appendingPathComponent("Backups"))
        for round in 0..<40 {
            let stored = await withTaskGroup(of: Int.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        let file = folder.appendingPathComponent("\(round)-\(number)")
                        try? Data("\(number)".utf8).write(to: file)
                        do { try await destination.store(file, as: "\(round).zip") } catch { return -1 }
                        return number
                    }
                }
                return await group.reduce(into: [Int]()) { if $1 >= 0 { $0.append($1) } }
            }
            #expect(stored.count == 1, "round \(round)")
            let kept = try String(
                contentsOf: destination.folder.appendingPathComponent("\(round).zip"), encoding: .utf8)
            #expect(stored.map { "\($0)" } == [kept])
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: destination.folder.path)
        #expect(names.count == 40, "nothing half made is left")
    }
}
