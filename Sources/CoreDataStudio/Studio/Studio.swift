import CoreDataToolkit
import Foundation

/// A model editor and a store browser as web pages, without the server that sends them.
///
///     let studio = try Studio(model: model, store: store)
///     print(studio.address(port: 8086))          // http://127.0.0.1:8086/?token=…
///     let response = await studio.respond(to: request)
///
/// It answers only to browsers that opened the printed address. A store is opened for reading only unless
/// ``StudioOptions/isWritable`` is set.
public final class Studio: Sendable {
    private let admission = RequestGuard()
    private let router: Router
    private let messages: Messages
    private let browser: StoreBrowser?

    /// The most bytes of a form.
    public static let largestBody = 64 << 20

    /// Opens the model and the store.
    ///
    /// - Parameters:
    ///   - model: an `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`; `nil` for the model of the store.
    ///   - store: the file of a store, or a `postgresql://` URL.
    /// - Throws: an error that says what cannot be opened and why.
    public init(model: URL? = nil, store: URL? = nil, options: StudioOptions = StudioOptions()) throws {
        messages = Messages()
        browser = try store.map { try StoreBrowser(store: $0, model: model, options: options) }
        let source: EditedModel =
            if let model { .file(model) } else if let browser { .store(browser.document) } else { .none }
        let editor = try ModelEditor(source, messages: messages)
        var router = Router()
        Start(hasModel: model != nil || store != nil, hasStore: store != nil).addRoutes(to: &router)
        editor.addRoutes(to: &router)
        StorePages(browser: browser, messages: messages).addRoutes(to: &router)
        self.router = router
    }

    /// Returns the address that a user opens, with the token that admits the browser.
    public func address(host: String = "127.0.0.1", port: Int) -> String {
        "http://\(host):\(port)/?token=\(admission.token)"
    }

    /// Answers a request. Errors become pages.
    public func respond(to request: StudioRequest) async -> StudioResponse {
        var response = await answer(request)
        response.headers += RequestGuard.headers
        if response.header("Cache-Control") == nil { response.headers.append(("Cache-Control", "no-store")) }
        if request.method == "HEAD" { response.body = .bytes(Data()) }
        return response
    }

    /// Ends streams and closes the store.
    public func close() async { await browser?.close() }

    private func answer(_ request: StudioRequest) async -> StudioResponse {
        guard ["GET", "HEAD", "POST"].contains(request.method) else {
            return ErrorPage.response(405, "Studio answers to GET and POST.")
        }
        let query = FormFields(urlEncoded: request.query)
        switch admission.decision(on: request, query: query) {
        case .refused(let status, let text):
            // The page that says so needs its style.
            guard status == 401, let asset = asset(request) else { return ErrorPage.response(status, text) }
            return asset
        case .exchange(let cookie):
            var response = StudioResponse.redirect(to: Self.address(of: request, without: "token", in: query))
            response.headers.append(("Set-Cookie", cookie))
            return response
        case .admitted: break
        }
        if let asset = asset(request) { return asset }
        switch router.outcome(method: request.method, path: request.path) {
        case .missing: return ErrorPage.response(404, "There is no such page.")
        case .otherMethod: return ErrorPage.response(405, "This page cannot be used in this way.")
        case .found(let match): return await answer(request, query, match)
        }
    }

    private func answer(_ request: StudioRequest, _ query: FormFields, _ match: Router.Match) async -> StudioResponse {
        guard request.body.count <= Self.largestBody else { return ErrorPage.response(413, "The form is too large.") }
        let form = request.method == "POST" ? FormFields(body: request) : FormFields()
        if request.method == "POST", !admission.admits(form: form) {
            return ErrorPage.response(
                403, "This form was made before Studio was started again. Go back, reload the page and try again.")
        }
        let visit = Visit(
            request: request, parameters: match.parameters, query: query, form: form,
            formToken: admission.formToken, message: query["message"].flatMap(messages.take))
        do { return try await match.action(visit) } catch let failure as PageFailure {
            return ErrorPage.response(failure.status, failure.message)
        } catch {
            return ErrorPage.response(500, ErrorMessage.text(of: error))
        }
    }

    private func asset(_ request: StudioRequest) -> StudioResponse? {
        guard request.method != "POST", request.path.hasPrefix("/assets/") else { return nil }
        return Assets.response(String(request.path.dropFirst("/assets/".count)))
    }

    private static func address(of request: StudioRequest, without name: String, in query: FormFields) -> Address {
        let parts = request.path.split(separator: "/").compactMap { Address.plain($0) }
        return query.fields.filter { $0.name != name }.reduce(Address(path: parts)) { $0.with($1.name, $1.value) }
    }
}
