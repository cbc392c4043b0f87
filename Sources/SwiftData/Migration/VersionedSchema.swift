/// One version of an app's models.
///
///     enum TripsV1: VersionedSchema {
///         static let versionIdentifier = Schema.Version(1, 0, 0)
///         static var models: [any PersistentModel.Type] { [Trip.self] }
///         @Model final class Trip { … }
///     }
///
/// An earlier version has frozen copies of all its classes. One that refers to a class of a later version changes with
/// it, and its stores are not recognised any more.
public protocol VersionedSchema: SendableMetatype {
    static var models: [any PersistentModel.Type] { get }
    static var versionIdentifier: Schema.Version { get }
}
