import CoreDataPrimitives

/// A batch request that the database cannot execute.
package struct BatchRefusal: EngineFailure, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A row of a batch insert lacks a value that its entity requires.
package struct MissingValue: EngineFailure {
    package var entity: Int
    package var slot: Int
    /// The row's number, counted from 1 over all rows of the request.
    package var row: Int
}

/// The required values of an entity's rows.
package struct MandatoryColumns: Sendable {
    package struct Column: Sendable {
        package var slot: Int
        /// The column; for a composite attribute, the columns of its elements, one of which must have a value.
        package var columns: [Int]
        /// For an element of a composite attribute, the columns of all its elements: it is required if one of them has
        /// a value.
        package var companions: [Int]

        package init(slot: Int, columns: [Int], companions: [Int]) {
            (self.slot, self.columns, self.companions) = (slot, columns, companions)
        }
    }

    package var entity: Int
    package var columns: [Column]

    package init(entity: Int, columns: [Column]) { (self.entity, self.columns) = (entity, columns) }

    /// - Parameter given: the columns to check; `nil` for all.
    /// - Throws: ``MissingValue`` for the first missing value.
    func check(_ row: RowSnapshot, number: Int, given: IndexMask? = nil) throws {
        for column in columns where column.columns.allSatisfy({ row.isNull($0) }) {
            if let given, !column.columns.allSatisfy(given.contains) { continue }
            if !column.companions.isEmpty, column.companions.allSatisfy({ row.isNull($0) }) { continue }
            throw MissingValue(entity: entity, slot: column.slot, row: number)
        }
    }
}
