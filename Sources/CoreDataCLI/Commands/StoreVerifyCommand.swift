import ArgumentParser
import CoreData
import CoreDataStoreTools
import Foundation

/// The command `coredata store verify`.
struct StoreVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks a store: file, tables, keys and relationships.",
        usage: "coredata store verify [<options>] <store>",
        discussion: """
            Checks the file's integrity, the tables and columns against the model, the numbers of entities, the \
            highest keys handed out, and that every relationship leads to an object of the right entity; of an XML or \
            binary store, whose model --model names, the file, the model and the relationships. Changes nothing.

            Errors are problems: data are lost, or will be. Warnings are for what works, but not as it should, and for what \
            Apple's own apps leave: a one-to-one of which one side is nil, a many-to-many pair with a row that is gone.

            EXIT CODES
              0  sound, perhaps with warnings
              1  problems
              2  not checked: there is no store, or no model for it

            EXAMPLES
              coredata store verify Library.sqlite
              coredata store verify Old.sqlite --model Library.xcdatamodeld --json
            """)

    @Argument(help: "The store's file, or its postgresql:// URL.", completion: .file())
    var store: String

    @OptionGroup var modelOptions: ModelOptions

    @Flag(help: "Print the list as JSON.")
    var json = false

    func run() throws {
        try StoreFile.checkExists(store)
        let found = try model()
        let verification = try NSPersistentStoreCoordinator.verifyPersistentStore(
            at: StoreFile.url(store), model: found.map { try NSManagedObjectModel(document: $0.document) },
            configuration: found?.configuration)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(verification), as: UTF8.self))
        } else {
            for finding in verification.findings { print(finding) }
            print(Self.summary(of: verification, StoreFile.shown(store)))
        }
        if !verification.isPassed { throw ExitCode(1) }
    }

    /// Returns the store's model; `nil` if the store's metadata are damaged, which is reported as a finding.
    private func model() throws -> StoreModel? {
        do { return try modelOptions.resolved(for: store) } catch let error as CocoaError
            where error.code == .fileReadCorruptFile && modelOptions.model == nil
        { return nil }
    }

    /// Returns a summary: `Shop.sqlite: 2 problems, 1 warning`.
    private static func summary(of verification: PersistentStoreVerification, _ store: String) -> String {
        func count(_ severity: PersistentStoreVerification.Severity, _ word: String) -> String? {
            let count = verification.findings.count { $0.severity == severity }
            return count == 0 ? nil : Grouped.text(count, word)
        }
        let warnings = count(.warning, "warning")
        guard let problems = count(.error, "problem") else {
            return "\(store) is sound" + (warnings.map { ", with \($0)" } ?? "")
        }
        return "\(store): " + [problems, warnings].compactMap { $0 }.joined(separator: ", ")
    }
}
