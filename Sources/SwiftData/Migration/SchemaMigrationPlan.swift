/// The versions of an app's models, and the stages that migrate a store from one to the next.
///
///     enum TripsPlan: SchemaMigrationPlan {
///         static var schemas: [any VersionedSchema.Type] { [TripsV1.self, TripsV2.self] }
///         static var stages: [MigrationStage] {
///             [.custom(fromVersion: TripsV1.self, toVersion: TripsV2.self, willMigrate: nil) { context in
///                 for trip in try context.fetch(FetchDescriptor<TripsV2.Trip>()) { trip.nights = trip.days - 1 }
///                 try context.save()
///             }]
///         }
///     }
///     let container = try ModelContainer(for: TripsV2.Trip.self, migrationPlan: TripsPlan.self)
///
/// A store begins at the stage of its version. After a failure, or the end of the process, the next opening goes on
/// with the stage that was not finished.
public protocol SchemaMigrationPlan: SendableMetatype {
    /// The versions, from the oldest to the newest.
    static var schemas: [any VersionedSchema.Type] { get }
    /// The stages between them, in order.
    static var stages: [MigrationStage] { get }
}
