import Foundation
import SwiftData

// Migration plans over the versions of the log.

/// With code before and after the first stage, and a stage without code.
enum LogPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [LogV1.self, LogV2.self, LogV3.self] }
    static var stages: [MigrationStage] {
        [
            .custom(fromVersion: LogV1.self, toVersion: LogV2.self) { context in
                // The old classes, with their relationships.
                for writer in try context.fetch(FetchDescriptor<LogV1.Writer>()) {
                    for entry in writer.entries { entry.text = "\(writer.name): \(entry.text)" }
                }
                try context.save()
            } didMigrate: { context in
                for entry in try context.fetch(FetchDescriptor<LogV2.Entry>()) { entry.length = entry.title.count }
                try context.save()
            },
            .lightweight(fromVersion: LogV2.self, toVersion: LogV3.self),
        ]
    }
}

/// Whose code fails the first time.
enum LogFailingPlan: SchemaMigrationPlan {
    struct Refusal: Error {}
    static let story = "failing"

    static var schemas: [any VersionedSchema.Type] { [LogV1.self, LogV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(fromVersion: LogV1.self, toVersion: LogV2.self) { _ in
                LogEvents.add("will", of: story)
            } didMigrate: { context in
                LogEvents.add("did", of: story)
                for entry in try context.fetch(FetchDescriptor<LogV2.Entry>()) { entry.length = 7 }
                guard LogEvents.all(of: story).filter({ $0 == "did" }).count > 1 else { throw Refusal() }
                try context.save()
            }
        ]
    }
}

/// Without code.
enum LogPlainPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [LogV1.self, LogV2.self, LogV3.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: LogV1.self, toVersion: LogV2.self),
            .lightweight(fromVersion: LogV2.self, toVersion: LogV3.self),
        ]
    }
}

enum LogEqualPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [LogV1.self, LogV1Again.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: LogV1.self, toVersion: LogV1Again.self)] }
}

enum LogLivePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [LogLive.self, LogV3.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: LogLive.self, toVersion: LogV3.self)] }
}

enum LogStrangePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [LogV1.self, LogV2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: LogV1.self, toVersion: LogV3.self)] }
}

enum LogBackwardPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [LogV1.self, LogV2.self, LogV3.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: LogV2.self, toVersion: LogV1.self)] }
}
