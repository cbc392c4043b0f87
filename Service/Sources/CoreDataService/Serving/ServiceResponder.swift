import CoreData
import CoreDataJSON
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// Answers requests: finds the route, gives every request an ID, every failure a problem, and every answer the headers.
package struct ServiceResponder: HTTPResponder {
    package typealias Context = ServiceRequestContext

    let store: ServedStore
    let metrics: Metrics
    let settings: Settings
    private let objects: ObjectRoutes
    private let values: ValueRoutes
    private let documents: Documents

    /// What an operator sets.
    package struct Settings: Sendable {
        package var name = "Service"
        /// The token that `/metrics` asks for; without one it answers requests of this machine only.
        package var metricsToken: String?
        /// Whether a proxy in front of the service is trusted to tell the client's address in `X-Forwarded-For`.
        package var isBehindProxy = false
        /// Whether ``extra`` has the routes of accounts and files, so that the OpenAPI document describes them.
        package var hasAccounts = false
        /// Whether the pages for links in mails are served.
        package var hasLinkPage = false
        /// Answers requests that are no part of the API; `nil` for a path that it does not know.
        package var extra: (@Sendable (Request, ServiceRequestContext) async throws -> Response?)?

        package init() {}
    }

    /// The answers that never change.
    private struct Documents: Sendable {
        let schema: [UInt8]
        let openAPI: [UInt8]
        let page: [UInt8]
        let style = Array(ModelPage.style.utf8)
        let linkPage: [UInt8]
        let linkScript = Array(LinkPage.script.utf8)
    }

    package init(store: ServedStore, metrics: Metrics = Metrics(), settings: Settings = Settings()) {
        self.store = store
        self.metrics = metrics
        self.settings = settings
        objects = ObjectRoutes(store: store)
        values = ValueRoutes(objects: objects)
        let rules = { store.access.rules(of: $0) }
        documents = Documents(
            schema: JSONWriter.bytes(SchemaDocument.json(store.model, rules: rules)),
            openAPI: JSONWriter.bytes(
                OpenAPIDocument.json(
                    store.model, name: settings.name, limits: store.limits, hasAccounts: settings.hasAccounts)),
            page: Array(ModelPage.html(store.model, name: settings.name, rules: rules).utf8),
            linkPage: Array(LinkPage.html(name: settings.name).utf8))
    }

    package func respond(to request: Request, context: ServiceRequestContext) async throws -> Response {
        let began = ContinuousClock.now
        let requestID = Self.requestID(request)
        let isForwarded = HTTPField.Name.ofProxies.contains { request.headers[$0] != nil }
        var context = context
        if settings.isBehindProxy, let last = request.headers[.forwardedFor]?.split(separator: ",").last {
            // The proxy has added the last one; clients can send the others.
            context.peer = last.trimmingCharacters(in: .whitespaces)
        }
        var route = "other"
        var caller: Caller?
        guard metrics.begin(limit: store.limits.requests) else {
            return finished(.problem(.busy, requestID: requestID), requestID, isPage: false)
        }
        defer { metrics.end() }
        var response: Response
        do {
            let found = try Self.route(request)
            route = found.name
            response = try await answer(found, request, context, isForwarded: isForwarded, &caller)
        } catch is CancellationError { throw CancellationError() } catch {
            response = problem(error, request, requestID, context.logger)
        }
        for field in caller?.renewal ?? [:] { response.headers.append(field) }
        if request.method == .head { response = response.createHeadResponse() }
        let duration = began.duration(to: .now)
        metrics.note(request.method.isKnown ? request.method.rawValue : "other", route, response.status.code, duration)
        let milliseconds =
            Double(duration.components.attoseconds / 1_000_000_000_000) / 1000 + Double(duration.components.seconds)
            * 1000
        // Neither addresses nor values: they may be personal.
        // Refusals are logged in any case, for who looks for attacks.
        let isRefusal = [401, 403, 429].contains(response.status.code)
        context.logger.log(
            level: isRefusal ? .notice : .info, isRefusal ? "refusal" : "request",
            metadata: [
                "id": "\(requestID)", "method": "\(request.method.isKnown ? request.method.rawValue : "other")",
                "route": "\(route)",
                "status": "\(response.status.code)", "ms": "\(milliseconds)", "account": "\(caller?.id ?? "-")",
            ])
        return finished(response, requestID, isPage: route == "/" || route == "/links")
    }

    private func finished(_ response: Response, _ requestID: String, isPage: Bool) -> Response {
        var response = response
        response.headers[.requestID] = requestID
        response.headers.addSecurity(isPage: isPage)
        return response
    }

    /// The client's ID of the request, if it is short and plain, or a new one.
    private static func requestID(_ request: Request) -> String {
        if let id = request.headers[.requestID], (1...64).contains(id.utf8.count),
            id.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x2D || $0 == 0x5F
            })
        {
            return id
        }
        return String(UInt64.random(in: .min ... .max), radix: 36)
    }

    private func problem(_ error: any Error, _ request: Request, _ requestID: String, _ logger: Logger) -> Response {
        if let problem = store.access.problem(error) ?? Problem(error) {
            if problem.type == "store" { logger.error("A store's file is not at its place.") }
            return .problem(problem, requestID: requestID)
        }
        if let error = error as? any HTTPResponseError {
            return .problem(
                Problem(error.status.code, "http", error.status.reasonPhrase, "The request cannot be answered."),
                requestID: requestID)
        }
        // The reason may tell values and files: it is for the log alone.
        logger.error("failure", metadata: ["id": "\(requestID)", "error": "\(error)"])
        return .problem(
            Problem(500, "internal", "The service failed", "The log has the reason, by the ID of the request."),
            requestID: requestID)
    }
}

