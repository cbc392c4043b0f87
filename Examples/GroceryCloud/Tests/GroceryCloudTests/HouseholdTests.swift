import CoreData
import CoreDataAccounts
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryCloud

/// Invitations, roles and leaving.
@Suite(.timeLimit(.minutes(2))) struct HouseholdTests {
    private static func link(_ page: Answer) throws -> String {
        String(try #require(page.text.firstMatch(of: /\/join#([A-Za-z0-9_-]{43})/)).output.1)
    }

    @Test func aLinkLetsOnePersonJoinAndEnds() async throws {
        try await TestHousehold.run { household in
            let (ann, mallory) = (household.ann, household.mallory)
            let made = try await ann.post("\(household.homePath)/invitations", ["role": "editor", "days": "7"])
            let code = try Self.link(made)
            // It is shown once.
            #expect(try await !ann.get(household.homePath).text.contains(code))
            let preview = try await mallory.post("/join", ["code": "http://127.0.0.1/join#\(code)"])
            #expect(preview.words.contains("You are invited to this household as editor"))
            let joined = try await mallory.submit("/join/accept", ["code": code])
            #expect(joined.words.contains("You are a member of Home."))
            #expect(
                try await mallory.submit(household.prepare, ["on": try await household.item("Flour")]).status == 200)
            let visitor = try household.server.browser
            let used = try await visitor.post("/join", ["code": code])
            #expect(used.status == 422 && used.words.contains("has ended, was used up or was revoked"))
        }
    }

    @Test func aRevokedLinkIsOfNoUse() async throws {
        try await TestHousehold.run { household in
            let ann = household.ann
            let made = try await ann.post("\(household.homePath)/invitations", ["role": "viewer"])
            let code = try Self.link(made)
            let id = try await household.server.app.accounts.invitations(to: household.home, by: ann.id)[0].id
            #expect(
                try await ann.submit("\(household.homePath)/invitations/end", ["invitation": id.path]).words.contains(
                    "The invitation has ended."))
            #expect(try await household.mallory.post("/join/accept", ["code": code]).status == 404)
            #expect(try await household.mallory.post("/join", ["code": "nonsense"]).status == 422)
        }
    }

    @Test func anInvitationLeadsThroughSigningUpAndSigningIn() async throws {
        try await TestHousehold.run { household in
            let made = try await household.ann.post("\(household.homePath)/invitations", ["role": "viewer"])
            let code = try Self.link(made)
            let page = try await household.server.browser.post("/join", ["code": code])
            #expect(page.words.contains("Make an account and join") && page.words.contains("Sign in and join"))
            let zoe = try await household.server.signUp("zoe", invitation: code)
            #expect(try await zoe.get(household.prepare).status == 200)
            let other = try Self.link(
                try await household.ann.post("\(household.homePath)/invitations", ["role": "viewer"]))
            let mallory = try household.server.browser
            _ = try await mallory.post(
                "/sign-in", ["name": "mallory", "password": password, "invitation": other])
            #expect(try await mallory.get(household.prepare).status == 200)
        }
    }

    @Test func aChangedRoleCountsAtOnce() async throws {
        try await TestHousehold.run { household in
            let (ann, bob, eve) = (household.ann, household.bob, household.eve)
            let flour = try await household.item("Flour")
            #expect(try await eve.post(household.prepare, ["on": flour]).status == 403)
            let members = "\(household.homePath)/members"
            _ = try await ann.post(members, ["member": eve.id.path, "role": "editor"])
            _ = try await ann.post(members, ["member": bob.id.path, "role": "viewer"])
            #expect(try await eve.post(household.prepare, ["on": flour]).status == 303)
            #expect(try await bob.post(household.prepare, ["off": flour]).status == 403)
            #expect(try await ann.get(household.shop).words.contains("Flour"))
        }
    }

    @Test func aHouseholdKeepsAnOwner() async throws {
        try await TestHousehold.run { household in
            let ann = household.ann
            let left = try await ann.submit("\(household.homePath)/leave")
            #expect(left.words.contains("A group needs an owner."))
            #expect(try await ann.get(household.prepare).status == 200)
            #expect(
                try await ann.submit(
                    "\(household.homePath)/members", ["member": ann.id.path, "role": "viewer"]
                ).words.contains("A group needs an owner."))
        }
    }

    @Test func aDeletedHouseholdLeavesNoRows() async throws {
        try await TestHousehold.run { household in
            let ann = household.ann
            #expect(try await ann.submit("\(household.homePath)/deletion").words.contains("Home is deleted."))
            #expect(try await household.bob.get(household.prepare).status == 404)
            let rows = try await rowCounts(household.server)
            // The household of mallory has its list.
            #expect(rows == ["Item": 0, "List": 1, "Unit": 0, "LocationAtHome": 0, "LocationAtShop": 0, "Deletion": 0])
        }
    }
}

/// The rows of each entity, read without permissions.
@MainActor func rowCounts(_ server: TestServer) throws -> [String: Int] {
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = server.app.store.coordinator
    var counts: [String: Int] = [:]
    for entity in ["Item", "List", "Unit", "LocationAtHome", "LocationAtShop", "Deletion"] {
        counts[entity] = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
    }
    return counts
}
