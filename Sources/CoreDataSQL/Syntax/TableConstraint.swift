/// A constraint on the rows of a table, beyond the types of its columns.
///
///     TableConstraint("_fk_author", on: "Book", .reference("author", to: "Author", key: "Z_PK"), "Book.author leads to Author")
///     // ALTER TABLE "Book" ADD CONSTRAINT "_fk_author" FOREIGN KEY ("author") REFERENCES "Author" ("_id")
///     //     DEFERRABLE INITIALLY DEFERRED NOT VALID
package struct TableConstraint: Hashable, Sendable {
    package enum Rule: Hashable, Sendable {
        /// The other table has a row with this key when the transaction ends.
        case reference(String, to: String, key: String)
        /// The condition is not false.
        case check(SQLExpression)
    }

    package var name: String
    package var table: String
    package var rule: Rule
    /// The description for people, stored as a comment in the database.
    package var words: String

    package init(_ name: String, on table: String, _ rule: Rule, _ words: String) {
        self.name = name
        self.table = table
        self.rule = rule
        self.words = words
    }

    /// The prefix of this library's comments, so that a user's own are not changed.
    package static let mark = "OpenCoreData: "
    /// The prefixes of the constraints' names, by kind.
    package static let referencePrefix = "_fk_"
    package static let checkPrefix = "_check_"
}

/// The kinds of constraints that a store on a server may have.
package struct ConstraintKinds: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The destinations of relationships exist.
    package static let references = ConstraintKinds(rawValue: 1)
    /// Values satisfy the model's validation.
    package static let checks = ConstraintKinds(rawValue: 2)

    /// The kind of a constraint of this library, by its name.
    package init(ofName name: String) {
        self =
            name.hasPrefix(TableConstraint.referencePrefix)
            ? .references : name.hasPrefix(TableConstraint.checkPrefix) ? .checks : []
    }
}