extension HTTPRequest.Method {
    fileprivate var isKnown: Bool { [.get, .head, .post, .put, .patch, .delete, .options].contains(self) }
}

// MARK: Routes

extension ServiceResponder {
    fileprivate enum Route {
        case page, style, linkPage, linkScript, health, metrics, schema, openAPI, changes, extra
        case collection(String)
        case object(String, String)
        case value(String, String, String)

        /// The name in logs and metrics.
        var name: String {
            switch self {
            case .page: "/"
            case .style: "/style.css"
            case .linkPage: "/links"
            case .linkScript: "/links.js"
            case .health: "/health"
            case .metrics: "/metrics"
            case .schema: "/schema"
            case .openAPI: "/openapi.json"
            case .changes: "/api"
            case .extra: "other"
            case .collection: "/api/{entity}"
            case .object: "/api/{entity}/{id}"
            case .value: "/api/{entity}/{id}/{property}"
            }
        }
    }

    fileprivate static func route(_ request: Request) throws -> Route {
        let path = request.uri.path
        guard path.utf8.count <= 2048 else {
            throw Problem(414, "too-long", "The address is too long", "At most 2048 bytes.")
        }
        switch path {
        case "/": return .page
        case "/style.css": return .style
        case "/links": return .linkPage
        case "/links.js": return .linkScript
        case "/health": return .health
        case "/metrics": return .metrics
        case "/schema": return .schema
        case "/openapi.json": return .openAPI
        case "/api": return .changes
        default: break
        }
        guard path.hasPrefix("/api/") else { return .extra }
        let parts = path.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false).map {
            $0.removingPercentEncoding
        }
        let names = parts.compactMap { $0 }
        guard names.count == parts.count, names.allSatisfy({ !$0.isEmpty }) else { throw Problem.noPage }
        switch names.count {
        case 1: return .collection(names[0])
        case 2: return .object(names[0], names[1])
        case 3: return .value(names[0], names[1], names[2])
        default: throw Problem.noPage
        }
    }

    fileprivate func answer(
        _ route: Route, _ request: Request, _ context: ServiceRequestContext, isForwarded: Bool, _ caller: inout Caller?
    ) async throws -> Response {
        let method = request.method
        func only(_ allowed: HTTPRequest.Method...) throws(Problem) {
            if allowed.contains(method) || method == .head && allowed.contains(.get) { return }
            var names = allowed.map(\.rawValue)
            if allowed.contains(.get) { names.insert("HEAD", at: 1) }
            throw .method(names.joined(separator: ", "))
        }
        switch route {
        case .changes, .collection, .object, .value, .extra: try store.files.check()
        case .page, .style, .linkPage, .linkScript, .health, .metrics, .schema, .openAPI: break
        }
        switch route {
        case .extra:
            if let response = try await settings.extra?(request, context) { return response }
            throw Problem.noPage
        case .page:
            try only(.get)
            return .bytes(documents.page, type: "text/html; charset=utf-8")
        case .style:
            try only(.get)
            return .bytes(documents.style, type: "text/css; charset=utf-8", headers: [.cacheControl: "max-age=3600"])
        case .linkPage, .linkScript:
            guard settings.hasLinkPage else { throw Problem.noPage }
            try only(.get)
            if case .linkPage = route {
                return .bytes(documents.linkPage, type: "text/html; charset=utf-8")
            }
            return .bytes(documents.linkScript, type: "text/javascript; charset=utf-8")
        case .schema:
            try only(.get)
            return .bytes(documents.schema, type: "application/json")
        case .openAPI:
            try only(.get)
            return .bytes(documents.openAPI, type: "application/json")
        case .health:
            try only(.get)
            return try await health()
        case .metrics:
            try only(.get)
            try checkMetrics(request, isLocal: ["127.0.0.1", "::1"].contains(context.peer ?? "") && !isForwarded)
            return .bytes(Array(metrics.text.utf8), type: "text/plain; version=0.0.4; charset=utf-8")
        case .changes:
            try only(.post)
            let caller = try await identify(request, context, &caller)
            return try await objects.changeList(request, caller)
        case .collection(let name):
            let known = try store.entity(named: name)
            if known.isAbstract { try only(.get) } else { try only(.get, .post) }
            let caller = try await identify(request, context, &caller)
            return method == .post
                ? try await objects.create(known, request, caller) : try await objects.list(known, request, caller)
        case .object(let name, let id):
            let entity = try store.entity(named: name)
            try only(.get, .patch, .delete)
            let caller = try await identify(request, context, &caller)
            guard let id = UUID(uuidString: id) else { throw Problem.missing(entity.name) }
            switch method {
            case .patch: return try await objects.update(entity, id, request, caller)
            case .delete: return try await objects.delete(entity, id, request, caller)
            default: return try await objects.read(entity, id, request, caller)
            }
        case .value(let name, let id, let property):
            let entity = try store.entity(named: name)
            try only(.get, .put, .delete)
            let caller = try await identify(request, context, &caller)
            guard let id = UUID(uuidString: id) else { throw Problem.missing(entity.name) }
            switch method {
            case .put: return try await values.write(entity, id, property, request, caller)
            case .delete: return try await values.delete(entity, id, property, request, caller)
            default: return try await values.read(entity, id, property, request, caller)
            }
        }
    }

    private func identify(
        _ request: Request, _ context: ServiceRequestContext, _ caller: inout Caller?
    ) async throws -> Caller {
        let found = try await store.access.caller(of: request, peer: context.peer)
        caller = found
        return found
    }

    // MARK: Operation

    /// Answers `GET` of a path without a connection, for a check at the start; returns the status.
    package func check(_ path: String) async -> Int {
        do {
            switch path {
            case "/health": return try await health().status.code
            case "/schema": return documents.schema.isEmpty ? 500 : 200
            case "/openapi.json": return (try? JSONParser.parse(documents.openAPI)) == nil ? 500 : 200
            default: return documents.page.isEmpty ? 500 : 200
            }
        } catch { return 500 }
    }

    /// Reads the store: a service that cannot is not healthy.
    private func health() async throws -> Response {
        let coordinator = store.coordinator
        let name = store.model.names.first ?? ""
        let context = ServedContext(coordinator)
        let isReadable = try await context.result {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: name)
            request.resultType = .managedObjectIDResultType
            request.fetchLimit = 1
            return (try? context.fetch(request)) != nil
        }
        let isHealthy = isReadable && store.files.areInPlace
        return .json(["status": isHealthy ? "ok" : "failing"], status: isHealthy ? .ok : .serviceUnavailable)
    }

    private func checkMetrics(_ request: Request, isLocal: Bool) throws(Problem) {
        if let token = settings.metricsToken {
            guard let sent = request.headers[.authorization], Self.areEqual(sent, "Bearer " + token) else {
                throw .noPage
            }
            return
        }
        guard isLocal else { throw .noPage }
    }

    /// Compares in a time that does not depend on the place of the difference.
    private static func areEqual(_ a: String, _ b: String) -> Bool {
        let (a, b) = (Array(a.utf8), Array(b.utf8))
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
