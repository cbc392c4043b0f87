/// The statements that a session has prepared, and its own commands.
struct SessionStatements {
    var table = StatementTable()
    var groups = StatementGroups()
    /// The statements that are held back for a group.
    var held: [HeldStatement] = []
    private var nameCount = 0
    /// The commands that begin and end transactions and lock the schema; none has values.
    private var commands: [NamedText] = []

    /// Returns a statement name that is unique in the session.
    mutating func newName() -> String {
        nameCount += 1
        return "s\(nameCount)"
    }

    /// Returns the text of a command, which is also its name.
    mutating func command(_ sql: String) -> NamedText {
        if let text = commands.first(where: { $0.sql == sql }) { return text }
        let text = NamedText(sql, name: sql)
        commands.append(text)
        return text
    }
}
