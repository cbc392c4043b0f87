import Foundation

/// What a store of an app's own is made of: where it is, and which entities it keeps.
public protocol DataStoreConfiguration: Hashable {
    associatedtype Store: DataStore where Store.Configuration == Self

    /// The name, which error messages have.
    var name: String { get }
    /// The entities that the store keeps; `nil` for all of the container, which sets it before it makes the store.
    var schema: Schema? { get set }
    /// Throws where no store can be made.
    func validate() throws
}

extension DataStoreConfiguration {
    /// Accepts the configuration.
    public func validate() throws {}
}

extension ModelConfiguration: DataStoreConfiguration {
    public typealias Store = DefaultStore
}
