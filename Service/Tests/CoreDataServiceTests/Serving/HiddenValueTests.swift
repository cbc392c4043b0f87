import CoreData
import CoreDataJSON
import Foundation
import Testing

@testable import CoreDataService

/// Answers to changes must not show what the account may not read.
@Suite struct HiddenValueTests {
    /// Entries whose titles are unique for their owner; reports that only administrators read.
    private static func model() throws -> NSManagedObjectModel {
        let model = try NSManagedObjectModel(versionIdentifiers: ["1"]) {
            ModelEntity("Entry") {
                ModelAttribute("id", .uuid).required()
                ModelAttribute("owner", .uuid).required()
                ModelAttribute("title", .string).required()
                ModelAttribute("rating", .integer64)
                ModelConstraint("id")
                ModelConstraint("owner", "title")
            }
            ModelEntity("Report") {
                ModelAttribute("id", .uuid).required()
                ModelAttribute("text", .string).required()
                ModelConstraint("id")
            }
        }
        model.entitiesByName["Entry"]?.userInfo = [
            "allow.owner": "owner", "allow.read": "owner", "allow.create": "owner", "allow.update": "owner",
        ]
        model.entitiesByName["Entry"]?.attributesByName["rating"]?.userInfo = [
            "allow.read": "administrator", "allow.update": "signedIn",
        ]
        model.entitiesByName["Report"]?.userInfo = [
            "allow.read": "administrator", "allow.create": "signedIn", "allow.update": "signedIn",
        ]
        return model
    }

    private static func run(_ test: @escaping @Sendable (PeopleService) async throws -> Void) async throws {
        try await PeopleService.run(try model(), test)
    }

    /// An account that tries to take another one's range learns nothing about the values in it.
    @Test func takenValuesOfOthersLookLikeFreeOnes() async throws {
        try await Self.run { people in
            let own: JSONValue = ["owner": .string(people.annID), "title": "Diary"]
            #expect(try await people.ann.send("POST", "/api/Entry", json: own).status == 201)
            let taken = try await people.bob.send("POST", "/api/Entry", json: own)
            let free = try await people.bob.send(
                "POST", "/api/Entry", json: ["owner": .string(people.annID), "title": "Letter"])
            #expect(taken.status == 403 && free.status == 403, "\(taken.text)")
            for name in ["type", "title", "detail", "entity", "property"] {
                #expect(taken.json[name] == free.json[name])
            }

            let mine = try await people.bob.send(
                "POST", "/api/Entry", json: ["owner": .string(people.bobID), "title": "Diary"])
            #expect(mine.status == 201)
            let path = "/api/Entry/\(mine.json.id)"
            let moved = try await people.bob.send("PATCH", path, json: ["owner": .string(people.annID)])
            let renamed = try await people.bob.send(
                "PATCH", path, json: ["owner": .string(people.annID), "title": "Letter"])
            #expect(moved.status == 403 && moved.json["detail"] == renamed.json["detail"], "\(moved.text)")
            // One's own range: the conflict is told.
            #expect(try await people.ann.send("POST", "/api/Entry", json: own).status == 409)
        }
    }

    @Test func answersOfChangesShowReadableValuesOnly() async throws {
        try await Self.run { people in
            let made = try await people.ann.send(
                "POST", "/api/Entry", json: ["owner": .string(people.annID), "title": "Diary", "rating": 5])
            #expect(made.status == 201 && made.json["title"] == "Diary", "\(made.text)")
            #expect(made.json["rating"] == .null)
            let path = "/api/Entry/\(made.json.id)"
            let changed = try await people.ann.send("PATCH", path, json: ["rating": 4])
            #expect(changed.status == 200 && changed.json["rating"] == .null, "\(changed.text)")
            #expect(try await people.ann.get(path).json == changed.json)
            let listed = try await people.ann.send(
                "POST", "/api",
                json: ["changes": [["update": "Entry", "id": .string(made.json.id), "values": ["rating": 3]]]],
                ["Prefer": "return=representation"])
            #expect(listed.json["results"]?.array?.first?["object"]?["rating"] == .null, "\(listed.text)")
        }
    }

    /// A report is written and not read back: the answer has its address alone.
    @Test func objectsThatMayNotBeReadAreNotAnswered() async throws {
        try await Self.run { people in
            let key = ["Idempotency-Key": UUID().uuidString]
            let made = try await people.ann.send("POST", "/api/Report", json: ["text": "leak"], key)
            let id = made.header("Location")?.split(separator: "/").last.map(String.init) ?? ""
            #expect(made.status == 201 && made.body.isEmpty && made.header("ETag") == nil, "\(made.text)")
            #expect(try await people.ann.send("POST", "/api/Report", json: ["text": "leak"], key).status == 201)
            #expect(try await people.ann.get("/api/Report/\(id)").status == 404)
            #expect(try await people.admin.get("/api/Report/\(id)").json["text"] == "leak")
            #expect(try await people.admin.get("/api/Report?count=true").json["count"] == 1)
        }
    }
}
