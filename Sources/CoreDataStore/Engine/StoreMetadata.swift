import Foundation

/// A store's metadata dictionary, kept as a binary property list so that it can cross threads.
package struct StoreMetadata: Hashable, Sendable {
    package var propertyList: Data

    package init(propertyList: Data) { self.propertyList = propertyList }

    /// The dictionary, empty where the data is no property list.
    package var dictionary: [String: Any] {
        let object = try? PropertyListSerialization.propertyList(from: propertyList, options: [], format: nil)
        return object as? [String: Any] ?? [:]
    }

    /// - Throws: where a value is not a property-list object.
    package init(dictionary: [String: Any]) throws {
        propertyList = try PropertyListSerialization.data(
            fromPropertyList: dictionary, format: .binary, options: 0)
    }
}
