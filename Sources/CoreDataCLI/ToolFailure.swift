import CoreData
import CoreDataModel
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// An error that stops a command: one message for people on standard error; the tool then exits with 2. Errors of the
/// toolkit are shown unchanged.
typealias ToolFailure = ToolkitError

/// Converts errors to the message that a user reads.
enum ErrorText {
    /// Returns the message as printed, with one "error:" prefix.
    static func headed(_ error: any Error) -> String {
        let text = describe(error) + (recovery(for: error).map { "\n\($0)" } ?? "")
        // `Library.xcdatamodel/contents:3:5: error: …` already has the prefix after its location.
        let isHeaded = text.hasPrefix("error: ") || text.prefixMatch(of: #/[^\n]*:\d+(:\d+)?: error: /#) != nil
        return isHeaded ? text : "error: \(text)"
    }

    /// Returns an error in the command line with the usual prefix, and a suggestion.
    ///
    /// - Parameter arguments: the command line, without the program's name.
    static func usage(_ message: String, of arguments: [String] = []) -> String {
        guard message.hasPrefix("Error: ") else { return message }
        let text = message.dropFirst("Error: ".count)
        let line = text.prefix { $0 != "\n" }
        return "error: " + corrected(line, of: arguments) + text[line.endIndex...]
    }

    /// Returns the parser's message, with a suggestion if it has none.
    private static func corrected(_ line: Substring, of arguments: [String]) -> String {
        let option = line.prefixMatch(of: #/Unknown option '(--[^']+)'/#)?.1
        guard option != nil || line.contains(#/^(Unexpected argument|\d+ unexpected arguments)/#) else {
            return String(line)
        }
        // If the command is unknown, its options are unknown too.
        if let unknown = UnknownCommand(in: arguments) { return unknown.message }
        guard let option, !line.contains("Did you mean") else { return String(line) }
        // The options of the parser itself, and of the tool.
        let names = ["--help"] + (arguments.first.map { $0 == option } ?? false ? ["--version"] : [])
        let near = Suggestion.nearest(to: String(option), among: names)
        return line + (near.map { ". Did you mean '\($0)'?" } ?? "")
    }

    /// Returns a hint how to recover a store whose file starts like a database but cannot be read; `nil` for any other
    /// error.
    private static func recovery(for error: any Error) -> String? {
        let error = error as NSError
        guard error.domain == NSCocoaErrorDomain, error.code == CocoaError.Code.fileReadCorruptFile.rawValue else {
            return nil
        }
        let store = (error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore])?.first?.url
        let path = error.userInfo[NSFilePathErrorKey] as? String ?? store.flatMap { $0.isFileURL ? $0.path : nil }
        // More specific errors name the command themselves.
        guard let path, !describe(error).contains("coredata store recover") else { return nil }
        let isOneFile = StoreFile.typeOfOneFile(path) != nil
        guard isOneFile || StoreFile.isDatabase(path) else { return nil }
        return "Restore a backup, or make a new store of what can be read: coredata store recover \(path) NEW"
            + (isOneFile ? " --model MODEL" : "")
    }

    /// Returns the message of the error, with each nested error on its own line.
    static func describe(_ error: any Error) -> String {
        if let failure = error as? ModelFailure { return failure.diagnostics.map(\.rendered).joined(separator: "\n") }
        return ErrorMessage.text(of: error)
    }
}
