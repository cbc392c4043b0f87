import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct StoreReportTests {
    @Test func reportOfAStoreWithInheritance() throws {
        let report = try report(.sample1)
        #expect(report.type == "SQLite")
        #expect(report.identifier == "753753D3-A961-4901-AB05-8CC48B1D3853")
        #expect(report.frameworkVersion == 1044)
        #expect(report.versionIdentifiers == ["1"])
        #expect(report.entities.map(\.name) == ["Car", "SportCar", "ExpensiveSportCar", "Person"])
        #expect(report.entities.map(\.table) == ["ZCAR", "ZCAR", "ZCAR", "ZPERSON"])
        #expect(report.entities.map(\.parent) == [nil, "Car", "SportCar", nil])
        #expect(report.entities.map(\.maximumKey) == [125, nil, nil, 20])
        #expect(report.entities.map(\.rowCount).reduce(0, +) == 145)
        #expect(report.entities.allSatisfy { $0.versionHash?.count == 32 })
        #expect(!report.hasHistory)
        #expect(report.modelSource == .cache)
    }

    @Test func reportCountsRowsThatAreOnlyInTheLog() throws {
        let report = try report(.bookmarks4)
        #expect(report.journalMode == "wal")
        #expect((report.logSize ?? 0) > 0)
        #expect(report.entities.map(\.rowCount) == [10])
    }

    /// Apple's migration left the old name in the table of numbers.
    @Test func aRenamedEntityHasTheModelsName() throws {
        let report = try report(.sample2)
        #expect(report.entities.map(\.name) == ["Car", "SportCar", "LuxuryCar", "Person"])
        #expect(report.entities.map(\.formerName) == [nil, nil, "ExpensiveSportCar", nil])
        #expect(report.entities.map(\.parent) == [nil, "Car", "SportCar", nil])
        #expect(report.entities.map(\.table) == ["ZCAR", "ZCAR", "ZCAR", "ZPERSON"])
        #expect(report.entities.allSatisfy { $0.versionHash?.count == 32 })
    }

    @Test func reportOfAStoreWithHistory() throws {
        let report = try StoreReport.make(
            options: DatabaseOptions(path: Fixtures.temporaryCopy("sample-model-2/SampleModel2_V2.sqlite").path),
            makeDatabase: makeDatabase)
        #expect(report.hasHistory)
        #expect(report.transactionCount == 1)
        #expect(report.changeCount == 126)
        #expect(report.entities.map(\.rowCount) == [2, 1, 3, 119, 0, 1])
    }

    @Test func oldStoresHaveNoModelOfTheirOwn() throws {
        let report = try report(.surfJournal)
        #expect(report.modelSource == .none)
        #expect(report.frameworkVersion == 519)
        let imported = try self.report(.grocery6)
        #expect(imported.applicationMetadataKeys == ["DefaultDataImported"])
    }

    @Test func fileThatIsNoStoreSaysSo() throws {
        let path = try Fixtures.temporaryFolder().appendingPathComponent("x.sqlite").path
        try makeDatabase(DatabaseOptions(path: path)).write { try $0.execute("CREATE TABLE t (c)") }
        let failure = try #require(throws: StoreFailure.self) {
            try StoreReport.make(options: DatabaseOptions(path: path), makeDatabase: makeDatabase)
        }
        #expect(failure.kind == .notAStore)
        #expect(failure.message.contains("Z_PRIMARYKEY and no table Z_METADATA"))
        let missing = try #require(throws: StoreFailure.self) {
            try StoreReport.make(options: DatabaseOptions(path: path + "2"), makeDatabase: makeDatabase)
        }
        #expect(missing.kind == .cannotOpen)
    }

    private func report(_ fixture: FixtureStore) throws -> StoreReport {
        try StoreReport.make(options: DatabaseOptions(path: fixture.copy().path), makeDatabase: makeDatabase)
    }
}
