import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// One open store: the model, how it lies in tables, and the database.
///
/// Everything that reads or writes rows is an extension of this type: `Fetching` asks, `Saving` writes,
/// `Schema` creates and checks. Safe to use from any thread.
package final class StoreEngine: Sendable {
    package let model: CompiledModel
    package let layout: StoreLayout
    package let database: any SQLDatabase
    /// The store's UUID, the host of its object URIs.
    package let identifier: String

    package init(
        model: CompiledModel, layout: StoreLayout, database: any SQLDatabase, identifier: String
    ) {
        self.model = model
        self.layout = layout
        self.database = database
        self.identifier = identifier
    }
}
