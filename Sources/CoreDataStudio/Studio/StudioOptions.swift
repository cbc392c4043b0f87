import Foundation

/// The settings of a ``Studio``.
public struct StudioOptions: Sendable {
    /// Whether objects of the store may be changed. Otherwise the store is opened for reading only.
    public var isWritable = false
    /// The version of a model that has several; `nil` for the one that fits the store.
    public var modelVersion: String?
    /// Whether the model is made of the store's tables, although the store or a file has one.
    public var infersModel = false
    /// A store to compare with the first one.
    public var comparedStore: URL?

    /// Makes the default settings.
    public init() {}
}
