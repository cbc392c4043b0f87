import Foundation

#if PostgreSQL
    import CoreDataPostgreSQL
#endif

/// The program `coredata-studio`: the model editor and store browser on one's own machine.
@main
enum Program {
    static func main() async {
        do {
            #if PostgreSQL
                PostgreSQLStore.register()
            #endif
            var arguments = try StudioArguments(CommandLine.arguments.dropFirst())
            if arguments.wantsHelp { return print(StudioArguments.usage) }
            if arguments.wantsDemo { arguments.show(try await Demo.make()) }
            try await StudioServer(arguments).run { address in
                print("Studio is at \(address)")
                print("It is for this machine only. Ctrl-C ends it.")
                fflush(nil)
            }
        } catch {
            let text = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
            FileHandle.standardError.write(Data("error: \(text)\n".utf8))
            exit(2)
        }
    }
}
