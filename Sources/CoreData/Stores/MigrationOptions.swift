/// The option with a store's ``NSStagedMigrationManager``.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// An option that defers the parts of a lightweight migration that can wait: a boolean.
///
///     description.setOption(NSNumber(value: true), forKey: NSPersistentStoreDeferredLightweightMigrationOptionKey)
///     …
///     if store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil {
///         try coordinator.finishDeferredLightweightMigration()      // later, when there is time
///     }
///
/// Tables that need not be copied stay unchanged: columns of new properties are added (`ALTER TABLE … ADD COLUMN`),
/// while columns of removed properties and tables of removed entities stay. The store can be used immediately, and can
/// be migrated further. The same key is in the store's metadata as long as work is deferred.
///
/// Stores of one file are written again by every migration: there nothing is deferred.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"

/// An option that migrates a store over intermediate versions of its model if no direct migration exists, or if a
/// direct one would not keep all values; a boolean, used with `NSMigratePersistentStoresAutomaticallyOption`.
///
///     description.shouldMigrateStoreProgressively = true
///     // Library → Library 2 by Library1to2.cdm → Library 3 inferred
///
/// The versions are those of the model's file, in the order of their names (`Library 2` before `Library 10`). A chain
/// leads from older to newer versions, and each of its steps is a mapping model or an inferred mapping. The shortest
/// chain is used, and among equally short ones the one with more mapping models. Two rules have priority. A step with a
/// mapping model is skipped only if no other chain exists. A longer chain is used if an inferred step of a shorter one
/// would leave a renamed property empty, because it does not find the name in its renaming identifier. Each step is a
/// migration of its own: a failure, or the end of the program, leaves the store complete at the version before it.
///
/// Apple's framework has no counterpart: see ``NSStagedMigrationManager`` for what it has.
public let NSMigratePersistentStoresProgressivelyOption = "NSMigratePersistentStoresProgressivelyOption"

/// An option that says whether an automatic migration may drop entities, attributes and relationships of a store whose
/// version the program does not have; a boolean.
///
///     try coordinator.addPersistentStore(
///         type: .sqlite, at: url,
///         options: [
///             NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
///             NSMigratePersistentStoresAllowingLossOption: true,
///         ])
///
/// A program with an older model would drop data that a newer one added to the store. Therefore a store is refused
/// (134130) if the program does not have its version and the migration would drop something:
///
/// | Option | Model | Refused |
/// | --- | --- | --- |
/// | not set | with known versions: of a `.momd` or `.xcdatamodeld`, merged from such, or with a staged migration | always |
/// | not set | in code, of a single `.mom`, changed after it was read | if the store was of the model's version before |
/// | `true` | any | never |
/// | `false` | any | always |
///
/// The program has every version in the model's folder, in a stage or in a bundle: migrations from these drop data that
/// the model does not have any more. Mapping models and ``NSMigrationManager`` are always executed. Set `false` for a
/// model in code whose programs share a store, as they do on a server.
///
/// Apple's framework has no counterpart.
public let NSMigratePersistentStoresAllowingLossOption = "NSMigratePersistentStoresAllowingLossOption"
