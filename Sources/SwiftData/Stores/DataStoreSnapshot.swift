import Foundation

/// What the values of a snapshot are.
public typealias DataStoreSnapshotValue = Codable & Sendable

/// The values of one model, apart from any context.
///
/// A snapshot encodes its values by the names of the model's properties, with ``DataStoreSnapshotCodingKey``:
/// relationships as identifiers. ``DefaultSnapshot`` does for most stores.
public protocol DataStoreSnapshot: Codable, Sendable {
    /// The identifier of the model: a temporary one before its store has saved it.
    var persistentIdentifier: PersistentIdentifier { get }
    /// Takes the values of a model.
    ///
    /// - Parameter relatedBackingDatas: values of related models by their identifiers, for snapshots that contain them.
    init(
        from backingData: any BackingData,
        relatedBackingDatas: inout [PersistentIdentifier: any BackingData])
    /// The same values with another identifier, and with other identifiers of related models.
    func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> Self
}

/// The keys by which a snapshot is encoded: its identifier, and the names of the model's properties.
public enum DataStoreSnapshotCodingKey: CodingKey {
    case persistentIdentifier
    case modeledProperty(String)

    private static let identifierName = "persistentIdentifier"

    public var stringValue: String {
        switch self {
        case .persistentIdentifier: Self.identifierName
        case .modeledProperty(let name): name
        }
    }

    public init?(stringValue: String) {
        self = stringValue == Self.identifierName ? .persistentIdentifier : .modeledProperty(stringValue)
    }

    /// `nil`: properties have names.
    public var intValue: Int? { nil }

    /// Makes none: properties have names.
    public init?(intValue: Int) { nil }
}
