import Testing

/// Errors of the engine are known by a protocol, so that none of them leaves the framework as it is.
@Suite struct FailureTests {
    @Test(arguments: [
        "CoreDataPrimitives", "CoreDataModel", "CoreDataPredicate", "CoreDataSQL", "CoreDataSQLite",
        "CoreDataPostgreSQLDriver", "CoreDataStore", "CoreData",
    ])
    func errorsAreEngineFailures(target: String) throws {
        for (path, text) in try Repository.sources(of: target)
        where path != "Sources/CoreDataPrimitives/EngineFailure.swift" {
            for line in text.plainErrors { Issue.record("\(path):\(line): make it an EngineFailure") }
        }
    }

    @Test(arguments: [
        ("struct A: Error {}", [1]), ("\nprivate enum A: Error, Hashable {", [2]), ("extension A.B: Error {}", [1]),
        ("final class A: Sendable, Error {}", [1]), ("struct A: EngineFailure {}", []),
        ("struct A<E: Error>: B {}", []),
        ("public struct A: LocalizedError {}", []), ("func a(_ error: any Error) {}", []),
    ])
    func plainErrorsAreFound(source: String, lines: [Int]) {
        #expect(SourceText(source).plainErrors == lines)
    }
}

extension SourceText {
    /// The lines that declare an error as nothing but an error. Public errors have a description, and say so.
    fileprivate var plainErrors: [Int] {
        lines(containing: ["Error"]).filter { index in
            lines[index].firstMatch(
                of: /\b(?:struct|enum|class|actor|extension)\s+[\w.]+\s*:[^{]*\bError\b/.wordBoundaryKind(.simple))
                != nil
        }.map { $0 + 1 }
    }
}
