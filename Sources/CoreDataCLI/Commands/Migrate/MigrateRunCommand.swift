import ArgumentParser
import CoreData
import CoreDataStoreTools
import Foundation

/// The command `coredata migrate run`.
struct MigrateRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Migrates a store, and keeps a copy of it as it was.",
        usage: "coredata migrate run [<options>] <store> --model <model>",
        discussion: """
            The copy is <store>.before-migration; migrate rollback puts it back. That of a store on a server is in the schema \
            <schema>_before_migration. With --dry-run only a copy is migrated and checked, and taken away again. A run that \
            was stopped is gone on with by the same command.

            What the model no longer has is dropped only where --allow-loss names it: an entity, or a property.

            EXAMPLES
              coredata migrate run Library.sqlite --model Library.xcdatamodeld
              coredata migrate run Library.sqlite --model Library.xcdatamodeld --dry-run
              coredata migrate run Library.sqlite --model Library.xcdatamodeld \\
                --allow-loss Book.isbn --allow-loss Shelf
              coredata migrate run Library.sqlite --model Library.xcdatamodeld \\
                --progressive --mapping Library1to2.cdm
            """)

    @OptionGroup var input: MigrationInput

    @Flag(help: "Migrate a copy, check it, and leave the store as it is.")
    var dryRun = false

    @Flag(inversion: .prefixedNo, help: "Keep a copy of the store as it was.")
    var backup = true

    @Option(
        name: .customLong("allow-loss"),
        help: ArgumentHelp(
            """
            An entity, such as Shelf, or an attribute or relationship, such as Book.isbn, by its name in the store's version, \
            that may be dropped; may be repeated.
            """, valueName: "name"))
    var allowedLosses: [String] = []

    @Flag(help: "Print what was done as JSON.")
    var json = false

    func validate() throws {
        if dryRun, !backup {
            throw ValidationError("--dry-run leaves the store as it is: there is nothing to back up.")
        }
    }

    func run() throws {
        let migration = try input.migration()
        let progressive = try input.progressiveMigration()
        let copy = MigrationCopy(store: input.url, url: try MigrationInput.backup(of: input.store))
        guard let losses = try input.losses(migration, progressive, copy) else {
            if json { return try show(Summary(store: StoreFile.shown(input.store), isMigrated: false)) }
            return print("\(StoreFile.shown(input.store)) is of that model already")
        }
        try losses.check(allowedLosses, ofStore: input.store)
        if dryRun { return try rehearse(migration, progressive) }
        if backup { try copy.prepare(for: migration.model.versionChecksum) }
        var bar = ProgressBar("Migrating", unit: "%")
        defer { bar.finish() }
        do {
            try Self.migrate(input.url, migration, progressive) { bar.update(fraction: $0, count: Int($0 * 100)) }
        } catch {
            // A chain may have completed some of its steps.
            if backup, progressive == nil { try? copy.remove() }
            throw error
        }
        if backup { try copy.finish() }
        bar.finish()
        let place = StoreFile.shown(copy.url)
        if json {
            return try show(
                Summary(
                    store: StoreFile.shown(input.store), isMigrated: true, backup: backup ? place : nil,
                    dropped: losses.entries))
        }
        print("Migrated \(StoreFile.shown(input.store))\(backup ? "; as it was it is in \(place)" : "")")
        for entry in losses.entries { print("Dropped \(entry.line)") }
    }

    private struct Summary: Encodable {
        var store: String
        var isMigrated: Bool
        /// The path of the store's copy from before the migration.
        var backup: String?
        var dropped: [MigrationLosses.Entry]?
        /// The result of `--dry-run`.
        var canBeMigrated: Bool?
        /// The problems of the migrated copy, with `--dry-run`.
        var findings: [String]?
    }

    private func show(_ summary: Summary) throws { print(try JSONOutput.text(summary)) }

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
        // A single-file store is read completely before it is written.
        if ![NSXMLStoreType, NSBinaryStoreType].contains(migration.type) {
            let verification = try NSPersistentStoreCoordinator.verifyPersistentStore(at: copy)
            if json {
                let findings = verification.findings.map(\.description)
                try show(
                    Summary(
                        store: StoreFile.shown(input.store), isMigrated: false, canBeMigrated: verification.isPassed,
                        findings: findings))
            } else {
                for finding in verification.findings { print(finding) }
            }
            guard verification.isPassed else { throw ExitCode(1) }
            if json { return }
        }
        if json {
            return try show(
                Summary(store: StoreFile.shown(input.store), isMigrated: false, canBeMigrated: true, findings: []))
        }
        print("\(StoreFile.shown(input.store)) can be migrated: a copy was, and is sound")
    }
}
