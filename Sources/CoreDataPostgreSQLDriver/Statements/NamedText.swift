import CPostgreSQL

/// A text that a session prepares together with the first statement that needs it.
final class NamedText {
    enum State {
        case unknown, sent, prepared
        /// The server refuses it.
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
