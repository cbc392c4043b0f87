/// The statements that a session knows, and the texts that it prepares by itself.
struct SessionStatements {
    var table = StatementTable()
    var groups = StatementGroups()
    /// Statements that wait for others with which they can be sent.
    var held: [HeldStatement] = []
    private var nameCount = 0
    /// What begins and ends transactions, and locks the schema; none of it has values.
    private var commands: [NamedText] = []

    /// A name that no other statement of the session has.
    mutating func newName() -> String {
        nameCount += 1
        return "s\(nameCount)"
    }

    /// The text of a command, which is its own name.
    mutating func command(_ sql: String) -> NamedText {
        if let text = commands.first(where: { $0.sql == sql }) { return text }
        let text = NamedText(sql, name: sql)
        commands.append(text)
        return text
    }
}
