import CoreDataSQL

/// Opens the driver's database, so that the engine does not depend on a driver.
package typealias DatabaseFactory = @Sendable (DatabaseOptions) throws -> any SQLDatabase
