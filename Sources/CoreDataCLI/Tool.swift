import ArgumentParser
import CoreData
import Foundation

#if PostgreSQL
    import CoreDataPostgreSQL
#endif

/// The command line of OpenCoreData.
///
/// The exit code is 0 on success, 1 if a command found problems in data, and 2 if it failed.
struct Tool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coredata",
        abstract: "Looks into Core Data stores, moves data in and out of them, and checks them.",
        discussion: """
            Every command reads stores that Apple's Core Data wrote, and writes stores that it opens. coredata --version \
            prints the version.

            EXAMPLES
              coredata store info Library.sqlite
              coredata query Library.sqlite
              coredata query Library.sqlite Book --where 'year > 1960' --sort -year
              coredata import Library.sqlite --entity Book --unique Book.isbn books.csv
              coredata export Library.sqlite --output Library.json
              coredata store copy Library.sqlite Library.xml

            EXIT CODES
              0  done
              1  done, and something is wrong in the data: see the list
              2  not done: see the message
            """,
        subcommands: [
            ModelCommand.self, StoreCommand.self, QueryCommand.self, ImportCommand.self, ExportCommand.self,
            GenerateDataCommand.self, HistoryCommand.self, SyncCommand.self, MigrateCommand.self, MappingCommand.self,
            PortCommand.self, StudioCommand.self,
        ])

    /// The output of `--version`: the version of this package, and of Apple's framework whose behaviour it follows.
    static let versionText = "coredata \(ToolVersion.text) (behaves as Core Data \(Int(NSCoreDataVersionNumber)))"
}

/// The version of the package; CHANGELOG.md lists its changes.
enum ToolVersion {
    static let text = "0.1.0-dev"
}

@main
enum Main {
    static func main() {
        Terminal.occupyDescriptors()
        #if PostgreSQL
            PostgreSQLStore.register()
        #endif
        let code = run()
        // Writing the buffered output may have failed.
        do { try Terminal.finishOutput() } catch {
            Terminal.note(ErrorText.headed(error))
            exit(2)
        }
        exit(code)
    }

    /// - Returns: the exit code.
    private static func run() -> Int32 {
        // It is not an option of the parser, which would also accept it for commands with a `--version` of their own.
        if CommandLine.arguments.dropFirst().first == "--version" {
            print(Tool.versionText)
            return 0
        }
        let arguments = Array(CommandLine.arguments.dropFirst())
        // The parser shows the help of the known part, and ignores the rest.
        if arguments.first == "help", let unknown = UnknownCommand(in: arguments) {
            Terminal.note("error: \(unknown.message)")
            return 2
        }
        do {
            var command = try Tool.parseAsRoot()
            try command.run()
            return 0
        } catch let code as ExitCode {
            return code.rawValue
        } catch {
            let code = Tool.exitCode(for: error)
            if code.isSuccess {
                // The user asked for help.
                print(Tool.fullMessage(for: error))
                return 0
            }
            let isUsage = code == .validationFailure
            Terminal.note(
                isUsage ? ErrorText.usage(Tool.fullMessage(for: error), of: arguments) : ErrorText.headed(error))
            return 2
        }
    }
}
