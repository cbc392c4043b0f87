import ArgumentParser
import CoreData
import Foundation

/// `--model` and `--model-version`, wherever a command needs a model.
struct ModelOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The model: an .xcdatamodeld, .xcdatamodel, .momd or .mom. Without it the model that the store keeps a copy of.",
            valueName: "model"))
    var model: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The version of a model that has several, e.g. 'Model 2'. Without it the current version.",
            valueName: "name"))
    var modelVersion: String?

    func validate() throws {
        if modelVersion != nil, model == nil {
            throw ValidationError("--model-version chooses a version of the model that --model names; give both.")
        }
    }

    /// The model that the options name; `nil` without `--model`.
    func named() throws -> NSManagedObjectModel? {
        guard let model else { return nil }
        guard FileManager.default.fileExists(atPath: model) else { throw ToolFailure("There is no model at \(model).") }
        return try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: model), version: modelVersion)
    }

    /// The model that the options name, else the one that the store keeps a copy of.
    func resolved(for store: String) throws -> NSManagedObjectModel {
        if let model = try named() { return model }
        do {
            return try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: URL(fileURLWithPath: store))
        } catch {
            throw ToolFailure("\(ErrorText.describe(error))\n--model names it.")
        }
    }
}
