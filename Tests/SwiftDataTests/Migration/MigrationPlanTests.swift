import Foundation
import SwiftData
import TestSupport
import Testing

/// Stores that are led over the versions of a plan (I2 to I7).
@Suite struct MigrationPlanTests {
    private func file() throws -> URL { try Fixtures.temporaryFolder().appendingPathComponent("log.store") }

    private func container(
        _ version: any VersionedSchema.Type, _ url: URL, plan: (any SchemaMigrationPlan.Type)? = nil
    ) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: version), migrationPlan: plan, configurations: ModelConfiguration(url: url))
    }

    /// Two entries, one of which has a writer.
    private func makeFirst(_ url: URL) throws {
        let context = ModelContext(try container(LogV1.self, url))
        let writer = LogV1.Writer(name: "Ann")
        context.insert(writer)
        writer.entries = [LogV1.Entry(text: "Rain")]
        context.insert(LogV1.Entry(text: "Sun"))
        try context.save()
    }

    /// I2, I3, complaint 29: code before a stage has the old classes, code after it the new ones; both follow relationships. What is renamed twice
    /// keeps its values.
    @Test func stagesRunInTurn() throws {
        let url = try file()
        try makeFirst(url)
        let migrated = try container(LogV3.self, url, plan: LogPlan.self)
        #expect(migrated.migrationPlan != nil)
        for container in [migrated, try container(LogV3.self, url, plan: LogPlan.self)] {
            let entries = try ModelContext(container).fetch(
                FetchDescriptor<LogV3.Entry>(sortBy: [SortDescriptor(\.heading)]))
            #expect(entries.map(\.heading) == ["Ann: Rain", "Sun"])
            #expect(entries.map(\.length) == [9, 3])
            #expect(entries.map { $0.writer?.name } == ["Ann", nil])
        }
    }

    /// I2: a store of a later version passes the stages that are left, a new one none.
    @Test func aStoreBeginsAtItsVersion() throws {
        let url = try file()
        do {
            let context = ModelContext(try container(LogV2.self, url, plan: LogPlan.self))
            context.insert(LogV2.Entry(title: "Sun"))
            try context.save()
        }
        let entries = try ModelContext(container(LogV3.self, url, plan: LogPlan.self)).fetch(
            FetchDescriptor<LogV3.Entry>())
        #expect(entries.map(\.heading) == ["Sun"] && entries.map(\.length) == [0])
    }

    /// I2: what fails in the middle of a stage goes on from there, and nothing runs twice that came to its end.
    @Test func aStageThatFailedGoesOn() throws {
        let url = try file()
        try makeFirst(url)
        let error = #expect(throws: SwiftDataError.self) {
            try container(LogV2.self, url, plan: LogFailingPlan.self)
        }
        #expect(error == .loadIssueModelContainer && error?.description.contains("Refusal") == true)
        let context = ModelContext(try container(LogV2.self, url, plan: LogFailingPlan.self))
        #expect(try context.fetch(FetchDescriptor<LogV2.Entry>()).map(\.length) == [7, 7])
        #expect(LogEvents.all(of: LogFailingPlan.story) == ["will", "did", "did"])
    }

    /// I4, complaint 26: a store from before the plan's first version begins there, if nothing of it is lost.
    @Test(arguments: [true, false]) func aStoreOfNoVersionBeginsWhereItFits(hasCode: Bool) throws {
        let url = try file()
        do {
            let context = ModelContext(try container(LogV0.self, url))
            context.insert(LogV0.Entry(text: "Sun"))
            try context.save()
        }
        let plan: any SchemaMigrationPlan.Type = hasCode ? LogPlan.self : LogPlainPlan.self
        let entries = try ModelContext(container(LogV3.self, url, plan: plan)).fetch(FetchDescriptor<LogV3.Entry>())
        #expect(entries.map(\.heading) == ["Sun"] && entries.map(\.mood) == ["fine"])
        #expect(entries.map(\.length) == [hasCode ? 3 : 0])
    }

    /// I4, complaint 26: a store with something that no version has is left as it is; the error says what that is.
    @Test func aStoreThatFitsNowhereIsAnError() throws {
        let url = try file()
        do {
            let context = ModelContext(try container(LogOther.self, url))
            context.insert(LogOther.Entry(text: "Sun"))
            try context.save()
        }
        let error = #expect(throws: SwiftDataError.self) { try container(LogV3.self, url, plan: LogPlan.self) }
        #expect(error == .loadIssueModelContainer)
        let cause = try #require(error?.underlyingError as? SwiftDataError)
        #expect(cause == .unknownSchema && cause.underlyingError is CocoaError)
        #expect(cause.explanation?.contains("LogV1 has no Entry.weather.") == true)
        #expect(cause.explanation?.contains("LogV1 1.0.0, LogV2 2.0.0, LogV3 3.0.0") == true)
        let entries = try ModelContext(container(LogOther.self, url)).fetch(FetchDescriptor<LogOther.Entry>())
        #expect(entries.map(\.weather) == ["rain"])
    }

    /// I7: stages do not lead back.
    @Test func aStoreOfALaterVersionIsAnError() throws {
        let url = try file()
        _ = try container(LogV3.self, url, plan: LogPlan.self)
        let error = #expect(throws: SwiftDataError.self) { try container(LogV1.self, url, plan: LogPlan.self) }
        #expect(error == .backwardMigration && error?.description.contains(url.path) == true)
    }

    /// I5, I6, I7, complaint 27: plans that cannot lead anywhere, and why.
    @Test(
        arguments: [
            (LogEqualPlan.self, "LogV1 and LogV1Again have the same entities and properties"),
            (LogLivePlan.self, "Version LogLive of migration plan LogLivePlan"),
            (LogLivePlan.self, "a relationship refers to the class of the other version"),
            (LogStrangePlan.self, "is between versions that `schemas` does not list"),
            (LogBackwardPlan.self, "The stage from LogV2 to LogV1 is out of order"),
        ] as [(any SchemaMigrationPlan.Type, String)])
    func mistakesInPlansAreExplained(plan: any SchemaMigrationPlan.Type, text: String) throws {
        let url = try file()
        let error = #expect(throws: SwiftDataError.self) { try container(LogV1.self, url, plan: plan) }
        #expect(error?.explanation?.contains(text) == true, "\(error?.description ?? "no error")")
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }
}
