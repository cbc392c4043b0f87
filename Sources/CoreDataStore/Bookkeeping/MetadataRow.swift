import CoreDataModel
import CoreDataSQL
import Foundation

/// The one row of `Z_METADATA`.
package struct MetadataRow: Sendable {
    package var identifier: String
    package var metadata: StoreMetadata

    package init(identifier: String, metadata: StoreMetadata) {
        self.identifier = identifier
        self.metadata = metadata
    }

    /// Returns the row with another migration stage in progress.
    func inStage(_ stage: String?) throws -> MetadataRow {
        var dictionary = metadata.dictionary
        dictionary[StoreMetadata.Key.stage] = stage
        return MetadataRow(identifier: identifier, metadata: try StoreMetadata(dictionary: dictionary))
    }

    /// The migration stage in progress.
    package var stage: String? { metadata.dictionary[StoreMetadata.Key.stage] as? String }

    /// The dictionary as users see it, including the UUID.
    package var dictionary: [String: Any] {
        var dictionary = metadata.dictionary
        dictionary[StoreMetadata.Key.identifier] = identifier
        dictionary[StoreMetadata.Key.historyReaders] = nil
        dictionary[StoreMetadata.Key.deferredTasks] = nil
        dictionary[StoreMetadata.Key.stage] = nil
        dictionary[StoreMetadata.Key.formerVersions] = nil
        return dictionary
    }
}
