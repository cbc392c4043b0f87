import CoreData
import Foundation
import Testing

@testable import CoreDataAccounts

/// Two processes on one store at the same time.
@Suite(.serialized) struct ProcessTests {
    @Test func oneOfTwoProcessesMakesTheAdministrator() async throws {
        let service = try TestService(at: Date())
        let workers = try ["one", "two"].map { try Worker(service.url, "sign-up", $0, "3") }
        for worker in workers { worker.begin() }
        let lines = workers.flatMap { $0.lines() }
        #expect(lines.count == 6)
        #expect(lines.filter { $0.hasSuffix("administrator") }.count == 1)
        #expect(lines.filter { $0.hasSuffix("member") }.count == 5)
    }

    @Test func oneOfTwoProcessesGetsAName() async throws {
        let service = try TestService(at: Date())
        let workers = try ["Same", "same"].map { try Worker(service.url, "sign-up", $0, "3") }
        for worker in workers { worker.begin() }
        let lines = workers.flatMap { $0.lines() }
        #expect(lines.filter { $0 == "nameTaken" }.count == 3)
        #expect(try await service.accounts.read { try $0.count("Account", "TRUEPREDICATE") } == 3)
    }

    @Test func processesCountTriesTogether() async throws {
        let service = try TestService(at: Date())
        _ = try await service.signUp("ann")
        let workers = try (1...2).map { _ in try Worker(service.url, "guess", "ann", "9") }
        for worker in workers { worker.begin() }
        let lines = workers.flatMap { $0.lines() }
        #expect(lines.filter { $0 == "wrongCredentials" }.count == 10)
        #expect(lines.filter { $0 == "tooManyTries" }.count == 8)
    }

    @Test func oneOfTwoOwnersStays() async throws {
        let service = try TestService(at: Date())
        let owners = [try await service.signUp("ann").account.id, try await service.signUp("ben").account.id]
        let member = try await service.signUp("cem").account.id
        for _ in 0..<3 {
            let group = try await service.accounts.createGroup(named: "Home", by: owners[0]).groupID
            for (account, role) in [(owners[1], Role.owner), (member, .viewer)] {
                let invitation = try await service.accounts.invite(to: group, as: role, by: owners[0])
                _ = try await service.accounts.join(
                    token: invitation.token, account: account, from: TestService.client)
            }
            let workers = try owners.map { try Worker(service.url, "leave", "\(group)", "\($0)") }
            for worker in workers { worker.begin() }
            #expect(workers.flatMap { $0.lines() }.sorted() == ["lastOwner", "left"])
            #expect(
                try await service.accounts.members(of: group, by: member).map(\.role).filter { $0 == .owner }.count == 1
            )
        }
    }

    @Test func invitationAdmitsTheGivenNumber() async throws {
        let service = try TestService(at: Date())
        let owner = try await service.signUp("owner").account.id
        let group = try await service.accounts.createGroup(named: "Home", by: owner).groupID
        let invitation = try await service.accounts.invite(to: group, as: .viewer, uses: 3, by: owner)
        var accounts: [String] = []
        for number in 0..<6 { accounts.append("\(try await service.signUp("guest\(number)").account.id)") }
        let workers = [
            try Worker(service.url, "join", invitation.token, accounts[0], accounts[1], accounts[2]),
            try Worker(service.url, "join", invitation.token, accounts[3], accounts[4], accounts[5]),
        ]
        for worker in workers { worker.begin() }
        let lines = workers.flatMap { $0.lines() }
        #expect(lines.filter { $0 == "joined" }.count == 3)
        #expect(lines.filter { $0 == "invalidInvitation" }.count == 3)
        #expect(try await service.accounts.members(of: group, by: owner).count == 4)
    }

    /// Kills a process at different points of its work, and compares the store with what the process had acknowledged.
    @Test(arguments: [0, 1, 60, 333, 700]) func killedProcessLosesNothingAcknowledged(_ bytes: Int) async throws {
        let service = try TestService(at: Date())
        let worker = try Worker(service.url, "live", "ann")
        worker.begin()
        let lines = worker.linesUntilKilled(after: bytes)
        let ended = Set(lines.filter { $0.hasPrefix("ended ") }.map { $0.dropFirst(6) })
        // The last token may have ended without an acknowledgement.
        let tokens = lines.filter { $0.hasPrefix("token ") }.map { $0.dropFirst(6) }
        for (index, token) in tokens.enumerated() where ended.contains(token) || index < tokens.count - 2 {
            let isValid =
                (try? await service.accounts.authenticate(token: String(token), from: TestService.client)) != nil
            #expect(isValid != ended.contains(token))
        }
        for line in lines where line.hasPrefix("group ") {
            let ids = line.split(separator: " ").compactMap { UUID(uuidString: String($0)) }
            #expect(try await service.accounts.groups(of: ids[1]).map(\.groupID) == [ids[0]])
        }
        // Nothing is half done: each account has its sessions' tokens, each session its account, one is administrator.
        let (broken, administrators, accounts) = try await service.accounts.read { transaction in
            (
                try transaction.count("Session", "account == nil OR tokens.@count == 0")
                    + transaction.count("Token", "session == nil")
                    + transaction.count("Membership", "account == nil OR group == nil")
                    + transaction.count("Group", "memberships.@count == 0"),
                try transaction.count("Account", "isAdministrator == YES"),
                try transaction.count("Account", "TRUEPREDICATE")
            )
        }
        #expect(broken == 0)
        #expect(administrators == min(accounts, 1))
        _ = try await service.signUp("after")
    }
}
