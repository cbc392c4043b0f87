import Foundation
import Testing

@testable import CoreData

/// Files and folders that may not be read or written (semantics S4).
@Suite(.enabled(if: getuid() != 0, "the superuser may do everything"))
struct StoreRightsTests {
    static let types: [NSPersistentStore.StoreType] = [.sqlite, .xml, .binary]

    private func error(_ body: () throws -> Void) throws -> CocoaError {
        try #require(throws: CocoaError.self) { try body() }
    }

    private func set(_ rights: Int, _ url: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: url.path)
    }

    @Test("Without the right to read it is 257, without that to write 513", arguments: types)
    func files(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        try stack.coordinator.remove(stack.store)
        let readOnly: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
        for rights in [0o000, 0o200] {
            try set(rights, stack.url)
            let ways: [() throws -> Void] = [
                { _ = try stack.newCoordinator() }, { _ = try stack.newCoordinator(readOnly) },
                { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: stack.url) },
            ]
            for way in ways {
                let error = try error(way)
                #expect(error.code == .fileReadNoPermission, "\(error)")
                #expect(error.filePath == stack.url.path)
                #expect(error.localizedDescription.contains(stack.url.path), "\(error.localizedDescription)")
            }
        }
        try set(0o444, stack.url)
        let store = try stack.newCoordinator(readOnly).persistentStores[0]
        #expect(store.isReadOnly)
        if type == .sqlite {
            let error = try error { _ = try stack.newCoordinator() }
            #expect(error.code == .fileWriteNoPermission, "\(error)")
        }
        let written = try error {
            try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: type, at: stack.url)
        }
        #expect(written.code == .fileWriteNoPermission, "\(written)")
    }

    @Test(
        "In a folder that may not be written to nothing is made: 513; one that may not be looked into is 257",
        arguments: types)
    func folders(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        let folder = stack.folder.appendingPathComponent("folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let url = folder.appendingPathComponent("a.store")
        try stack.coordinator.copyPersistentStore(stack.store, to: url)
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        try set(0o555, folder)
        defer { try? set(0o755, folder) }
        for name in ["b.store", "more/b.store"] {
            let error = try error {
                try coordinator.addPersistentStore(type: type, at: folder.appendingPathComponent(name))
            }
            #expect(error.code == .fileWriteNoPermission, "\(name): \(error)")
        }
        try set(0o000, folder)
        let hidden = try error {
            try coordinator.addPersistentStore(type: type, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        }
        #expect(hidden.code == .fileReadNoPermission, "\(hidden)")
    }
}
