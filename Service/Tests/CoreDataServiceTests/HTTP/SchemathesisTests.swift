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
}
