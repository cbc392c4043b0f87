import Foundation
import Testing

@testable import CoreDataAccounts

@Suite struct FileTests {
    private static let bytes = Data([0, 1, 255])

    @Test func filesAreCreatedOnceAndReadByAllMembers() async throws {
        let home = try await Household()
        let accounts = home.accounts
        #expect(try await accounts.createFile("b", in: "kitchen", of: home.group, by: home.owner, Self.bytes))
        #expect(try await accounts.createFile("a", in: "kitchen", of: home.group, by: home.owner, Self.bytes))
        #expect(try await !accounts.createFile("a", in: "kitchen", of: home.group, by: home.owner, Data([9])))
        #expect(try await accounts.createFile("a", in: "phone", of: home.group, by: home.editor, Data([7])))
        for member in [home.owner, home.editor, home.viewer] {
            #expect(try await accounts.fileFolders(of: home.group, by: member) == ["kitchen", "phone"])
            #expect(try await accounts.files(in: "kitchen", of: home.group, by: member) == ["a", "b"])
            #expect(try await accounts.files(in: "nothing", of: home.group, by: member) == [])
            #expect(try await accounts.file("a", in: "kitchen", of: home.group, by: member) == Self.bytes)
            #expect(try await accounts.file("c", in: "kitchen", of: home.group, by: member) == nil)
        }
        // Another process on the store sees the same.
        let other = try home.service.reopened()
        #expect(try await other.file("a", in: "phone", of: home.group, by: home.owner) == Data([7]))
        await other.close()
    }

    /// What each member may do in a folder that the owner of the group has begun, and in one of its own.
    @Test func rolesDecideWhoCreatesAndDeletes() async throws {
        let home = try await Household()
        let (accounts, group) = (home.accounts, home.group)
        #expect(try await accounts.createFile("a", in: "kitchen", of: group, by: home.owner, Self.bytes))
        for member in [home.editor, home.viewer] {
            await expect(.notAllowed) {
                _ = try await accounts.createFile("hello-1", in: "kitchen", of: group, by: member, Self.bytes)
            }
            await expect(.notAllowed) { try await accounts.deleteFile("a", in: "kitchen", of: group, by: member) }
        }
        await expect(.notAllowed) {
            _ = try await accounts.createFile("segment-1", in: "tv", of: group, by: home.viewer, Self.bytes)
        }
        #expect(try await accounts.createFile("hello-1", in: "tv", of: group, by: home.viewer, Self.bytes))
        try await accounts.deleteFile("hello-1", in: "tv", of: group, by: home.viewer)
        await expect(.groupNotFound) { _ = try await accounts.fileFolders(of: group, by: home.stranger) }
        await expect(.groupNotFound) { _ = try await accounts.files(in: "kitchen", of: group, by: home.stranger) }
        await expect(.groupNotFound) {
            _ = try await accounts.file("a", in: "kitchen", of: group, by: home.stranger)
        }
        await expect(.groupNotFound) {
            _ = try await accounts.createFile("b", in: "x", of: group, by: home.stranger, Self.bytes)
        }
        await expect(.groupNotFound) {
            try await accounts.deleteFile("a", in: "kitchen", of: group, by: home.stranger)
        }
        await expect(.groupNotFound) { _ = try await accounts.fileRevision(of: group, by: home.stranger) }
        #expect(try await accounts.files(in: "kitchen", of: group, by: home.owner) == ["a"])
    }

    @Test func theRevisionRisesWithEachChange() async throws {
        let home = try await Household()
        let (accounts, group) = (home.accounts, home.group)
        var revisions = [try await accounts.fileRevision(of: group, by: home.viewer)]
        func look() async throws { revisions.append(try await accounts.fileRevision(of: group, by: home.viewer)) }
        _ = try await accounts.createFile("a", in: "k", of: group, by: home.owner, Self.bytes)
        try await look()
        _ = try await accounts.createFile("a", in: "k", of: group, by: home.owner, Self.bytes)
        try await look()
        try await accounts.deleteFile("a", in: "k", of: group, by: home.owner)
        try await look()
        try await accounts.deleteFile("a", in: "k", of: group, by: home.owner)
        try await look()
        #expect(revisions == [0, 1, 1, 2, 2])
    }

    @Test func groupsHaveBoundsAndAreDeletedWithTheirFiles() async throws {
        let home = try await Household { settings in
            (settings.files.filesPerGroup, settings.files.bytesPerGroup) = (2, 10)
            settings.files.largestFile = 8
        }
        let (accounts, group) = (home.accounts, home.group)
        func create(_ name: String, _ count: Int) async throws {
            _ = try await accounts.createFile(
                name, in: "k", of: group, by: home.owner, Data(repeating: 1, count: count))
        }
        await expect(.limitReached(name: "bytes of a file", maximum: 8)) { try await create("a", 9) }
        try await create("a", 8)
        await expect(.limitReached(name: "bytes of a group's files", maximum: 10)) { try await create("b", 3) }
        try await create("b", 2)
        await expect(.limitReached(name: "files of a group", maximum: 2)) { try await create("c", 1) }
        try await accounts.deleteFile("a", in: "k", of: group, by: home.owner)
        try await create("c", 8)
        try await accounts.deleteGroup(group, by: home.owner)
        let second = try await accounts.createGroup(named: "Second", by: home.owner).groupID
        #expect(try await accounts.fileFolders(of: second, by: home.owner) == [])
        await expect(.groupNotFound) { _ = try await accounts.files(in: "k", of: group, by: home.owner) }
    }

    /// Members that create files at the same time, through two processes, lose none and count them all.
    @Test func filesThatAreCreatedAtOnceAreAllCounted() async throws {
        let home = try await Household()
        let other = try home.service.reopened()
        let group = home.group
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for (accounts, folder, account) in [(home.accounts, "k", home.owner), (other, "p", home.editor)] {
                tasks.addTask {
                    for number in 0..<10 {
                        let isNew = try await accounts.createFile(
                            "segment-\(number)", in: folder, of: group, by: account, Self.bytes)
                        #expect(isNew)
                    }
                }
            }
            try await tasks.waitForAll()
        }
        #expect(try await other.fileRevision(of: group, by: home.owner) == 20)
        #expect(try await home.accounts.files(in: "k", of: group, by: home.viewer).count == 10)
        #expect(try await home.accounts.files(in: "p", of: group, by: home.viewer).count == 10)
        await other.close()
    }
}
