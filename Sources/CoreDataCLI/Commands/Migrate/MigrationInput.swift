import ArgumentParser
import CoreData
import CoreDataModel
import CoreDataStoreTools
import Foundation

/// A store and the model to migrate it to.
struct MigrationInput: ParsableArguments {
    @Argument(help: "The store's file, or its postgresql:// URL.", completion: .file())
    var store: String

    @Option(
        help: ArgumentHelp(
            "The model: an .xcdatamodeld, .xcdatamodel, .momd, .mom, .json or .swift.", valueName: "model"),
        completion: .file())
    var model: String?

    @Option(
        help: ArgumentHelp(
            "The version to migrate to, e.g. 'Model 3'. Without it the current one.", valueName: "version"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "The configuration whose entities the store has; without it all of the model's.", valueName: "name"))
    var configuration: String?

    @Flag(
        help: """
            Go over versions of the model that lie between where nothing leads to the newest at once, or not all values do, \
            a migration each.
            """)
    var progressive = false

    @Option(
        name: .customLong("mapping"),
        help: ArgumentHelp(
            "With --progressive: a mapping model, a .cdm or .xcmappingmodel, that a step may follow; may be repeated.",
            valueName: "mapping"),
        completion: .file())
    var mappings: [String] = []

    func validate() throws {
        if !mappings.isEmpty, !progressive { throw ValidationError("--mapping is for --progressive: give both.") }
        if model == nil { throw ValidationError("Say which model the store is to be of: --model MODEL.") }
    }

    var url: URL { StoreFile.url(store) }

    func migration() throws -> LightweightMigration {
        try StoreFile.checkExists(store)
        let path = model ?? ""
        let document = try ModelOptions.versions(path).target(named: to, at: path)
        return LightweightMigration(
            to: try NSManagedObjectModel(document: document), configuration: configuration,
            type: StoreTools.type(ofStoreAt: url), files: [URL(fileURLWithPath: path)])
    }

    /// Returns the data that the migration would drop; `nil` if the store already has the model.
    ///
    /// - Parameter copy: the copy of the store that an interrupted run may have left; names are those of the copy.
    func losses(
        _ migration: LightweightMigration, _ progressive: ProgressiveMigration?, _ copy: MigrationCopy
    ) throws -> MigrationLosses? {
        func losses(_ found: [MappingLoss], at url: URL) -> MigrationLosses {
            MigrationLosses(
                found, ofStoreAt: url, migration.sourceModel(ofStoreAt: url), configuration: configuration)
        }
        guard let progressive else { return try migration.plan(of: url).map { losses($0.losses, at: url) } }
        guard let steps = try progressive.plan(of: url) else { return nil }
        if copy.isBegun(for: migration.model.versionChecksum), let all = try progressive.plan(of: copy.url) {
            return losses(all.flatMap(\.losses), at: copy.url)
        }
        return losses(steps.flatMap(\.losses), at: url)
    }

    /// Returns the migration over intermediate versions; `nil` if the user did not request it.
    func progressiveMigration() throws -> ProgressiveMigration? {
        guard progressive else { return nil }
        let direct = try migration()
        let found = try mappings.map { path in
            guard FileManager.default.fileExists(atPath: path) else {
                throw ToolFailure("There is no mapping model at \(path).")
            }
            let url = URL(fileURLWithPath: path)
            return (name: url.lastPathComponent, model: try NSMappingModel.load(contentsOf: url))
        }
        let migration = ProgressiveMigration(
            to: direct.model, configuration: configuration, type: direct.type,
            files: [URL(fileURLWithPath: model ?? "")], mappings: found)
        if let idle = migration.idleMappings(for: url).first {
            throw ToolFailure(
                "The mapping model \(idle) leads from no version of \(model ?? "") to another: its entities are of other versions. Nothing was migrated."
            )
        }
        return migration
    }

    /// Returns the location of the copy that `run` makes.
    static func backup(of store: String) throws -> URL {
        guard StoreFile.isOnServer(store) else {
            return URL(fileURLWithPath: StoreTools.file(of: StoreFile.url(store)).path + ".before-migration")
        }
        guard var parts = URLComponents(url: StoreFile.url(store), resolvingAgainstBaseURL: false) else {
            throw ToolFailure("\(StoreFile.shown(store)) is no URL of a store.")
        }
        var items = parts.queryItems ?? []
        let schema = items.first { $0.name == "schema" }?.value ?? "public"
        items.removeAll { $0.name == "schema" }
        parts.queryItems = items + [URLQueryItem(name: "schema", value: schema + "_before_migration")]
        guard let url = parts.url else { throw ToolFailure("\(StoreFile.shown(store)) is no URL of a store.") }
        return url
    }
}
