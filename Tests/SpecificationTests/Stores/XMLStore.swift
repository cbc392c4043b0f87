import CoreDataModel
import CoreDataStore
import Foundation
import TestSupport

extension SpecifiedStore {
    /// Rows in an XML file of Apple's format.
    static let xml = SpecifiedStore(
        name: "XML", make: { try open(XMLStoreFormat.self, $0) },
        lacks: [.formerStates: noFormerState, .rangesOfKeys: "ids are unique in the whole file, as in Apple's stores"],
        firstKey: 102)

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
