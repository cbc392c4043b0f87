import CoreData
import Foundation
import Testing

// semantics S4: files that are something else than what they are opened as
@Suite struct WrongTypeTests {
    enum File: String, CaseIterable { case sqlite, xml, binary, apples, text, propertyList, folder, damaged }

    private static let types: [NSPersistentStore.StoreType] = [.sqlite, .xml, .binary]

    private func make(_ file: File, _ url: URL) throws {
        switch file {
        case .sqlite, .xml, .binary:
            let type: NSPersistentStore.StoreType = file == .sqlite ? .sqlite : file == .xml ? .xml : .binary
            let stack = try FileStack(type)
            try stack.story { context in
                Tag(context: context).name = "tag"
                try context.save()
            }
            try stack.coordinator.remove(stack.store)
            try FileManager.default.copyItem(at: stack.url, to: url)
        case .apples: try Data("CoreData and more".utf8).write(to: url)
        case .text: try Data("Dear diary, today I ate an apple.\n".utf8).write(to: url)
        case .propertyList:
            try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .binary, options: 0).write(to: url)
        case .folder: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        case .damaged: try Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }).write(to: url)
        }
    }

    /// The code, and words that the message has to have.
    private func expected(_ file: File, as type: NSPersistentStore.StoreType) -> (code: Int, words: String)? {
        let names: [File: String] = [.sqlite: "SQLite", .xml: "XML", .binary: "Binary"]
        switch file {
        case .sqlite, .xml, .binary: return names[file] == type.rawValue ? nil : (134010, names[file] ?? "")
        case .apples: return (134010, "Apple's")
        case .text: return (259, type == .sqlite ? "text" : "no \(type.rawValue) store")
        case .propertyList: return (259, type == .sqlite ? "property list" : "no \(type.rawValue) store")
        case .folder: return (-1, type == .sqlite ? "directory" : "folder")
        case .damaged: return (259, "damaged")
        }
    }

    @Test(
        "S4, 134010: a file of another kind is told as what it is, and left as it is", arguments: File.allCases, types)
    func files(file: File, type: NSPersistentStore.StoreType) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("type-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Library.file")
        try make(file, url)
        let before = try? Data(contentsOf: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        guard let (code, words) = expected(file, as: type) else {
            try coordinator.addPersistentStore(type: type, at: url)
            return
        }
        let deeds: [(String, () throws -> Void)] = [
            ("add", { try coordinator.addPersistentStore(type: type, at: url) }),
            (
                "add migrating",
                {
                    try coordinator.addPersistentStore(
                        type: type, at: url,
                        options: [
                            NSMigratePersistentStoresAutomaticallyOption: true,
                            NSInferMappingModelAutomaticallyOption: true,
                        ])
                }
            ),
            ("metadata", { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url) }),
            ("destroy", { try coordinator.destroyPersistentStore(at: url, type: type) }),
            (
                "replace",
                {
                    let other = try FileStack(type)
                    try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: other.url, type: type)
                }
            ),
        ]
        for (name, deed) in deeds {
            let error = #expect(throws: CocoaError.self, "\(name)") { try deed() }
            guard let error else { continue }
            if code > 0 { #expect(error.errorCode == code, "\(name): \(error)") }
            #expect(error.localizedDescription.contains(words), "\(name): \(error.localizedDescription)")
            #expect(error.localizedDescription.contains(url.path) || error.filePath == url.path, "\(name): \(error)")
        }
        #expect((try? Data(contentsOf: url)) == before)
        #expect(coordinator.persistentStores.isEmpty)
    }

    @Test("S4: an empty file becomes a store of whatever type", arguments: types)
    func emptyFiles(type: NSPersistentStore.StoreType) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("type-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Library.file")
        try Data().write(to: url)
        let error = try #require(throws: CocoaError.self) {
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
        }
        #expect(error.errorCode == 134000 && error.localizedDescription.contains("empty"), "\(error)")
        try NSPersistentStoreCoordinator(managedObjectModel: Library.model()).addPersistentStore(type: type, at: url)
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
    }
}
