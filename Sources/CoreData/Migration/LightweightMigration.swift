import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation

/// A lightweight migration of a store, for opening stores and for tools: of an SQLite store inside its database, of a
/// store that is one file by writing it again.
///
///     let migration = LightweightMigration(to: model, configuration: nil)
///     for line in try migration.plan(of: url)?.lines ?? [] { print(line) }
///     try migration.run(at: url, options: nil)
package struct LightweightMigration {
    package let model: NSManagedObjectModel
    let configuration: String?
    /// The type of the store: SQLite, XML or Binary.
    package var type = NSSQLiteStoreType
    /// Where versions of the model are looked for that a store keeps no copy of, before the bundles.
    var files: [URL]
    /// The model with which the store was made, if the caller has it.
    var source: NSManagedObjectModel?
    /// Other models that it may have been made with.
    var known: [NSManagedObjectModel] = []
    /// Decides whether something may be dropped; `nil` if the user requested exactly this migration.
    var lossRule: LossRule?
    /// The entities that the store has, if no configuration says so.
    var entityNames: Set<String>?
    /// Whether a store that is of another model than ``source`` by now is left alone.
    var isFromSourceOnly = false
    /// Told how much is done, from 0 to 1; throws to end the migration.
    package var progress: (Double) throws -> Void = { _ in }

    package init(
        to model: NSManagedObjectModel, configuration: String?, type: String = NSSQLiteStoreType, files: [URL] = [],
        source: NSManagedObjectModel? = nil
    ) {
        self.model = model
        self.type = type
        self.source = source
        self.configuration = configuration
        self.files = files
    }

    /// The description of a migration, for people.
    package struct Plan: Sendable {
        /// What becomes of the entities that are not the same in both models.
        package var entities: [String]
        /// Each step in words, with the statements that it runs; bound values are not shown.
        package var steps: [(words: String, statements: [String])]
        /// The data that it drops.
        package var losses: [MappingLoss]
    }

    /// Migrates the store unless it is of the model already.
    ///
    /// - Returns: whether a migration was necessary.
    /// - Throws: a `CocoaError`: 134130 if the store's model is not known, 134140 if no mapping can be inferred, 134111
    ///   if objects violate a uniqueness constraint, 134120 if `progress` threw, else 134110. The store is then
    ///   unchanged.
    @discardableResult
    package func run(at url: URL, options: [AnyHashable: Any]?) throws -> Bool {
        let outcome = try outcome(at: url, options: options)
        let place = ServerStores.name(url)
        for line in Self.warnings(outcome) { CoreDataLog.general.warning("migration of '\(place)': \(line)") }
        if CoreDataLog.migrationDebugLevel > 0, let plan = outcome.plan {
            for line in plan.mapping.lines + plan.steps.map(\.words) {
                CoreDataLog.general.notice("migration of '\(place)': \(line)")
            }
        }
        return outcome.plan != nil
    }

    func outcome(at url: URL, options: [AnyHashable: Any]?) throws -> StoreMigration.Outcome {
        try converting(url) {
            let waiting = { do { try progress(0) } catch { throw MigrationFailure.cancelled(by: error) } }
            return try MigrationTurn.with(url, waiting: waiting) { try outcomeInTurn(at: url, options) }
        }
    }

    private func outcomeInTurn(at url: URL, _ options: [AnyHashable: Any]?) throws -> StoreMigration.Outcome {
        let settings = try StoreSettings(options)
        if let format = AtomicFileStore.format(ofType: type) {
            return try AtomicMigration(format, migration()).run(
                path: url.path, timeout: settings.timeout, isReadOnly: settings.isReadOnly)
        }
        var migration = try migration()
        migration.defers = StoreSettings.isWanted(options, NSPersistentStoreDeferredLightweightMigrationOptionKey)
        return try migration.run(Self.databaseOptions(settings, url))
    }

    /// Returns consequences that the developer may not have intended: objects that are deleted with their entity,
    /// although another entity may be its successor.
    static func warnings(_ outcome: StoreMigration.Outcome) -> [String] {
        guard let mapping = outcome.plan?.mapping else { return [] }
        let added = mapping.entities.compactMap { entity in
            entity.source == nil ? entity.destination.map { mapping.destination.entities[$0].name } : nil
        }
        let heirs = added.sorted().map { "'\($0)'" }.joined(separator: ", ")
        let strays = mapping.strayIdentifiers.map { stray in
            "the renaming identifier '\(stray.identifier)' of '\(stray.subject)' names nothing in the version that the store was made with. If it was to have the values of something there, the identifier has to be that one's renaming identifier, or its name where it has none."
        }
        return strays
            + outcome.loss.objects.map { lost in
                let text =
                    "\(lost.count) objects of '\(lost.entity)' were deleted, since no entity of the newer model has that name or that renaming identifier."
                guard !added.isEmpty else { return text }
                return text
                    + " If they were to become objects of one that is new (\(heirs)), its renaming identifier has to be that of '\(lost.entity)', or a mapping model has to say so."
            }
    }

    /// Returns the plan of ``run(at:options:)``; `nil` if there is nothing to do.
    package func plan(of url: URL) throws -> Plan? {
        try converting(url) {
            if let format = AtomicFileStore.format(ofType: type) {
                let words = "write the file anew, as a store of the newer model"
                return try AtomicMigration(format, migration()).plan(path: url.path).map {
                    Plan(entities: $0.mapping.lines, steps: [(words, [])], losses: $0.losses)
                }
            }
            guard let plan = try migration().plan(try Self.databaseOptions(StoreSettings(nil), url)) else {
                return nil
            }
            return Plan(
                entities: plan.mapping.lines,
                steps: try plan.steps.map { step in (step.words, try step.texts(in: plan.dialect).map(\.sql)) },
                losses: plan.losses)
        }
    }

    /// Returns ``run(at:options:)`` on a server as a script that a program such as psql runs in one transaction; `nil`
    /// if there is nothing to do.
    package func script(of url: URL) throws -> String? {
        try converting(url) {
            guard let steps = try migration().script(try Self.databaseOptions(StoreSettings(nil), url)) else {
                return nil
            }
            return steps.map { step in
                // A name may have anything in it.
                let words = step.words.split(whereSeparator: \.isNewline).joined(separator: " ")
                return "-- \(words)\n" + step.statements.map { $0 + ";\n" }.joined()
            }.joined(separator: "\n")
        }
    }

    private static func databaseOptions(_ settings: StoreSettings, _ url: URL) throws -> DatabaseOptions {
        guard ServerStores.shared.driver(of: url) != nil else { return settings.storeOptions(path: url.path).database }
        var options = settings.storeOptions(path: nil).database
        options.server = url
        return options
    }

    func migration() throws -> StoreMigration {
        let progress = progress
        var migration = try StoreMigration(
            to: model.makeDocument(), model: try model.freeze(), configuration: configuration,
            encode: { value, attribute in
                let description = NSAttributeDescription()
                description.valueTransformerName = attribute.valueTransformerName
                return try TransformableCoder(description).data(of: value.object)
            },
            findSource: findSource, progress: { try progress(Double($0) / Double(max(1, $1))) },
            makeDatabase: { try SQLStore.makeDatabase($0) })
        migration.lossRule = lossRule
        if let entityNames {
            migration.entities = try model.freeze().entities.filter { entityNames.contains($0.name) }.map(\.ordinal)
        }
        if isFromSourceOnly { migration.onlySource = source?.entityVersionHashesByName }
        return migration
    }

    // MARK: The older model

    /// Searches the caller's model, then the versions beside the model, then all bundles.
    private func findSource(_ hashes: [String: Data]) -> ModelDocument? {
        KnownVersions(model, files: files, models: [source].compactMap { $0 } + known).document(hashes)
    }

    /// The model that the store was made with: the store's own copy, or whatever else has its hashes.
    package func sourceModel(ofStoreAt url: URL) -> NSManagedObjectModel? {
        guard
            let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: type, at: url, options: nil),
            let hashes = NSManagedObjectModel.versionHashes(inStoreMetadata: metadata)
        else { return nil }
        let isDatabase = type == NSSQLiteStoreType || ServerStores.shared.driver(ofType: type) != nil
        let cached = isDatabase ? try? SQLStore.cachedModel(of: url) : nil
        let documents = [cached, findSource(hashes)]
        for document in documents.compactMap({ $0 }) {
            guard let model = try? NSManagedObjectModel(document: document) else { continue }
            if model.has(hashes) { return model }
        }
        return nil
    }

    // MARK: Errors

    func converting<R>(_ url: URL, _ body: () throws -> R) throws -> R {
        let url = ServerStores.shared.shown(url)
        do { return try body() } catch let failure as MigrationFailure {
            throw CoreDataErrors.migration(failure, url: url, model: model)
        } catch let failure as StoreFailure {
            throw CoreDataErrors.store(failure, url: url)
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }
}
