import CoreData
import CoreDataAccounts
import CoreDataPermissions
import Foundation
import Hummingbird
import Logging

/// A service as a program: opens its stores, prints its address, and ends as it is asked to.
///
///     var options = ServiceProgram.Options(model: modelURL, store: "/var/lib/groceries.sqlite")
///     options.rules = { $0.allow(.read, "Item", "signedIn") }
///     try await ServiceProgram(options).run()
///
/// `coredata-service` is this with options from its arguments.
public final class ServiceProgram: Sendable {
    /// What is served, and where.
    public struct Options: Sendable {
        /// The model: an `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
        public var model: URL
        /// The store: a file, or `postgresql://…`.
        public var store: String
        /// The store of accounts; `nil` for a file beside the store.
        public var accounts: String?
        /// The address to listen on.
        public var host = "127.0.0.1"
        /// The port to listen on; 0 for any free one.
        public var port = 8080
        /// Whether a store of an older version of the model is migrated; otherwise it is refused.
        public var migrates = true
        /// The token that `/metrics` asks for; without one it answers requests of this machine only.
        public var metricsToken: String?
        /// Whether a proxy in front of the service is trusted to tell the client's address in `X-Forwarded-For`. It
        /// must use TLS: cookies of sessions are then `Secure`.
        public var isBehindProxy = false
        /// The command that sends a mail, which it gets on its standard input: `/usr/sbin/sendmail -t -i`. Without one
        /// there are no e-mail addresses.
        public var mailCommand: String?
        /// The sender of mails: `Groceries <no-reply@example.com>`.
        public var mailSender: String?
        /// The page to which links in mails lead, with the token behind `#`: the service's own is at `/links`.
        public var linkPage: URL?
        /// Whether a line is written for each request.
        public var isVerbose = false
        /// The cost that a request may have.
        public var limits = ServiceLimits()
        /// The folder of the replicas through which devices synchronise with the store; `nil` for a service that does
        /// not offer it.
        public var syncFolder: URL?
        /// Rules that replace those of the model, key by key.
        public var rules: (@Sendable (inout AccessRules.Builder) -> Void)?

        /// Makes the options of a service on port 8080 of this machine.
        public init(model: URL, store: String) {
            self.model = model
            self.store = store
        }
    }

    private let options: Options
    private let responder: ServiceResponder
    private let logger: Logger
    private let store: URL
    private let accounts: Accounts
    private let hub: SyncHub?

    /// Opens the stores: makes them, or migrates an older one.
    ///
    /// - Throws: an error that says what to add to a model that cannot be served; the errors of opening a store.
    public init(_ options: Options) async throws {
        self.options = options
        var logger = Logger(label: "coredata-service") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = options.isVerbose ? .info : .notice
        self.logger = logger
        let model = try NSManagedObjectModel.load(contentsOf: options.model)
        store = try StoreOpening.url(options.store)
        let accountsStore = try StoreOpening.url(try options.accounts ?? Self.accountsPlace(store))
        guard
            accountsStore.standardizedFileURL.resolvingSymlinksInPath()
                != store.standardizedFileURL.resolvingSymlinksInPath()
        else {
            throw StoreOpening.Failure(description: "--accounts and --store name the same store: each needs its own.")
        }
        let rules = try AccessRules(model) { builder in options.rules?(&builder) }
        let served = try ServedModel(model, decimalDigits: store.isFileURL ? 15 : 38) {
            AccountAccess.isOpen($0, rules)
        }
        let (coordinator, opened) = try await StoreOpening.open(
            model, at: store, migrates: options.migrates)
        let name = options.model.deletingPathExtension().lastPathComponent
        accounts = try Accounts(at: accountsStore, delivery: try Self.delivery(options, name))
        var credentials = SessionCredentials()
        credentials.usesTLS = options.isBehindProxy
        let access = AccountAccess(
            coordinator: coordinator, rules: rules, accounts: accounts, credentials: credentials)
        var settings = ServiceResponder.Settings()
        settings.name = name
        settings.hasAccounts = true
        settings.hasLinkPage = options.mailCommand != nil
        settings.metricsToken = options.metricsToken
        settings.isBehindProxy = options.isBehindProxy
        let routes = AccountRoutes(accounts, credentials: credentials, limits: options.limits)
        let places = PlaceRoutes(accounts: accounts, limits: options.limits, access: access)
        let watcher = PlaceWatcher()
        if let folder = options.syncFolder {
            hub = try SyncHub(
                SyncHub.Settings(folder: folder), coordinator: coordinator, store: opened, model: served, rules: rules,
                accounts: accounts, logger: logger
            ) { watcher.announce($0) }
        } else {
            hub = nil
        }
        let devices: HubRoutes? =
            if let hub {
                HubRoutes(hub: hub, accounts: accounts, watcher: watcher, limits: options.limits, access: access)
            } else { nil }
        settings.extra = { request, context in
            if let response = try await routes.answer(request, context) { return response }
            if let response = try await devices?.respond(to: request, context: context) { return response }
            return try await places.respond(to: request, context: context)
        }
        responder = ServiceResponder(
            store: ServedStore(
                coordinator: coordinator, store: opened, model: served, access: access,
                limits: options.limits, accounts: accountsStore),
            settings: settings)
    }

