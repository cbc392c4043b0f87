/// A CREATE TRIGGER that runs after each changed row, as a value.
///
///     CREATE TRIGGER name AFTER INSERT ON table FOR EACH ROW WHEN (NEW.c NOT NULL) BEGIN UPDATE …; SELECT …; END
///
/// In its expressions the row is `.column("NEW", …)` or `.column("OLD", …)`.
package struct CreateTrigger: Hashable, Sendable {
    package enum Event: Hashable, Sendable {
        case insert
        /// Any update, or one that sets one of the columns.
        case update(of: [String])
        case delete
    }

    package enum Step: Hashable, Sendable {
        /// `UPDATE table SET column = value WHERE condition`
        case update(String, set: String, to: SQLExpression, where: SQLExpression)
        /// `SELECT value FROM table WHERE condition`: calls a function for the rows.
        case select(SQLExpression, from: String, where: SQLExpression)
        /// `INSERT INTO table (column) SELECT value WHERE NOT EXISTS (…)`: inserts the value if it is missing. The
        /// conflict clause of the triggering statement would apply to this one too, so it must not cause a conflict.
        case note(SQLExpression, in: String, column: String)
    }

    package var name: String
    package var event: Event
    package var table: String
    /// The trigger runs only for rows in which this is not NULL.
    package var requiredColumn: SQLExpression?
    package var steps: [Step]

    package init(
        _ name: String, after event: Event, on table: String, requiring column: SQLExpression? = nil, _ steps: [Step]
    ) {
        self.name = name
        self.event = event
        self.table = table
        requiredColumn = column
        self.steps = steps
    }
}
