/// What the rows of a table have to meet beside what its columns can hold.
///
///     TableConstraint("_fk_author", on: "Book", .reference("author", to: "Author", key: "Z_PK"), "Book.author leads to Author")
///     // ALTER TABLE "Book" ADD CONSTRAINT "_fk_author" FOREIGN KEY ("author") REFERENCES "Author" ("_id")
///     //     DEFERRABLE INITIALLY DEFERRED NOT VALID
package struct TableConstraint: Hashable, Sendable {
    package enum Rule: Hashable, Sendable {
        /// A row of the other table has that key when the transaction ends.
        case reference(String, to: String, key: String)
        /// It is not false.
        case check(SQLExpression)
    }

    package var name: String
    package var table: String
    package var rule: Rule
    /// What it asks for, for people; it stands beside it in the database.
    package var words: String

    package init(_ name: String, on table: String, _ rule: Rule, _ words: String) {
        self.name = name
        self.table = table
        self.rule = rule
        self.words = words
    }

    /// What the comments of ours begin with, so that a user's own are left alone.
    package static let mark = "OpenCoreData: "
    /// What their names begin with, by kind.
    package static let referencePrefix = "_fk_"
    package static let checkPrefix = "_check_"
}

/// Kinds of constraints that a store on a server may have.
package struct ConstraintKinds: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// What a relationship leads to is there.
    package static let references = ConstraintKinds(rawValue: 1)
    /// Values are as the model wants them.
    package static let checks = ConstraintKinds(rawValue: 2)

    /// The kind of a constraint of ours, by its name.
    package init(ofName name: String) {
        self =
            name.hasPrefix(TableConstraint.referencePrefix)
            ? .references : name.hasPrefix(TableConstraint.checkPrefix) ? .checks : []
    }
}
