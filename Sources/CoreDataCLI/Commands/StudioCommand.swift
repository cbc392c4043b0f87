import ArgumentParser
import Foundation

/// The command `coredata studio`.
struct StudioCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "studio",
        abstract: "Shows a model and a store as web pages on this machine.",
        usage: "coredata studio [<options>] [<model>] [<store>]",
        discussion: """
            Starts the program coredata-studio, which is beside this one or in PATH, and prints the address to open. Only \
            browsers of this machine that have the address are answered. The store is opened for reading only, unless \
            --write is given.

            Options of coredata-studio: --write allows changes to objects; --port NUMBER, 8086 unless it is taken; \
            --model-version NAME, of a model that has several; --infer makes the model from the store's tables; \
            --compare STORE suggests a second store on the page that compares stores.

            EXAMPLES
              coredata studio Shop.xcdatamodeld
              coredata studio Shop.sqlite
              coredata studio Shop.xcdatamodeld Shop.sqlite --write
            """)

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp(
            "The model, the store and the options of coredata-studio.", valueName: "arguments"),
        completion: .file())
    var arguments: [String] = []

    func run() throws {
        // The parser passes all arguments on, also those for help.
        if arguments.contains("--help") || arguments.contains("-h") {
            throw CleanExit.helpRequest(self)
        }
        let url = try CompanionProgram.url(
            of: "coredata-studio", for: "coredata studio",
            hint: "'swift build --package-path Examples --product coredata-studio' builds it.")
        try CompanionProgram.become(url, arguments)
    }
}
