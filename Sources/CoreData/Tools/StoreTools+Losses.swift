import CoreDataStore
import Foundation

extension StoreTools {
    /// Checks code that will migrate a store in another way than by adding it.
    ///
    /// - Parameters:
    ///   - known: all versions that the program has, if it lists them.
    ///   - allowsLoss: the value of ``NSMigratePersistentStoresAllowingLossOption``.
    /// - Throws: 134130 if the program does not have the store's version, and data would be dropped.
    package static func checkLosses(
        ofStoreAt url: URL, to model: NSManagedObjectModel, known: [NSManagedObjectModel]?, allowsLoss: Bool?
    ) throws {
        var migration = LightweightMigration(to: model, configuration: nil, type: type(ofStoreAt: url))
        var versions = KnownVersions(model, models: known ?? [])
        versions.checksums = Set((known ?? []).map(\.versionChecksum))
        var options: [AnyHashable: Any] = [:]
        options[NSMigratePersistentStoresAllowingLossOption] = allowsLoss
        migration.known = versions.models
        migration.lossRule = LossRule(options, versions)
        do { _ = try migration.plan(of: url) } catch let error as CocoaError
            where error.userInfo[NSMigrationLossesErrorKey] != nil
        {
            throw error
        } catch {
            // The migration itself reports other problems.
        }
    }
}
