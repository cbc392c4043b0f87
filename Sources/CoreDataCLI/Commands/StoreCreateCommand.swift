import ArgumentParser
import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The command `coredata store create`.
struct StoreCreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Makes an empty store from a model.",
        usage: "coredata store create [<options>] <store> --model <model>",
        discussion: """
            The store has the layout that Apple's Core Data makes of the model, and keeps a copy of the model. A name that \
            ends in .xml makes an XML store, one in .binary or .bin a binary store, which keep no copy.

            EXAMPLES
              coredata store create Library.sqlite --model Library.xcdatamodeld
              coredata store create Old.sqlite --model Library.xcdatamodeld \\
                --model-version 'Library 2'
              coredata store create Empty.sqlite --model Full.sqlite
            """)

    @Argument(help: "The file to make, or a postgresql:// URL; there must be no store yet.", completion: .file())
    var store: String

    @Option(
        help: ArgumentHelp(
            """
            The model: an .xcdatamodeld, .xcdatamodel, .momd, .mom, .json or .swift, or another store, of which the copy of \
            its model is taken.
            """, valueName: "model"), completion: .file())
    var model: String?

    @Option(
        help: ArgumentHelp(
            "The version of a model that has several, e.g. 'Model 2'. Without it the current version.",
            valueName: "name"))
    var modelVersion: String?

    @Flag(help: "Have the store record its history.")
    var history = false

    @Flag(help: "Print what was made as JSON.")
    var json = false

    func validate() throws {
        if model == nil { throw ValidationError("A new store needs a model: --model MODEL.") }
    }

    func run() throws {
        guard let path = model else { return }
        let type = StoreFile.type(named: store)
        guard !history || type == .sqlite else {
            throw ToolFailure("\(store) would be a store of type \(type.rawValue), which records no history.")
        }
        let document = try ModelOptions.versions(path).document(named: modelVersion, at: path)
        let model = try NSManagedObjectModel(document: document)
        let opened = try OpenStore(creating: store, model: model, withHistory: history)
        guard let made = opened.coordinator.persistentStores.first else { return }
        let uuid: String = made.identifier ?? ""
        if json {
            print(
                #"{"path": \#(JSONText.quoted(StoreFile.shown(store))), "uuid": "\#(uuid)", "entities": \#(model.entities.count)}"#
            )
        } else {
            print(
                "Made \(StoreFile.shown(store)) with \(Grouped.text(model.entities.count, "entity", many: "entities")), UUID \(uuid)"
            )
        }
    }
}
