import CoreDataAccounts
import Foundation
import HTTPTypes
import Hummingbird

/// Answers requests of administrators.
///
/// ```
/// GET     /accounts                        after?, limit?
/// PATCH   /accounts/<id>                   isAdministrator?, isSuspended?
/// POST    /accounts/<id>/password-reset    the token of a link for a new password
/// DELETE  /accounts/<id>/sessions
/// GET     /events                          account?, before?, limit?
/// ```
struct AdministrationRoutes: Sendable {
    let accounts: Accounts

    func answer(_ call: AccountCall, _ path: [String]) async throws -> Response? {
        switch (path[0], path.count) {
        case ("accounts", 1):
            guard call.method == .get else { throw Problem.method("GET, HEAD, POST") }
            let who = try await call.authenticated()
            let query = call.request.uri.queryParameters
            return try who.json(
                try await accounts.accounts(
                    by: who.account.id, after: query["after"].map(String.init),
                    limit: try EventQuery.limit(query["limit"], default: 50)))
        case ("accounts", 2):
            guard call.method == .patch else { throw Problem.method("PATCH") }
            return try await change(call, try Self.id(path[1]))
        case ("accounts", 3) where path[2] == "password-reset":
            guard call.method == .post else { throw Problem.method("POST") }
            let who = try await call.authenticated()
            let token = try await accounts.makePasswordReset(
                for: try Self.id(path[1]), by: who.account.id, from: call.client())
            return try who.json(TokenAnswer(token: token), status: .created)
        case ("accounts", 3) where path[2] == "sessions":
            guard call.method == .delete else { throw Problem.method("DELETE") }
            let who = try await call.authenticated()
            try await accounts.endSessions(of: try Self.id(path[1]), by: who.account.id, from: call.client())
            return who.empty()
        case ("events", 1):
            guard call.method == .get else { throw Problem.method("GET, HEAD") }
            let who = try await call.authenticated()
            let query = try EventQuery(call.request)
            let events = try await accounts.events(
                of: query.account, before: query.before, limit: query.limit, by: who.account.id)
            return try who.json(ListAnswer(items: events))
        default: return nil
        }
    }

    private func change(_ call: AccountCall, _ account: UUID) async throws -> Response {
        let who = try await call.authenticated()
        let body = try await call.body(as: RightsBody.self)
        switch (body.isAdministrator, body.isSuspended) {
        case (let isAdministrator?, nil):
            try await accounts.setAdministrator(isAdministrator, of: account, by: who.account.id, from: call.client())
        case (nil, let isSuspended?):
            try await accounts.setSuspended(isSuspended, of: account, by: who.account.id, from: call.client())
        // Both would be two transactions, of which one can fail.
        default: throw Problem.body("Send either 'isAdministrator' or 'isSuspended'.")
        }
        return who.empty()
    }

    private static func id(_ text: String) throws(AccountError) -> UUID {
        guard let id = UUID(uuidString: text) else { throw AccountError.accountNotFound }
        return id
    }
}

/// The parameters of a query for events.
struct EventQuery: Sendable {
    let account: UUID?
    let before: Date?
    let limit: Int

    init(_ request: Request) throws {
        let query = request.uri.queryParameters
        account = try query["account"].map { text in
            guard let id = UUID(uuidString: String(text)) else { throw AccountError.accountNotFound }
            return id
        }
        before = try query["before"].map { text in
            guard let date = try? Date(String(text), strategy: .iso8601) else {
                throw Problem.query("'before' is no date such as 2026-03-01T12:00:00Z.")
            }
            return date
        }
        limit = try Self.limit(query["limit"], default: 100)
    }

    static func limit(_ text: Substring?, default number: Int) throws(Problem) -> Int {
        guard let text else { return number }
        guard let limit = Int(text) else { throw Problem.query("'limit' is no number.") }
        return limit
    }
}
