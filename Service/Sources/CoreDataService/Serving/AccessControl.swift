import CoreData
import CoreDataPermissions
import HTTPTypes
import Hummingbird

/// The account that sent a request.
package struct Caller: Sendable {
    /// An ID that does not change: part of idempotency keys and the author of history transactions.
    package let id: String
    /// What permissions know of it.
    package let accessor: Accessor
    /// The headers with a new token in the place of the one that was sent.
    package var renewal: HTTPFields

    package init(_ accessor: Accessor, renewal: HTTPFields = [:]) {
        id = accessor.account?.uuidString ?? "anonymous"
        self.accessor = accessor
        self.renewal = renewal
    }

    package static let anonymous = Caller(.anonymous)
}

/// What a service asks of accounts and permissions.
package protocol AccessControl: Sendable {
    /// Returns the account of a request; ``Caller/anonymous`` for a request without credentials.
    ///
    /// - Throws: a ``Problem`` with status 401 for credentials that are not valid.
    func caller(of request: Request, peer: String?) async throws -> Caller
    /// Returns a new context through which the account sees and changes what it may, and nothing else.
    func makeContext(for caller: Caller) async throws -> NSManagedObjectContext
    /// Returns the rules of an entity in words, for the schema.
    func rules(of entity: String) -> [EntityRule]
    /// Returns the problem that describes a refused change; `nil` for another error.
    func problem(_ error: any Error) -> Problem?
}

/// Who may do something, in words.
package struct EntityRule: Sendable, Hashable {
    /// `read`, `create`, `update`, `delete`.
    package var verb: String
    /// The property that the rule is about; `nil` for the object.
    package var property: String?
    package var who: String

    package init(verb: String, property: String? = nil, who: String) {
        self.verb = verb
        self.property = property
        self.who = who
    }
}
