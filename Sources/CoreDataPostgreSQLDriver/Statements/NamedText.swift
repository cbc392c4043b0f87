import CPostgreSQL

/// A text that a session prepares on the way of the statement that first needs it.
final class NamedText {
    enum State {
        case unknown, sent, prepared
        /// The server does not take it.
        case refused
    }

    let sql: String
    let name: String
    let parameterTypes: [Oid]
    var state = State.unknown

    init(_ sql: String, name: String, parameterTypes: [Oid] = []) {
        (self.sql, self.name, self.parameterTypes) = (sql, name, parameterTypes)
    }
}
