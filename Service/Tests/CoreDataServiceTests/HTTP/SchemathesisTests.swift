import Foundation
import Testing

@testable import CoreDataService

/// A program that knows OpenAPI and nothing of this service sends what the document allows, and what it forbids.
@Suite struct SchemathesisTests {
    @Test(.enabled(if: PythonTools.isCI, "only where the environment variable CI is set must all tools be installed"))
    func schemathesisIsInstalled() { #expect(PythonTools.isSchemathesisInstalled, "\(PythonTools.missing)") }

    @Test(.enabled(if: PythonTools.isSchemathesisInstalled, "\(PythonTools.missing)"))
    func answersAreWhatTheDocumentSays() async throws {
        try await TestService.run { service in
            let unit = try await service.make("Unit", ["name": "kg"]).id
            try await service.make("Item", ["name": "Milk", "unit": .string(unit), "price": .number("1.5")])
            let (port, folder) = (service.client.port, service.folder)
            let result = try await onThread {
                try PythonTools.run(
                    [
                        "-m", "schemathesis.cli", "run", "http://127.0.0.1:\(port)/openapi.json", "--no-color",
                        "--no-shrink", "--seed", "1",
                        "--generation-database", "none", "--workers", "1", "--warnings", "off",
                        "--suppress-health-check", "too_slow",
                        "--checks",
                        "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,unsupported_method",
                        "--max-examples", PythonTools.isLong ? "200" : "3", "--phases",
                        PythonTools.isLong ? "examples,coverage,fuzzing,stateful" : "fuzzing",
                    ], in: folder)
            }
            #expect(result.status == 0, "\(result.output.suffix(6000))")
            // Every operation of the document was tried.
            #expect(result.output.contains(/Selected: (\d+)\/\1/) && !result.output.contains("Skipped:"))
            #expect(
                result.output.contains("Test cases:") || result.output.contains("tested"),
                "\(result.output.suffix(2000))")
            #expect(try await service.client.get("/health").status == 200)
        }
    }

    /// The routes of accounts, of an administrator and of a visitor. Without the end of the session, which would end the
    /// run, and without the requests that wait for changes.
    @Test(.enabled(if: PythonTools.isSchemathesisInstalled, "\(PythonTools.missing)"), arguments: [true, false])
    func accountsAnswerWhatTheDocumentSays(isSignedIn: Bool) async throws {
        try await PeopleService.run(ShopModel.make()) { people in
            let (port, token) = (people.admin.port, people.admin.token ?? "")
            let result = try await onThread {
                try PythonTools.run(
                    [
                        "-m", "schemathesis.cli", "run", "http://127.0.0.1:\(port)/openapi.json", "--no-color",
                        "--no-shrink", "--seed", "1", "--generation-database", "none", "--workers", "1", "--warnings",
                        "off",
                        "--suppress-health-check", "too_slow", "--include-tag", "accounts", "--exclude-operation-id",
                        "signOut",
                        "--exclude-operation-id", "awaitChange", "--checks",
                        "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,unsupported_method",
                        "--max-examples", PythonTools.isLong ? "50" : "1", "--phases",
                        PythonTools.isLong ? "examples,coverage,fuzzing,stateful" : "fuzzing",
                    ] + (isSignedIn ? ["-H", "Authorization: Bearer \(token)"] : []),
                    in: FileManager.default.temporaryDirectory)
            }
            #expect(result.status == 0, "\(result.output.suffix(6000))")
            #expect(result.output.contains("Selected: 36/"), "\(result.output.suffix(6000))")
            #expect(try await people.admin.get("/accounts/me").status == 200)
        }
    }

    /// Each path that the service answers is in the document, and the other way round.
    @Test func theDocumentHasTheRoutesOfAccounts() async throws {
        try await PeopleService.run(ShopModel.make()) { people in
            let document = try await people.anonymous.get("/openapi.json").json
            guard case .object(let paths)? = document["paths"] else {
                Issue.record("the document has no paths")
                return
            }
            let id = UUID().uuidString
            for path in paths where !path.name.hasPrefix("/api") && !path.name.hasSuffix("/changes") {
                guard case .object(let operations) = path.value else { continue }
                let address = ["{group}", "{account}", "{session}", "{invitation}", "{folder}", "{file}"].reduce(
                    path.name
                ) {
                    $0.replacing($1, with: $1 == "{folder}" || $1 == "{file}" ? "f" : id)
                }
                let allowed = try await people.anonymous.send("TRACE", address).header("Allow") ?? ""
                for operation in operations where operation.name != "parameters" && !path.name.contains("/files") {
                    #expect(allowed.contains(operation.name.uppercased()), "\(operation.name) \(path.name): \(allowed)")
                }
            }
            let list = try await people.anonymous.get("/openapi.json").text
            #expect(list.contains("\"arguments\"") && list.contains("propertyNames"))
        }
    }
}
