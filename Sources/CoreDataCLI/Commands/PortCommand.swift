import ArgumentParser

/// The command `coredata port`.
struct PortCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "port",
        abstract: "Rewrites Swift sources for Apple's Core Data so that they compile here.",
        usage: "coredata port [<options>] <path>",
        discussion: """
            Rewrites what needs the Objective-C runtime or a module that exists on Apple's platforms only: @objc, \
            #keyPath, #selector of observers and properties, override init(entity:insertInto:), overrides in \
            extensions, imports; adds imports that are missing. Everything else stays byte for byte; what is in \
            #if canImport(UIKit), #if os(macOS) and the like, too. Lists each change and what cannot be \
            changed, with file, line and column. Sources of one module are ported together. Declarations that need a \
            user interface are put in #if canImport(UIKit), and a file of which nothing else is left is left out. Models go \
            to --output as they are.

            Without --output and --in-place it lists and writes nothing. To compile one source tree on both sides \
            use the build plug-in CoreDataPortPlugin instead.

            The program coredata-port does the work; make install puts it beside coredata.

            EXAMPLES
              coredata port Sources/Model
              coredata port Sources/Model --output Ported/Model
              coredata port Sources/Model --in-place
              coredata port Sources/Model --check
              coredata port Sources/Model --json | jq '.files[].remarks[].message'
            """)

    @Argument(help: "A Swift file, or a folder with all Swift files of a module.", completion: .file())
    var path: String

    @Option(help: "Write the sources to this folder, changed or not.")
    var output: String?

    @Flag(help: "With --output: replace what is there.")
    var force = false

    @Flag(help: "Write each changed source to its own file, in one step.")
    var inPlace = false

    @Flag(help: "Write nothing; exit with 1 when something would change, or must be seen to by hand.")
    var check = false

    @Flag(help: "Print the changes, what is left out and why as JSON.")
    var json = false

    func validate() throws {
        if [output != nil, inPlace, check].count(where: { $0 }) > 1 {
            throw ValidationError("Give one of --output, --in-place and --check.")
        }
        if force, output == nil { throw ValidationError("--force goes with --output.") }
    }

    func run() throws {
        var arguments = ["port", path.hasPrefix("-") ? "./" + path : path]
        if let output { arguments += ["--output", output] }
        if force { arguments.append("--force") }
        if inPlace { arguments.append("--in-place") }
        if check { arguments.append("--check") }
        if json { arguments.append("--json") }
        try PortTool(for: "coredata port").run(arguments)
    }
}
