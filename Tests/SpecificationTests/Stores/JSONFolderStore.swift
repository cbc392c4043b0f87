import CoreData
import CoreDataStore
import Foundation
import JSONFolderStore
import TestSupport

@testable import CoreData

extension SpecifiedStore {
    /// The example of an incremental store: a folder of JSON files.
    static let jsonFolder: SpecifiedStore = {
        NSPersistentStoreCoordinator.registerStoreClass(JSONFolderStore.self, forStoreType: JSONFolderStore.storeType)
        return SpecifiedStore(
            name: "a folder of JSON",
            make: { _ in throw ContextsOnly() },
            attach: { coordinator in
                let folder = try Fixtures.temporaryFolder()
                let store = try coordinator.addPersistentStore(
                    ofType: JSONFolderStore.storeType, configurationName: nil, at: folder)
                guard let source = coordinator.attachedStore(of: store)?.source else { throw ContextsOnly() }
                return OpenedStore(
                    source: source,
                    remove: {
                        source.close()
                        try? FileManager.default.removeItem(at: folder)
                    })
            }, exceptions: jsonFolderExceptions,
            passesInPart: [
                "whatIsInMemoryAfterEverySaveIsInTheStore", "aChangedObjectThatTakesAnothersValueBecomesThatOne",
                "whatAnUpsertMadeCanBeUndone",
            ], predicateSeeds: 1)
    }()

    /// What the example does not do.
    private static let jsonFolderExceptions: [String: String] = {
        let constraints = [
            "aChangedObjectThatTakesAnothersValueBecomesThatOne", "aFailedSaveLeavesStoreAndContext",
            "aNewObjectBecomesTheRowWithItsValue", "aRowOfAnotherWriterIsTheOneThatStays", "aTakenUniqueValueIsAnError",
            "compoundConstraintsCompareAllTheirValues", "conflictsOfBothKindsAreResolvedInOneSave",
            "manyRowsAreUpsertedAtOnce", "ofNewObjectsWithTheSameValueOneStays",
            "subentitiesShareTheirParentsConstraints", "whatWasSavedInARaceIsNotLost",
            "whoReferredToTheNewObjectRefersToTheRow", "aNewObjectThatBecameARowsIsThatRows",
            "anObjectWithAPermanentIDBecomesTheRow",
            "rowsThatNobodyHasInMemoryFollowTheOneThatStays", "whatAChildInsertedIsUpsertedByItsParent",
            "whatAnUpsertMadeCanBeUndone", "whatTheRowsEntityHasNoPlaceForIsNotLost",
        ]
        var exceptions = Dictionary(
            uniqueKeysWithValues: constraints.map { ($0, "unique values are the business of an incremental store") })
        exceptions["derivedValuesShowAfterTheSave"] = "derived attributes are the business of an incremental store"
        exceptions["whatIsInMemoryAfterEverySaveIsInTheStore"] =
            "the example keeps each side of a many-to-many in a file of its own: where one is rolled back, they may differ"
        exceptions["aPinnedContextKeepsWhatItReads"] = noFormerState
        exceptions["dictionariesAreGrouped"] = "the example has no groups"
        exceptions["dictionariesHaveCompositesAndElements"] = "the example has no expressions"
        exceptions["aFetchFindsWhatThePredicateSaysOfTheObjects"] =
            "the test saves rows, and such a store takes objects"
        exceptions["objectsAreTheSameUnderTemporaryAndPermanentIDs"] =
            "the test asks the source for keys without objects"
        return exceptions
    }()
}

/// A store of a program's own class is given objects and not rows, so that it is specified from contexts only.
struct ContextsOnly: Error {}
