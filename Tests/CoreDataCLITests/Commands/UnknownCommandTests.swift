import Testing

@testable import CoreDataCLI

/// Mistyped commands and options are answered with those that may have been meant.
@Suite struct UnknownCommandTests {
    @Test(arguments: [
        ("hlep", "There is no command 'hlep'. Did you mean 'coredata help'?"),
        ("qurey Shop.sqlite --where x", "There is no command 'qurey'. Did you mean 'coredata query'?"),
        ("modle lint", "There is no command 'modle'. Did you mean 'coredata model'?"),
        ("store inof Shop.sqlite", "There is no command 'store inof'. Did you mean 'coredata store info'?"),
        ("help store inof", "There is no command 'store inof'. Did you mean 'coredata store info'?"),
        ("lint Shop.momd", "There is no command 'lint'. Did you mean 'coredata model lint'?"),
        (
            "verfy Shop.sqlite",
            "There is no command 'verfy'. Did you mean 'coredata store verify' or 'coredata sync verify'?"
        ),
        (
            "compile Shop.momd",
            "There is no command 'compile'. Did you mean 'coredata model compile' or 'coredata mapping compile'?"
        ),
        (
            "migrate xyzzy",
            "There is no command 'migrate xyzzy'. The commands are: check, plan, rollback, run."
        ),
    ])
    func aMistypedCommandIsNamed(line: String, message: String) {
        #expect(UnknownCommand(in: line.split(separator: " ").map(String.init))?.message == message)
    }

    @Test(arguments: ["", "--hlp", "query Shop.sqlite Itm", "store info a b", "help", "help model lint", "store"])
    func wordsThatAreNoCommandsAreLeftAlone(line: String) {
        #expect(UnknownCommand(in: line.split(separator: " ").map(String.init)) == nil)
    }

    /// The parser's message, the command line, and the first line that is printed.
    @Test(
        arguments: [
            ("Unknown option '--hlp'", "--hlp", "Unknown option '--hlp'. Did you mean '--help'?"),
            ("Unknown option '--versoin'", "--versoin", "Unknown option '--versoin'. Did you mean '--version'?"),
            ("Unknown option '--hepl'", "store --hepl", "Unknown option '--hepl'. Did you mean '--help'?"),
            ("Unknown option '--versoin'", "store --versoin", "Unknown option '--versoin'"),
            ("Unknown option '--jsn'. Did you mean '--json'?", "store info S --jsn", nil),
            (
                "Unknown option '--sort'", "qurey S --sort name",
                "There is no command 'qurey'. Did you mean 'coredata query'?"
            ),
            (
                "2 unexpected arguments: 'qurey', 'S'", "qurey S",
                "There is no command 'qurey'. Did you mean 'coredata query'?"
            ),
            ("Unexpected argument 'b'", "store info a b", nil),
            ("Missing expected argument '<store>'", "store info", nil),
        ] as [(String, String, String?)])
    func theFirstLineSaysWhatMayHaveBeenMeant(message: String, line: String, expected: String?) {
        let text = ErrorText.usage(
            "Error: \(message)\nUsage: coredata", of: line.split(separator: " ").map(String.init))
        #expect(text == "error: \(expected ?? message)\nUsage: coredata")
    }

    @Test func theToolSaysIt() throws {
        let run = try CommandRun.coredata("hlep")
        #expect(run.status == 2)
        #expect(run.error.hasPrefix("error: There is no command 'hlep'. Did you mean 'coredata help'?\nUsage: "))
        let help = try CommandRun.coredata("help", "qurey")
        #expect(help.status == 2 && help.error.contains("Did you mean 'coredata query'?"))
    }
}