    /// Serves until SIGINT, SIGTERM, or the end of the task. Requests that have begun may end.
    public func run() async throws {
        let (host, name) = (
            options.host == "0.0.0.0" ? "localhost" : options.host, StoreOpening.shown(store)
        )
        let served = responder.store.model
        for omission in served.omissions {
            let subject = [omission.entity, omission.property].compactMap { $0 }.joined(separator: ".")
            logger.warning("\(subject) is not served: \(omission.reason)")
        }
        for omission in hub?.omissions ?? [] {
            logger.warning(
                "\(omission.entity).\(omission.property ?? "") does not reach the store from devices: \(omission.reason)"
            )
        }
        await hub?.start()
        let result: Result<Void, any Error>
        do {
            try await HTTPService(
                responder: responder, host: options.host, port: options.port, logger: logger
            ).run(
                stopsAtSignals: true
            ) { port in
                print(
                    "\(served.names.count) entities of \(name) are at http://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
                )
                fflush(nil)
            }
            result = .success(())
        } catch { result = .failure(error) }
        await hub?.stop()
        try result.get()
        print("The service has ended.")
    }

    /// The delivery of mails; `nil` without a command.
    private static func delivery(_ options: Options, _ name: String) throws -> MailCommand? {
        guard let command = options.mailCommand else { return nil }
        guard let sender = options.mailSender, sender.contains("@"), !sender.contains(where: \.isNewline) else {
            throw StoreOpening.Failure(description: "--mail-command needs --mail-from with the address of the sender.")
        }
        guard let page = options.linkPage, let scheme = page.scheme, ["https", "http"].contains(scheme),
            page.fragment == nil
        else {
            throw StoreOpening.Failure(
                description:
                    "--mail-command needs --link-page with the address of the page for links, such as https://example.com/links"
            )
        }
        return MailCommand(command, text: MailText(sender: sender, service: name, page: page))
    }

    /// The store of accounts beside a store in a file.
    private static func accountsPlace(_ store: URL) throws -> String {
        guard store.isFileURL else {
            throw StoreOpening.Failure(
                description: "--accounts: a store on a server needs a place for its accounts.")
        }
        return store.deletingPathExtension().path + "-accounts.sqlite"
    }

    /// Answers a request for each document, without a port; returns what was checked.
    public func check() async throws -> String {
        var checked = 0
        for path in ["/health", "/schema", "/openapi.json", "/"] {
            let answer = await responder.check(path)
            guard answer == 200 else {
                throw StoreOpening.Failure(description: "GET \(path) was answered by \(answer)")
            }
            checked += 1
        }
        return
            "\(responder.store.model.names.count) entities, \(checked) documents: the service can run."
    }

    /// The reason of a failure, for a person.
    public static func words(_ error: any Error) -> String {
        (error as? CocoaError)?.localizedDescription ?? "\(error)"
    }
}
