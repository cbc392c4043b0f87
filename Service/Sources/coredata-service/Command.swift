import ArgumentParser
import CoreDataService
import Foundation

/// `coredata-service --model Groceries.xcdatamodeld --store groceries.sqlite`
@main struct Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coredata-service",
        abstract: "Serves a Core Data model to many people over HTTP.",
        discussion: """
            The model says who may do what, in the userInfo of its entities: allow.read = signedIn. An entity without rules is closed.
            Stop the service with Ctrl-C or SIGTERM: it ends the requests that it has begun.
            """)

    @Option(help: "The model: an .xcdatamodeld, .xcdatamodel, .momd or .mom.")
    var model: String

    @Option(help: "The store: a file, which is made if it does not exist, or postgresql://….")
    var store: String

    @Option(help: "The store of accounts and groups; by default a file beside the store.")
    var accounts: String?

    @Option(
        name: .customLong("sync"),
        help: "Let devices synchronise with the store: a folder for the service's replica of each account.")
    var syncFolder: String?

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for any free one.")
    var port = 8080

    @Flag(help: "Open the store, answer a request for each document, and end.")
    var check = false

    @Flag(name: .customLong("no-migration"), help: "Refuse a store of an older version of the model.")
    var forbidsMigration = false

    @Option(help: "The token that /metrics asks for; better set as METRICS_TOKEN in the environment.")
    var metricsToken: String?

    @Flag(name: .customLong("behind-proxy"), help: "Trust the address that a proxy adds to X-Forwarded-For.")
    var isBehindProxy = false

    @Option(help: "The command that sends a mail, which it reads from its standard input: '/usr/sbin/sendmail -t -i'.")
    var mailCommand: String?

    @Option(help: "The sender of mails: 'Groceries <no-reply@example.com>'.")
    var mailFrom: String?

    @Option(help: "The page to which links in mails lead: 'https://example.com/links', which is this service's own.")
    var linkPage: String?

    @Flag(help: "Write a line for each request.")
    var verbose = false

    func validate() throws {
        guard (0...65535).contains(port) else {
            throw ValidationError("--port is a number from 0 to 65535.")
        }
    }

    func run() async throws {
        var options = ServiceProgram.Options(model: URL(fileURLWithPath: model), store: store)
        options.accounts = accounts
        options.syncFolder = syncFolder.map { URL(fileURLWithPath: $0) }
        options.host = host
        options.port = check ? 0 : port
        options.migrates = !forbidsMigration
        options.metricsToken = metricsToken ?? ProcessInfo.processInfo.environment["METRICS_TOKEN"]
        options.isBehindProxy = isBehindProxy
        options.mailCommand = mailCommand
        options.mailSender = mailFrom
        options.linkPage = linkPage.flatMap { URL(string: $0) }
        options.isVerbose = verbose
        do {
            let program = try await ServiceProgram(options)
            if check { return print(try await program.check()) }
            try await program.run()
        } catch let error as ExitCode { throw error } catch {
            FileHandle.standardError.write(Data("error: \(ServiceProgram.words(error))\n".utf8))
            throw ExitCode(1)
        }
    }
}
