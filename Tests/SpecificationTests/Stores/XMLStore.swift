import CoreDataModel
import CoreDataStore
import Foundation
import TestSupport

extension SpecifiedStore {
    /// Rows in an XML file of Apple's format.
    static let xml = SpecifiedStore(
        name: "XML", make: { try open(XMLStoreFormat.self, $0) },
        exceptions: [
            "aPinnedContextKeepsWhatItReads": noFormerState,
            "keysAreNeverGivenOutTwice":
                "ids are unique in the whole file, and the first is z102, as in Apple's stores",
            "aHierarchyHasOneRangeOfKeys": "the whole file has one range of ids",
            "keysOfRowsThatAreThereAreNotGivenOut": "the first id is z102, as in Apple's stores",
            "changesAreMadeOnceWithTheirKeys": "ids are unique in the whole file, and the first is z102",
            "aFailedSaveTakesNoKeys": "the first id is z102, as in Apple's stores",
        ])

    private static func open(_ format: any AtomicFormat.Type, _ model: CompiledModel) throws -> OpenedStore {
        let folder = try Fixtures.temporaryFolder()
        return try open(format, folder, model, isReadOnly: false)
    }

    fileprivate static func open(
        _ format: any AtomicFormat.Type, _ folder: URL, _ model: CompiledModel, isReadOnly: Bool
    ) throws -> OpenedStore {
        var options = AtomicStore.Options(path: folder.appendingPathComponent("Store").path)
        options.isReadOnly = isReadOnly
        let engine = try AtomicStore.open(format, model: model, options: options)
        return OpenedStore(
            source: engine,
            reopen: { isReadOnly in
                engine.close()
                return try open(format, folder, model, isReadOnly: isReadOnly)
            },
            remove: {
                engine.close()
                try? FileManager.default.removeItem(at: folder)
            })
    }

    static func make(_ format: any AtomicFormat.Type, _ model: CompiledModel) throws -> OpenedStore {
        try open(format, model)
    }
}
