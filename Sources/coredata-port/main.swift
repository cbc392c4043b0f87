import CoreDataPorting
import CoreDataPrimitives
import Foundation

// The program of the package that reads Swift, so that none of the others needs swift-syntax.
//
//     coredata-port copy SOURCE COPY [SOURCE COPY …] [--beside SOURCE …]      the plug-in CoreDataPortPlugin
//     coredata-port port PATH [--output FOLDER [--force] | --in-place | --check] [--json]     coredata port
//     coredata-port declarations FILE                                         coredata model …, of a model in Swift
//
// Exits with 0 when all is well, 1 when --check finds something to change or to see to, 2 when it could not do its
// work.

let usage = """
    usage: coredata-port copy SOURCE COPY … [--beside SOURCE …]
           coredata-port port PATH [--output FOLDER [--force] | --in-place | --check] [--json]
           coredata-port declarations FILE
    """

func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "copy": try SourceCopies(arguments: arguments.dropFirst()).run()
    case "port": if try !SourceRewriting(arguments: arguments.dropFirst()).run() { exit(1) }
    case "declarations": try DeclarationListing(arguments: arguments.dropFirst()).run()
    case "--help", "-h", "help": print(usage)
    default: throw UsageFailure()
    }
} catch is UsageFailure {
    say(usage)
    exit(64)
} catch let error as PortFailure {
    say("error: \(error.message)")
    exit(2)
} catch {
    let error = error as NSError
    say("error: \(error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription)")
    exit(2)
}
