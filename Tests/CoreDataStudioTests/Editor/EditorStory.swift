import CoreData
import CoreDataModel
import CoreDataStudio
import Foundation
import TestSupport
import Testing

/// A browser that edits a model: it opens pages, and sends their forms.
struct EditorStory: Sendable {
    let url: URL
    let client: StudioClient

    /// Opens a model, or one that does not exist yet.
    init(_ url: URL? = nil) async throws {
        self.url = try url ?? Fixtures.temporaryFolder().appendingPathComponent("Model.xcdatamodeld")
        client = try await StudioClient(try Studio(model: self.url))
    }

    /// Opens a model with one version of a text.
    init(contents: String) async throws {
        let folder = try Fixtures.temporaryFolder().appendingPathComponent("Model.xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(contents.utf8).write(to: folder.appendingPathComponent("contents"))
        try await self.init(folder)
    }

    func page(_ address: String, status: Int = 200) async throws -> StudioClient.Answer {
        let answer = try await client.get(address)
        #expect(answer.status == status, "\(address)")
        return answer
    }

    /// Sends the form of an action on a page.
    @discardableResult
    func send(
        _ action: String, on place: String = "/model", of page: StudioClient.Answer? = nil, status: Int = 303,
        _ fields: (String, String)...
    ) async throws -> StudioClient.Answer {
        var shown = page
        if shown == nil { shown = try await self.page(place) }
        let opened = try #require(shown)
        let version = opened.hidden("version")
        let answer = try await client.post(
            "/model/edit",
            [
                ("do", action), ("at", place), ("version", version ?? ""),
                ("revision", opened.hidden("revision") ?? ""),
            ] + fields, of: opened)
        #expect(answer.status == status, "\(action): \(answer.problems)")
        return answer
    }

    /// Sends the settings form of a page with some values changed.
    @discardableResult
    func set(
        _ place: String, status: Int = 303, _ values: (String, String?)...
    ) async throws -> StudioClient.Answer {
        let page = try await page(place)
        var fields: [(String, String)] = [
            ("do", "set"), ("at", place), ("version", page.hidden("version") ?? ""),
            ("revision", page.hidden("revision") ?? ""),
        ]
        for (name, value) in values {
            fields.append(("field", name))
            if let value { fields.append(("s." + name, value)) }
        }
        let answer = try await client.post("/model/edit", fields, of: page)
        #expect(answer.status == status, "\(place): \(answer.problems)")
        return answer
    }

    /// The model on disk.
    func versions() throws -> ModelVersions { try ModelReader.read(contentsOf: url) }

    func model() throws -> NSManagedObjectModel { try NSManagedObjectModel(document: document()) }

    func document(_ version: String? = nil) throws -> ModelDocument {
        let versions = try versions()
        return try #require(versions[version ?? versions.currentName])
    }
}

extension StudioClient.Answer {
    /// The value of the first hidden field with a name.
    func hidden(_ name: String) -> String? {
        guard
            let start = text.range(of: "<input type=hidden name=\"\(name)\" value=\"")
                ?? text.range(of: "<input type=hidden name=\(name) value=\"")
        else { return nil }
        return String(text[start.upperBound...].prefix { $0 != "\"" })
    }

    /// The text of the page's notices.
    var problems: String {
        guard let start = text.range(of: "class=\"notice bad\"") else { return "" }
        return String(text[start.upperBound...].prefix(400))
    }
}
