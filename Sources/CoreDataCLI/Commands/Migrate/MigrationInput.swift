import ArgumentParser
import CoreData
import CoreDataModel
import Foundation

/// A store and the model that it is to be of.
struct MigrationInput: ParsableArguments {
    @Argument(help: "The store's file.", completion: .file())
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

    func validate() throws {
        if model == nil { throw ValidationError("Say which model the store is to be of: --model MODEL.") }
    }

    var url: URL { URL(fileURLWithPath: store) }

    func migration() throws -> LightweightMigration {
        try StoreFile.checkExists(store)
        let path = model ?? ""
        let document = try ModelOptions.versions(path).document(named: to, at: path)
        return LightweightMigration(
            to: try NSManagedObjectModel(document: document), configuration: configuration,
            files: [URL(fileURLWithPath: path)])
    }

    /// Where `run` keeps the store as it was.
    static func backup(of store: String) -> URL { URL(fileURLWithPath: store + ".before-migration") }
}
