import CoreData
import CoreDataAccounts
import CoreDataPermissions
import Foundation
import HTTPTypes
import Hummingbird
import LivePages

/// A request of an account that is signed in.
@MainActor struct AccountVisit {
    let visit: Visit
    let person: Person
    let view: AccountView

    var form: Form { visit.form }
    var token: HTML { Page.token(visit.token) }

    /// The household of the address, if the account is a member of it.
    func household() -> Membership? { UUID(uuidString: visit.id).flatMap(person.membership) }

    /// The list of the address, if the account sees it.
    func list() throws -> ListView? { try UUID(uuidString: visit.id).flatMap { try view.list($0) } }

    /// The navigation of a page of that list.
    func frame(of list: ListView?) -> Frame {
        Frame(household: list.flatMap { person.membership(in: $0.household) }, list: list)
    }
}

extension App {
    typealias AccountHandler = @MainActor @Sendable (AccountVisit) async throws -> Reply

    /// Answers GETs of accounts; others are asked to sign in.
    func get(_ router: Router<BasicRequestContext>, _ path: RouterPath, _ handler: @escaping AccountHandler) {
        desk.get(router, path) { visit in
            guard let person = visit.person as? Person else {
                let query = visit.path == "/" ? "" : "?to=\(visit.path.percentEncoded)"
                return .redirect("/sign-in\(query)")
            }
            return try await self.answer(visit, person, handler)
        }
    }

    /// Answers forms of accounts.
    ///
    /// - Parameter changesAccounts: whether the form may change accounts or households, so that views have to be checked.
    func post(
        _ router: Router<BasicRequestContext>, _ path: RouterPath, once: Bool = false, changesAccounts: Bool = false,
        _ handler: @escaping AccountHandler
    ) {
        desk.post(router, path, once: once) { visit in
            guard let person = visit.person as? Person else {
                return .redirect("/sign-in", Flash(kind: .problem, text: "You are not signed in any more."))
            }
            let reply = try await self.answer(visit, person, handler)
            if changesAccounts { await self.views.check() }
            return reply
        }
    }

    private func answer(_ visit: Visit, _ person: Person, _ handler: AccountHandler) async throws -> Reply {
        try await Self.converting {
            try await handler(AccountVisit(visit: visit, person: person, view: try views.view(for: person)))
        }
    }

    /// The answer to an account whose role does not allow something.
    static let refusal = HTTPError(
        .forbidden,
        message: "Your role in this household does not allow that. An owner of the household can change it.")

    /// Turns refusals of accounts and of permissions into answers for people.
    static func converting(_ body: () async throws -> Reply) async throws -> Reply {
        do { return try await body() } catch is AccessDenied {
            throw refusal
        } catch let error as AccountError {
            if case .storeFailed = error { throw error }
            throw HTTPError(error.status, message: error.description)
        }
    }
}

extension AccountError {
    /// The status of the page that shows the error.
    var status: HTTPResponse.Status {
        switch self {
        case .notAllowed, .signUpClosed: .forbidden
        case .accountNotFound, .sessionNotFound, .groupNotFound, .memberNotFound, .invitationNotFound,
            .invalidInvitation, .invalidLink:
            .notFound
        case .tooManyTries: .tooManyRequests
        case .busy: .serviceUnavailable
        case .notSignedIn: .unauthorized
        case .nameTaken, .emailTaken, .lastOwner, .lastAdministrator, .limitReached: .conflict
        default: .unprocessableContent
        }
    }
}
