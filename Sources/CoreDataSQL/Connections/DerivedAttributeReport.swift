/// A derived attribute that a trigger set while the current transaction wrote other rows.
package struct DerivedAttributeReport: Hashable, Sendable {
    package var table: String
    /// `Z_ENT` and `Z_PK` of the row.
    package var entityNumber: Int64
    package var primaryKey: Int64
    /// The attribute; its column if a trigger of ``SQLFunction/predicateAttributeUpdated`` made the report.
    package var attribute: String
    package var value: SQLValue
    /// Whether the row was being inserted.
    package var isInsertion: Bool

    package init(
        table: String, entityNumber: Int64, primaryKey: Int64, attribute: String, value: SQLValue,
        isInsertion: Bool
    ) {
        self.table = table
        self.entityNumber = entityNumber
        self.primaryKey = primaryKey
        self.attribute = attribute
        self.value = value
        self.isInsertion = isInsertion
    }
}
