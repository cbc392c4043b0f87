import CoreDataPrimitives

/// A batch request that no database can follow as it is.
package struct BatchRefusal: EngineFailure, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A row of a batch insert lacks a value that its entity asks for.
package struct MissingValue: EngineFailure {
    package var entity: Int
    package var slot: Int
    /// Counted from 1, over all that the request gives.
    package var row: Int
}

/// What every inserted row of an entity must have.
package struct MandatoryColumns: Sendable {
    package struct Column: Sendable {
        package var slot: Int
        /// Its column; of a composite attribute, those of all its elements, one of which must have a value.
        package var columns: [Int]
        /// Of an element of a composite attribute, the columns of all its elements: it is asked for where one of them has a value.
        package var companions: [Int]

        package init(slot: Int, columns: [Int], companions: [Int]) {
            (self.slot, self.columns, self.companions) = (slot, columns, companions)
        }
    }

    package var entity: Int
    package var columns: [Column]

    package init(entity: Int, columns: [Column]) { (self.entity, self.columns) = (entity, columns) }

    /// - Parameter given: the columns that are looked at; all for `nil`.
    /// - Throws: ``MissingValue`` for the first that has none.
    func check(_ row: RowSnapshot, number: Int, given: IndexMask? = nil) throws {
        for column in columns where column.columns.allSatisfy({ row.isNull($0) }) {
            if let given, !column.columns.allSatisfy(given.contains) { continue }
            if !column.companions.isEmpty, column.companions.allSatisfy({ row.isNull($0) }) { continue }
            throw MissingValue(entity: entity, slot: column.slot, row: number)
        }
    }
}
