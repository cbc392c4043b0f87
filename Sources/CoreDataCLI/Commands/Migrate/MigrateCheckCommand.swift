import ArgumentParser
import CoreData
import CoreDataModel
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The command `coredata migrate check`.
struct MigrateCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Finds out whether stores of every version of a model can be migrated to the current one.",
        usage: "coredata migrate check [<options>] <model>",
        discussion: """
            Makes a store of each version, with objects whose values are made up, migrates it and verifies it. Exits \
            with 1 if one cannot be migrated; for continuous integration.

            EXAMPLES
              coredata migrate check Library.xcdatamodeld
              coredata migrate check Library.momd --to 'Library 4'
            """)

    @Argument(help: "The model: an .xcdatamodeld or .momd.", completion: .file())
    var model: String

    @Option(
        help: ArgumentHelp("The version to migrate to. Without it the current one.", valueName: "version"))
    var to: String?

    @Option(help: ArgumentHelp("How many objects of each entity.", valueName: "number"))
    var objects = 20

    @Flag(help: "Print the results as JSON.")
    var json = false

    func validate() throws {
        if objects < 0 { throw ValidationError("--objects takes a number from 0 up.") }
    }

    func run() throws {
        let versions = try ModelOptions.versions(model)
        let target = try versions.target(named: to, at: model)
        let name = to ?? versions.currentName
        var results: [Result] = []
        for version in versions.versions where version.name != name {
            let problem = try check(version, target)
            // Each check takes some time, so print its result at once.
            if !json { print("\(version.name) → \(name): \(problem ?? "ok")") }
            results.append(Result(from: version.name, to: name, isMigrated: problem == nil, problem: problem))
        }
        if json {
            print(try JSONOutput.text(results))
        } else if versions.versions.count < 2 {
            print("\(model) has one version only: there is nothing to migrate from")
        }
        if !results.allSatisfy(\.isMigrated) { throw ExitCode(1) }
    }

    private struct Result: Encodable {
        var from: String
        var to: String
        var isMigrated: Bool
        /// The reason why stores of the version cannot be migrated.
        var problem: String?
    }

    /// - Returns: the reason why stores of the version cannot be migrated; `nil` if they can.
    private func check(_ version: ModelVersions.Version, _ target: ModelDocument) throws -> String? {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Store.sqlite")
        do {
            try fill(store, version.document)
            let migration = LightweightMigration(
                to: try NSManagedObjectModel(document: target), configuration: nil)
            try migration.run(at: store, options: nil)
            let verification = try NSPersistentStoreCoordinator.verifyPersistentStore(at: store)
            return verification.isPassed ? nil : verification.findings.map(\.description).joined(separator: "; ")
        } catch let error as CocoaError {
            return ErrorText.describe(error)
        }
    }

    private func fill(_ store: URL, _ document: ModelDocument) throws {
        let model = try StoreModel(document: document).makeModel()
        let opened = try OpenStore(creating: store.path, model: model)
        let context = opened.makeContext()
        defer { for store in opened.coordinator.persistentStores { try? opened.coordinator.remove(store) } }
        let names = model.entities.filter { !$0.isAbstract }.compactMap(\.name)
        var generator = TestDataGenerator(opened.coordinator)
        // Save everything at once.
        generator.batchSize = .max
        do {
            _ = try generator.fill(
                context, Dictionary(uniqueKeysWithValues: names.map { ($0, objects) }), makesAllUnique: true)
        } catch {
            // Validation rules may be too complex for generated data; an empty store still tests the schema.
            Terminal.note(
                "note: an empty store of '\(document.name ?? "")' was migrated: \(ErrorText.describe(error))")
        }
    }
}
