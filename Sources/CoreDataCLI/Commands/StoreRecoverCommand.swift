import ArgumentParser
import CoreData
import CoreDataStoreTools
import Foundation

/// The command `coredata store recover`.
struct StoreRecoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Makes a new store of what can be read of a damaged one.",
        usage: "coredata store recover [<options>] <store> <output>",
        discussion: """
            Reads every object by its key and leaves out those that cannot be read; prints for each entity how many \
            objects are in the new store, and what is missing. The new store is of the type of the damaged one, which is not \
            changed. Exits with 1 when \
            something is missing.

            EXAMPLES
              coredata store recover Damaged.sqlite Library.sqlite
              coredata store recover Damaged.sqlite New.sqlite --model Library.xcdatamodeld
            """)

    @Argument(help: "The damaged store's file.", completion: .file())
    var store: String

    @Argument(help: "The new store's file, which must not exist.", completion: .file())
    var output: String

    @OptionGroup var modelOptions: ModelOptions

    @Flag(help: "Print the list as JSON.")
    var json = false

    func run() throws {
        guard !StoreFile.isOnServer(store), !StoreFile.isOnServer(output) else {
            throw ToolFailure(
                "store recover reads damaged files, and makes one. What is on a server the server's own backups bring back; coredata store copy brings what was recovered there."
            )
        }
        try StoreFile.checkExists(store)
        try StoreFile.checkIsFree(output)
        let (type, named) = (StoreTools.type(ofStoreAt: StoreFile.url(store)), StoreFile.type(named: output).rawValue)
        guard type == named else {
            throw ToolFailure(
                "What is recovered of \(store) is a store of type \(type), as that is, and \(output) is the name of one of type \(named): give it another name. coredata store copy makes stores of other types."
            )
        }
        let file = try WholeFile(of: store)
        defer { file.remove() }
        let found = try model(of: file.path)
        let recovery: PersistentStoreRecovery
        do {
            recovery = try NSPersistentStoreCoordinator.recoverPersistentStore(
                at: URL(fileURLWithPath: file.path), to: URL(fileURLWithPath: output),
                model: found.map { try NSManagedObjectModel(document: $0.document) },
                configuration: found?.configuration)
        } catch let error as CocoaError {
            // Errors of other commands suggest this command.
            guard found == nil, StoreFile.isDatabase(file.path) else { throw ToolFailure(ErrorText.describe(error)) }
            throw ToolFailure("\(ErrorText.describe(error))\nWith --model it may be readable: name the store's model.")
        }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(recovery), as: UTF8.self))
        } else {
            for entity in recovery.entities { print(entity) }
            for note in recovery.notes { print("note: \(note)") }
            print(recovery.isComplete ? "\(output) has everything" : "\(output) has what could be read")
        }
        if !recovery.isComplete { throw ExitCode(1) }
    }

    /// Returns the model that fits the store. If damage prevents the check, it is the model that the user named, or the
    /// rest of the cached model.
    private func model(of file: String) throws -> StoreModel? {
        if let found = try? modelOptions.resolved(for: file) { return found }
        guard let path = modelOptions.model else { return nil }
        let versions = try ModelOptions.versions(path)
        return StoreModel(document: try versions.document(named: modelOptions.modelVersion, at: path))
    }
}
