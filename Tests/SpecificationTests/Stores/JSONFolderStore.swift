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
                guard let source = coordinator.attachedStore(of: store)?.target else { throw ContextsOnly() }
                return OpenedStore(
                    source: source,
                    remove: {
                        source.close()
                        try? FileManager.default.removeItem(at: folder)
                    })
            }, lacks: jsonFolderLacks, predicateSeeds: 1)
    }()

    /// What the example does not do.
    private static let jsonFolderLacks: [Capability: String] = [
        .rows: "a store of a program's own class is given objects",
        .formerStates: noFormerState,
        .uniqueValues: "unique values are the business of an incremental store",
        .derivedAttributes: "derived attributes are the business of an incremental store",
        .groupsAndExpressions: "the example has neither",
        .agreeingSides: "the example keeps each side of a many-to-many in a file of its own",
    ]
}

/// A store of a program's own class is given objects and not rows, so that it is specified from contexts only.
struct ContextsOnly: Error {}
