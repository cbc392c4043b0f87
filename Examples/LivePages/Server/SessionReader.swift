import HTTPTypes
import Hummingbird

/// Finds who sends a request, in an app with accounts.
package protocol SessionReader: Sendable {
    /// Returns the visitor of a request; `nil` for one who is not signed in.
    ///
    /// - Parameter address: the network address of the client.
    func visitor(of request: Request, from address: String?) async throws -> Visitor?
}

/// Who is signed in.
package struct Visitor: Sendable {
    /// The secret that the forms of the session carry; see ``Secret/isOne(_:)``.
    package let formToken: String
    /// What the app knows of the visitor.
    package let person: any Sendable
    /// Headers of the answer, such as a renewed cookie.
    package let headers: HTTPFields

    package init(formToken: String, person: any Sendable, headers: HTTPFields = [:]) {
        self.formToken = formToken
        self.person = person
        self.headers = headers
    }
}
