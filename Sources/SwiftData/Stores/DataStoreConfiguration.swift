import Foundation

/// The settings of an app's own store: its place, and its entities.
public protocol DataStoreConfiguration: Hashable {
    associatedtype Store: DataStore where Store.Configuration == Self

    /// The name, which error messages have.
    var name: String { get }
    /// The entities that the store keeps; `nil` for all of the container, which sets it before it makes the store.
    var schema: Schema? { get set }
    /// Throws if no store can be made.
    func validate() throws
}

extension DataStoreConfiguration {
    /// Accepts the configuration.
    public func validate() throws {}
}

extension ModelConfiguration: DataStoreConfiguration {
    public typealias Store = DefaultStore
}
