import CoreData
import Foundation
import TestSupport
import Testing

// semantics S4, S6, S10: stores in one file, read and written as a whole
@Suite struct FileStoreTests {
    static let types: [NSPersistentStore.StoreType] = [.xml, .binary]

    @Test("S10: everything is there after reopening, with the same IDs", arguments: types)
    func roundTrip(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        try stack.story { try FileStack.fill($0) }
        let before = try FileStack.picture(stack.coordinator)
        let ids = try stack.story { try $0.all(Book.self, "Book").map { $0.objectID.uriRepresentation() } }
        let uuid = stack.store.identifier
        #expect(before.count > 12)
        try stack.reopen()
        #expect(try FileStack.picture(stack.coordinator) == before)
        #expect(stack.store.identifier == uuid)
        #expect(stack.store.type == type.rawValue)
        try stack.story { context in
            for uri in ids {
                let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri))
                #expect(try context.existingObject(with: id) is Book)
            }
        }
        // What is written again is the same.
        let bytes = try stack.bytes()
        stack.coordinator.setMetadata(stack.store.metadata, for: stack.store)
        try stack.story { try $0.save() }
        #expect(try stack.bytes().count == bytes.count)
        try stack.reopen([NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
        #expect(try FileStack.picture(stack.coordinator) == before)
        #expect(stack.store.isReadOnly)
        let error = try #require(throws: CocoaError.self) { try stack.story { try FileStack.fill($0) } }
        #expect(error.code == .fileWriteNoPermission)
    }

    @Test("S9: keys of deleted objects are not given out again, after reopening either", arguments: types)
    func keysAreNotGivenOutAgain(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        let first = try stack.story { context in
            let tag = Tag(context: context)
            tag.name = "a"
            try context.save()
            let uri = tag.objectID.uriRepresentation()
            context.delete(tag)
            try context.save()
            return uri
        }
        try stack.reopen()
        try stack.story { context in
            let tag = Tag(context: context)
            tag.name = "b"
            try context.save()
            #expect(tag.objectID.uriRepresentation() != first)
        }
    }

    @Test("S10: who has not read what another wrote does not overwrite it", arguments: types)
    func conflictOfFiles(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        let other = try stack.newCoordinator()
        try stack.story { try FileStack.fill($0) }
        let bytes = try stack.bytes()
        try FileStack.story(other) { context in
            Tag(context: context).name = "late"
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .persistentStoreSaveConflicts)
            #expect(error.localizedDescription.contains("was changed by somebody else since it was read"))
            #expect(context.insertedObjects.count == 1, "the context keeps its changes")
        }
        #expect(try stack.bytes() == bytes)
        try other.remove(other.persistentStores[0])
        try other.addPersistentStore(type: type, at: stack.url)
        try FileStack.story(other) { context in
            Tag(context: context).name = "late"
            try context.save()
        }
        #expect(try stack.bytes() != bytes)
    }

    @Test("A file that was only touched, or copied back, is not changed", arguments: types)
    func touchedFile(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        let bytes = try stack.bytes()
        try FileManager.default.removeItem(at: stack.url)
        try bytes.write(to: stack.url)
        try stack.story { try FileStack.fill($0) }
        try FileManager.default.removeItem(at: stack.url)
        let error = try #require(throws: CocoaError.self) {
            try stack.story { context in
                Tag(context: context).name = "b"
                try context.save()
            }
        }
        #expect(error.code == .fileNoSuchFile)
        #expect(!FileManager.default.fileExists(atPath: stack.url.path))
    }

    @Test("S4: of another model: 134100 with the metadata, and the file stays", arguments: types)
    func mismatch(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        try stack.story { try FileStack.fill($0) }
        let bytes = try stack.bytes()
        let model = Library.model()
        model.entitiesByName["Tag"]?.attributesByName["name"]?.versionHashModifier = "2"
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        let error = try #require(throws: CocoaError.self) {
            try coordinator.addPersistentStore(type: type, at: stack.url)
        }
        #expect(error.errorCode == NSPersistentStoreIncompatibleVersionHashError)
        #expect((error.userInfo["metadata"] as? [String: Any])?[NSStoreUUIDKey] as? String == stack.store.identifier)
        #expect(error.localizedDescription.contains("changed: Tag"))
        #expect(try stack.bytes() == bytes)
        let ignoring: [AnyHashable: Any] = [NSIgnorePersistentStoreVersioningOption: NSNumber(value: true)]
        let store = try coordinator.addPersistentStore(type: type, at: stack.url, options: ignoring)
        #expect(try FileStack.picture(coordinator) == FileStack.picture(stack.coordinator))
        try coordinator.remove(store)
    }

    @Test("S6: metadata of a file are written at once, and read without a model", arguments: types)
    func metadata(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        try stack.story { try FileStack.fill($0) }
        let picture = try FileStack.picture(stack.coordinator)
        for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
        let values: [String: Any] = [
            "text": "a < b & c", "number": 7, "list": ["x", ["y": true]], "data": Data([0, 1, 255]),
        ]
        try NSPersistentStoreCoordinator.setMetadata(values, type: type, at: stack.url)
        var found = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: stack.url)
        #expect(found[NSStoreTypeKey] as? String == type.rawValue)
        #expect(found[NSStoreUUIDKey] is String)
        #expect((found[NSStoreModelVersionHashesKey] as? [String: Data])?.count == Library.model().entities.count)
        for key in found.keys where values[key] == nil { found[key] = nil }
        #expect(NSDictionary(dictionary: found) == NSDictionary(dictionary: values))
        try stack.reopen()
        #expect(try FileStack.picture(stack.coordinator) == picture)
        #expect(stack.store.metadata["text"] as? String == "a < b & c")
    }

    @Test("S2: destroyed, its file is gone; replaced, it is the other one's", arguments: types)
    func destroyAndReplace(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        try stack.story { try FileStack.fill($0) }
        let copy = stack.folder.appendingPathComponent("copy")
        let coordinator = stack.coordinator
        try coordinator.copyPersistentStore(stack.store, to: copy)
        #expect(try Data(contentsOf: copy) == stack.bytes())
        let exists = try #require(throws: CocoaError.self) {
            try coordinator.copyPersistentStore(stack.store, to: copy)
        }
        #expect(exists.code == .fileWriteFileExists)
        try coordinator.destroyPersistentStore(at: stack.url, type: type)
        #expect(coordinator.persistentStores.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: stack.url.path))
        try coordinator.replacePersistentStore(at: stack.url, withPersistentStoreFrom: copy, type: type)
        #expect(try Data(contentsOf: copy) == stack.bytes())
        let text = stack.folder.appendingPathComponent("text")
        try Data("no store".utf8).write(to: text)
        #expect(throws: CocoaError.self) { try coordinator.destroyPersistentStore(at: text, type: type) }
        #expect(throws: CocoaError.self) {
            try coordinator.replacePersistentStore(at: text, withPersistentStoreFrom: copy, type: type)
        }
        #expect(try Data(contentsOf: text) == Data("no store".utf8))
        try stack.reopen()
        let moved = stack.folder.appendingPathComponent("moved")
        try FileManager.default.moveItem(at: stack.url, to: moved)
        #expect(stack.coordinator.setURL(moved, for: stack.store))
        #expect(!stack.coordinator.setURL(text, for: stack.store))
        #expect(!stack.coordinator.setURL(stack.folder.appendingPathComponent("no/store"), for: stack.store))
        try stack.story { context in
            Tag(context: context).name = "moved"
            try context.save()
        }
        #expect(try Data(contentsOf: copy) != Data(contentsOf: moved))
    }

    @Test("setURL sends a store of one file where nothing is yet, and the next save makes it", arguments: types)
    func moveToNothing(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        try stack.story { context in
            Tag(context: context).name = "first"
            try context.save()
        }
        let (old, new) = (try stack.bytes(), stack.folder.appendingPathComponent("new"))
        #expect(stack.coordinator.setURL(new, for: stack.store) && stack.store.url == new)
        try stack.story { context in
            try context.save()
            #expect(!FileManager.default.fileExists(atPath: new.path), "nothing was to be saved")
            // Somebody else's file is not written over.
            try Data("theirs".utf8).write(to: new)
            Tag(context: context).name = "second"
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(try Data(contentsOf: new) == Data("theirs".utf8))
            try FileManager.default.removeItem(at: new)
            try context.save()
            Tag(context: context).name = "third"
            try context.save()
        }
        #expect(try stack.bytes() == old)
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        try coordinator.addPersistentStore(type: type, at: new)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        #expect(try context.performAndWait { try context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) } == 3)
    }

    @Test("S4: an empty file becomes a store; so does none, where there can be one", arguments: types)
    func emptyFile(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        let empty = stack.folder.appendingPathComponent("empty")
        try Data().write(to: empty)
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        try coordinator.addPersistentStore(type: type, at: empty)
        #expect(try Data(contentsOf: empty).count > 100)
        let error = try #require(throws: CocoaError.self) {
            try coordinator.addPersistentStore(type: type, at: empty.appendingPathComponent("no/store"))
        }
        #expect(error.code == .fileWriteUnknown)
        let missing = try #require(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                type: type, at: stack.folder.appendingPathComponent("none"),
                options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
        }
        #expect(missing.code == .fileReadNoSuchFile)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: stack.folder.path).count == 2, "nothing is left over")
        let again = try #require(throws: CocoaError.self) { try coordinator.addPersistentStore(type: type, at: empty) }
        #expect(again.errorCode == NSPersistentStoreOpenError)
    }

    @Test("S4: a store of another type says of which", arguments: types + [.sqlite])
    func otherTypes(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        for other in Self.types where other != type {
            let error = try #require(throws: CocoaError.self) {
                try NSPersistentStoreCoordinator(validating: Library.model())
                    .addPersistentStore(type: other, at: stack.url)
            }
            #expect(error.errorCode == NSPersistentStoreTypeMismatchError)
            #expect(error.localizedDescription.contains(type.rawValue))
        }
        let apple = stack.folder.appendingPathComponent("apple")
        try Data("CoreData\0\0\0\u{1}rest".utf8).write(to: apple)
        let error = try #require(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator(validating: Library.model()).addPersistentStore(type: .binary, at: apple)
        }
        #expect(error.localizedDescription.contains("a binary store of Apple's"))
    }

    @Test("An option that only a database can follow is refused by name", arguments: types)
    func refusedOptions(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        let options: [(String, Any)] = [
            (NSPersistentHistoryTrackingKey, NSNumber(value: true)), (NSSQLiteAnalyzeOption, NSNumber(value: true)),
            (NSSQLitePragmasOption, ["synchronous": "FULL"]),
            (NSPersistentStoreForceDestroyOption, NSNumber(value: true)),
        ]
        for (name, value) in options {
            let error = try #require(throws: CocoaError.self) { _ = try stack.newCoordinator([name: value]) }
            #expect(error.localizedDescription.contains(name))
        }
        _ = try stack.newCoordinator([
            NSPersistentStoreFileProtectionKey: "NSFileProtectionComplete",
            NSPersistentStoreTimeoutOption: NSNumber(value: 1),
            NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
            NSValidateXMLStoreOption: NSNumber(value: true),
        ])
    }

    @Test("A container makes the folder", arguments: types)
    func containerMakesTheFolder(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        let description = NSPersistentStoreDescription(url: stack.folder.appendingPathComponent("a/b/store"))
        description.type = type.rawValue
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { #expect($1 == nil) }
        #expect(container.persistentStoreCoordinator.persistentStores.map(\.type) == [type.rawValue])
    }

    @Test("Whatever byte of a file is damaged, opening it is an error or the store as it was", arguments: types)
    func damagedFiles(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        try stack.story { try FileStack.fill($0) }
        let bytes = try stack.bytes()
        var generator = SeededNumbers(seed: 7)
        let broken = stack.folder.appendingPathComponent("broken")
        for round in 0..<150 {
            var damaged = bytes
            if round.isMultiple(of: 3) {
                damaged = damaged.prefix(Int.random(in: 1..<bytes.count, using: &generator))
            } else {
                damaged[Int.random(in: 0..<bytes.count, using: &generator)] ^= UInt8.random(
                    in: 1...255, using: &generator)
            }
            try damaged.write(to: broken)
            let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
            do {
                try coordinator.addPersistentStore(type: type, at: broken)
                #expect(type == .xml, "round \(round)")
                _ = try FileStack.picture(coordinator)
            } catch let error as CocoaError {
                #expect(
                    [259, 134000, 134010, 134020, 134100].contains(error.errorCode),
                    "\(round): \(error.errorCode) \(error)")
            }
            #expect(try Data(contentsOf: broken) == damaged)
        }
    }
}
