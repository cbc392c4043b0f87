import CoreData
import CoreDataModel
import CoreDataStudio
import Foundation
import TestSupport
import Testing

/// Changes of objects with `--write`.
@Suite struct EditTests {
    /// Owners with things that go with them, and a required number.
    private static let model = TestSupport.model(
        entity(
            "Owner", attribute("name", optional: false),
            toMany("things", "Thing", inverse: "owner").with { property in
                guard case .relationship(var relationship) = property.kind else { return }
                relationship.deleteRule = .cascade
                property.kind = .relationship(relationship)
            }),
        entity(
            "Thing", attribute("name"), attribute("size", .integer16), attribute("made", .date),
            toOne("owner", "Owner", inverse: "things")))

    private static func client() async throws -> (StudioClient, URL) {
        let store = try StudioStore.make(model) { context in
            let owner = StudioStore.insert("Owner", ["name": "Ada"], in: context)
            for name in ["cup", "pen"] { StudioStore.insert("Thing", ["name": name, "owner": owner], in: context) }
        }
        return (try await StudioStore.client(store) { $0.isWritable = true }, store)
    }

    private static func value(_ page: StudioClient.Answer, _ name: String) -> String? {
        let pattern = page.text.matches(of: #/name="value-(\w+)" value="([^"]*)"/#).first { $0.1 == name }
        return pattern.map { String($0.2) }
    }

    /// The fields of a form as a browser sends them, with some typed values.
    private static func fields(_ page: StudioClient.Answer, _ typed: [String: String]) -> [(String, String)] {
        var fields: [(String, String)] = []
        for match in page.text.matches(of: #/<input [^>]*name="([\w-]+)" value="?([^">]*)"?/#) {
            let (name, value) = (String(match.1), String(match.2))
            if name.hasPrefix("nil-"), !value.hasSuffix("checked") || typed[String(name.dropFirst(4))] != nil {
                continue
            }
            fields.append((name, name.hasPrefix("value-") ? typed[String(name.dropFirst(6))] ?? value : value))
        }
        return fields
    }

    @Test func aValueIsChangedAndUndone() async throws {
        let (client, _) = try await Self.client()
        let form = try await client.get("/store/edit/Thing/p1")
        #expect(form.status == 200)
        let saved = try await client.post(
            "/store/edit/Thing/p1", Self.fields(form, ["name": "mug", "size": "3", "made": "2024-05-01"]), of: form)
        #expect(saved.status == 303, "\(saved.text)")
        let page = try await client.get(saved.header("Location") ?? "")
        #expect(page.text.contains("Saved Thing/p1") && page.text.contains("mug"))
        #expect(page.text.contains("2024-05-01") && page.text.contains("Undo: Edit Thing/p1"))
        let undone = try await client.post("/store/undo", [], of: page)
        #expect(undone.status == 303)
        let after = try await client.get("/store/object/Thing/p1")
        #expect(!after.text.contains("mug") && after.text.contains("Redo: Edit Thing/p1"))
        _ = try await client.post("/store/redo", [], of: after)
        #expect(try await client.get("/store/object/Thing/p1").text.contains("mug"))
    }

    @Test(arguments: [
        ("Thing", ["size": "many"], "is not a whole number"), ("Thing", ["size": "99999"], "between"),
        ("Thing", ["made": "soon"], "is not a date"), ("Thing", ["owner": "Thing/p1"], "is not an object of Owner"),
        ("Thing", ["owner": "Owner/p99"], "There is no Owner/p99"), ("Thing", ["owner": "x"], "is not the ID"),
    ])
    func errorsStandBesideTheFields(entity: String, typed: [String: String], message: String) async throws {
        let (client, _) = try await Self.client()
        let form = try await client.get("/store/edit/\(entity)/p1")
        let answer = try await client.post("/store/edit/\(entity)/p1", Self.fields(form, typed), of: form)
        #expect(answer.status == 422)
        let problem = answer.text.firstMatch(of: #/(?s)<p class=problem id="problem-\w+">(.+?)<\/p>/#)
        #expect(problem?.1.contains(message) == true, "\(answer.text)")
        // What was typed is kept.
        #expect(answer.text.contains(try #require(typed.values.first)))
    }

    @Test func validationIsTheModels() async throws {
        let (client, _) = try await Self.client()
        let form = try await client.get("/store/new/Owner")
        let answer = try await client.post("/store/new/Owner", [("nil-name", "1"), ("value-name", "")], of: form)
        #expect(answer.status == 422 && answer.text.contains("id=\"problem-name\""), "\(answer.text)")
        let made = try await client.post("/store/new/Owner", [("value-name", "Bo <b>")], of: form)
        #expect(made.status == 303 && made.header("Location")?.hasPrefix("/store/object/Owner/p") == true)
        #expect(try await client.get(made.header("Location") ?? "").text.contains("<h1>Bo &lt;b&gt;</h1>"))
    }

    @Test func aDeletionSaysWhatItDoes() async throws {
        let (client, _) = try await Self.client()
        let page = try await client.get("/store/delete/Owner/p1")
        #expect(page.text.contains("Deleted as well: 2 objects"))
        #expect(try await client.get("/store/object/Owner/p1").status == 200)
        let answer = try await client.post("/store/delete/Owner/p1", [], of: page)
        #expect(answer.status == 303)
        let list = try await client.get(answer.header("Location") ?? "")
        #expect(list.text.contains("Deleted 3 objects"))
        #expect(try await client.get("/store/rows/Thing").text.contains("There are no objects"))
        _ = try await client.post("/store/undo", [], of: list)
        #expect(try await client.get("/store/rows/Thing").text.contains("cup"))
    }

    @Test func aChangeOfAnotherProcessIsShown() async throws {
        let (client, store) = try await Self.client()
        let form = try await client.get("/store/edit/Thing/p1")
        let old = try #require(Self.value(form, "name"))
        try StudioStore.change(store, Self.model) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "name == %@", argumentArray: [old])
            try context.fetch(request).first?.setValue("theirs", forKey: "name")
        }
        let conflict = try await client.post("/store/edit/Thing/p1", Self.fields(form, ["name": "mine"]), of: form)
        #expect(conflict.status == 409 && conflict.text.contains("theirs") && conflict.text.contains("mine"))
        let again = try await client.post(
            "/store/edit/Thing/p1", Self.fields(conflict, ["name": "mine"]), of: conflict)
        #expect(again.status == 303)
        #expect(try await client.get("/store/object/Thing/p1").text.contains("mine"))
    }

    @Test func formsNeedTheirToken() async throws {
        let (client, _) = try await Self.client()
        for address in ["/store/edit/Thing/p1", "/store/delete/Thing/p1", "/store/undo", "/store/new/Thing"] {
            let answer = await client.studio.respond(to: client.request("POST", address, form: "value-name=x"))
            #expect(answer.status == 403, "\(address)")
        }
        #expect(try await client.get("/store/object/Thing/p1").status == 200)
    }
}
