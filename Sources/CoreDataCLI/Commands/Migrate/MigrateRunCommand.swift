import ArgumentParser
import CoreData
import Foundation

/// `coredata migrate run`
struct MigrateRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Migrates a store, and keeps a copy of it as it was.",
        usage: "coredata migrate run [<options>] <store> --model <model>",
        discussion: """
            The copy is <store>.before-migration; migrate rollback puts it back. That of a store on a server is in the schema \
            <schema>_before_migration, without its history. With --dry-run only a copy is migrated and checked, and taken \
            away again.

            EXAMPLES
              coredata migrate run Library.sqlite --model Library.xcdatamodeld
              coredata migrate run Library.sqlite --model Library.xcdatamodeld --dry-run
              coredata migrate run Library.sqlite --model Library.xcdatamodeld \\
                --progressive --mapping Library1to2.cdm
            """)

    @OptionGroup var input: MigrationInput

    @Flag(help: "Migrate a copy, check it, and leave the store as it is.")
    var dryRun = false

    @Flag(inversion: .prefixedNo, help: "Keep a copy of the store as it was.")
    var backup = true

    func validate() throws {
        if dryRun, !backup {
            throw ValidationError("--dry-run leaves the store as it is: there is nothing to back up.")
        }
    }

    func run() throws {
        let migration = try input.migration()
        let progressive = try input.progressiveMigration()
        let isNeeded =
            try progressive.map { try $0.plan(of: input.url) != nil } ?? (try migration.plan(of: input.url) != nil)
        guard isNeeded else { return print("\(StoreFile.shown(input.store)) is of that model already") }
        let copy = try MigrationInput.backup(of: input.store)
        let place = StoreFile.shown(copy)
        if dryRun { return try rehearse(migration, progressive) }
        if backup {
            guard try !StoreTools.isTaken(copy) else {
                throw ToolFailure(
                    "There is a copy of an earlier migration at \(place). Put it back with migrate rollback, or remove it."
                )
            }
            try StoreTools.makeCopy(of: input.url, at: copy)
        }
        var bar = ProgressBar("Migrating", unit: "%")
        defer { bar.finish() }
        do {
            try Self.migrate(input.url, migration, progressive) { bar.update(fraction: $0, count: Int($0 * 100)) }
        } catch {
            // A chain may have come half the way.
            if backup, progressive == nil { try? StoreTools.remove(copy) }
            throw error
        }
        bar.finish()
        print("Migrated \(StoreFile.shown(input.store))\(backup ? "; as it was it is in \(place)" : "")")
    }

    private static func migrate(
        _ url: URL, _ migration: LightweightMigration, _ progressive: ProgressiveMigration?,
        _ progress: @escaping (Double) -> Void = { _ in }
    ) throws {
        if let progressive {
            try progressive.run(at: url, options: nil, progress: progress)
        } else {
            var migration = migration
            migration.progress = progress
            try migration.run(at: url, options: nil)
        }
    }

    private func rehearse(_ migration: LightweightMigration, _ progressive: ProgressiveMigration?) throws {
        if StoreFile.isOnServer(input.store) {
            return try StoreTools.withCopyOnServer(of: input.url) { try rehearse(migration, progressive, on: $0) }
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appendingPathComponent(input.url.lastPathComponent)
        try StoreTools.copy(input.url, to: copy)
        try rehearse(migration, progressive, on: copy)
    }

    private func rehearse(
        _ migration: LightweightMigration, _ progressive: ProgressiveMigration?, on copy: URL
    ) throws {
        try Self.migrate(copy, migration, progressive)
        // Of a store of one file a whole is read before any of it is written.
        if ![NSXMLStoreType, NSBinaryStoreType].contains(migration.type) {
            let verification = try NSPersistentStoreCoordinator.verifyPersistentStore(at: copy)
            for finding in verification.findings { print(finding) }
            guard verification.isPassed else { throw ExitCode(1) }
        }
        print("\(StoreFile.shown(input.store)) can be migrated: a copy was, and is sound")
    }
}

/// `coredata migrate rollback`
struct MigrateRollbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Puts back the copy that migrate run kept.",
        usage: "coredata migrate rollback <store>",
        discussion: """
            What was saved since the migration is lost. A copy whose UUID is not the store's is left where it is.

            EXAMPLES
              coredata migrate rollback Library.sqlite
            """)

    @Argument(help: "The store's file, or its postgresql:// URL.", completion: .file())
    var store: String

    func run() throws {
        try StoreFile.checkReaches(store)
        let copy = try MigrationInput.backup(of: store)
        let url = StoreFile.url(store)
        for place in [url, copy] { StoreTools.removeLeavings(of: place) }
        guard try StoreTools.isTaken(copy) else {
            throw ToolFailure(
                "There is no copy at \(StoreFile.shown(copy)): migrate run keeps one of the store that it migrates.")
        }
        try checkIsCopy(copy, of: url)
        try StoreTools.copy(copy, to: url)
        try? StoreTools.remove(copy)
        print("\(StoreFile.shown(store)) is as it was before the migration")
    }
}

extension MigrateRollbackCommand {
    /// - Throws: ``ToolFailure`` where both are stores, and not the same one. A store that is missing or damaged is put back.
    private func checkIsCopy(_ copy: URL, of url: URL) throws {
        guard let own = Self.identifier(url), let copied = Self.identifier(copy), own != copied else { return }
        throw ToolFailure(
            "\(StoreFile.shown(copy)) is a copy of another store: its UUID is \(copied), that of \(StoreFile.shown(store)) is \(own). Nothing was put back."
        )
    }

    private static func identifier(_ url: URL) -> String? {
        let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: StoreTools.type(ofStoreAt: url), at: url, options: StoreFile.readingOptions)
        return metadata?[NSStoreUUIDKey] as? String
    }
}
