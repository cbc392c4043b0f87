import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataStore

/// What is the same of every error that leaves the framework: domain, code, a sentence for people, no word of what is inside.
private func check(_ error: any Error, _ code: Int, _ what: String, words: [String] = []) {
    let error = error as NSError
    let text = error.localizedDescription
    #expect(error.domain == NSCocoaErrorDomain, "\(what): \(error)")
    #expect(error.code == code, "\(what): \(error)")
    #expect(text == error.userInfo[NSLocalizedDescriptionKey] as? String, "\(what): \(text)")
    #expect(text.count > 10 && text.first.map { $0.isLetter || $0 == "\"" } == true, "\(what): \(text)")
    #expect(!text.hasPrefix("error:") && !text.contains(": error: ") || text.contains("\n"), "\(what): \(text)")
    for inside in ["PredicateFailure", "StoreFailure", "SQLFailure", "Failure(", "Diagnostic("] {
        #expect(!text.contains(inside), "\(what): \(text)")
    }
    for word in words { #expect(text.contains(word), "\(what): \(text)") }
}

@Suite struct ErrorTests {
    // MARK: Every failure of the targets below

    private static func badPattern() -> any Error {
        do { return try TextComparison.matches("a", "(") ? CancellationError() : CancellationError() } catch {
            return error
        }
    }

    private static let failures: [(any Error, Int)] = [
        (PredicateFailure(.syntax, Diagnostic(.error, "expected a comparison")), 2048),
        (PredicateFailure(.evaluation, Diagnostic(.error, "an operand is wrong"), subexpression: "a > 1"), 134060),
        (PredicateFailure(.unsupported, Diagnostic(.error, "no SQL for it", hint: "use ANY")), 134060),
        (badPattern(), 134060),
        (ModelFailure(diagnostics: [Diagnostic(.error, "entity 'A' has no name")]), 134060),
        (ExternalDataFailure(.missing, file: "/f", reason: "No such file."), 260),
        (ExternalDataFailure(.unreadable, file: "/f", reason: "Permission denied"), 256),
        (ExternalDataFailure(.readOnly, file: "/f", reason: "Permission denied"), 513),
        (ExternalDataFailure(.full, file: "/f", reason: "No space left"), 640),
        (ExternalDataFailure(.unwritable, file: "/f", reason: "I/O error"), 512),
        (SaveFailure.conflicts([]), 133020),
        (SaveFailure.constraints([]), 133021),
    ]

    private static let kinds: [(SQLFailure.Kind, Int)] = [
        (.busy, 134090), (.constraint, 134030), (.corrupt, 259), (.notADatabase, 259), (.readOnly, 513), (.full, 640),
        (.cannotOpen, 134080), (.interrupted, 134180), (.missingTable, 134020), (.other, 134180),
    ]

    private static let storeKinds: [(StoreFailure.Kind, Int)] = [
        (.notADatabase, 259), (.lostMetadata, 259), (.cannotOpen, 134080), (.unreadable, 257), (.notAStore, 134000),
        (.wrongStoreType, 134010),
        (.newerFormat, 134020), (.incompatibleModel, 134100), (.incompleteSchema, 134020), (.noCachedModel, 134130),
        (.unsupportedModel, 134060), (.unknownConfiguration, 134060), (.readOnly, 513),
    ]

    @Test func everyFailureInsideIsAnErrorOfApplesOutside() {
        func converted(_ error: any Error) -> any Error { CoreDataErrors.converted(error, store: nil, context: nil) }
        for (failure, code) in Self.failures { check(converted(failure), code, "\(failure)") }
        for (kind, code) in Self.kinds {
            let error = converted(SQLFailure(kind: kind, code: 7, message: "it said so", sql: "INSERT INTO ZBOOK …"))
            check(error, code, "\(kind)", words: ["it said so"])
            #expect(!error.localizedDescription.contains("INSERT"), "\(kind)")
            #expect((error as NSError).userInfo[NSSQLiteErrorDomain] as? Int == 7)
        }
        for (kind, code) in Self.storeKinds {
            check(converted(StoreFailure(kind, "The store is what it is.")), code, "\(kind)")
        }
        // Whatever is forgotten above.
        check(converted(SaveExecutor.RowIsOutdated()), 134060, "an unknown failure")
    }

    @Test func errorsOfApplicationsAndOfFoundationStayWhatTheyAre() {
        struct Own: Error, Equatable {}
        #expect(CoreDataErrors.converted(Own(), store: nil, context: nil) is Own)
        let foundation = CoreDataErrors.converted(CocoaError(.fileNoSuchFile), store: nil, context: nil)
        #expect((foundation as NSError).code == CocoaError.Code.fileNoSuchFile.rawValue)
    }

    // MARK: Every way out

    private typealias Way = (name: String, code: Int, words: [String], run: @Sendable (LibraryStack) throws -> Void)

    private static let ways: [Way] = [
        (
            "fetch, predicate without SQL", 134060, ["keypath nme not found"],
            { stack in
                _ = try stack.context.all(Tag.self, "Tag", "nme == 'a'")
            }
        ),
        (
            "fetch, predicate in memory", 134060, ["substring"],
            { stack in
                // Without a store only what is unsaved is looked at.
                try stack.coordinator.remove(stack.coordinator.persistentStores[0])
                Book(context: stack.context).title = "a"
                _ = try stack.context.all(Book.self, "Book", "pages BEGINSWITH 'a'")
            }
        ),
        (
            "fetch, block", 134060, ["BLOCKPREDICATE"],
            { stack in
                let request = NSFetchRequest<Tag>(entityName: "Tag")
                request.predicate = NSPredicate { _, _ in true }
                _ = try stack.context.fetch(request)
            }
        ),
        ("fetch, entity", 134060, ["'Tagg'"], { stack in _ = try stack.context.all(Tag.self, "Tagg") }),
        (
            "fetch, sort", 134060, ["comparator"],
            { stack in
                let request = NSFetchRequest<Tag>(entityName: "Tag")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true) { _, _ in .orderedSame }]
                _ = try stack.context.fetch(request)
            }
        ),
        (
            "fetch, pattern", 134060, ["is not a regular expression"],
            { stack in
                _ = try stack.context.all(Tag.self, "Tag", "name MATCHES '('")
            }
        ),
        (
            "count", 134060, ["keypath"],
            { stack in
                let request = NSFetchRequest<Tag>(entityName: "Tag")
                request.predicate = NSPredicate(format: "nme == 1")
                _ = try stack.context.count(for: request)
            }
        ),
        (
            "explain", 134060, ["keypath"],
            { stack in
                let request = NSFetchRequest<Tag>(entityName: "Tag")
                request.predicate = NSPredicate(format: "nme == 1")
                _ = try stack.context.explain(request)
            }
        ),
        ("execute", 134060, ["perform"], { _ in _ = try NSFetchRequest<Tag>(entityName: "Tag").executeOutside() }),
        (
            "existingObject", 133000, ["no store"],
            { stack in
                let tag = Tag(context: stack.context)
                try stack.context.save()
                let id = tag.objectID
                stack.context.delete(tag)
                try stack.context.save()
                _ = try stack.context.existingObject(with: id)
            }
        ),
        (
            "validateForInsert", 1570, ["title is a required value."],
            { stack in
                try Book(context: stack.context).validateForInsert()
            }
        ),
        (
            "validateValue", 1570, ["title is a required value."],
            { stack in
                var value: AnyObject?
                let book = Book(context: stack.context)
                try withUnsafeMutablePointer(to: &value) {
                    try book.validateValue(AutoreleasingUnsafeMutablePointer($0), forKey: "title")
                }
            }
        ),
        (
            "save, no coordinator", 134060, ["persistentStoreCoordinator"],
            { _ in
                let context = NSManagedObjectContext(.privateQueue)
                let model = Library.model()
                try context.performAndWait {
                    _ = NSManagedObject(entity: model.entities[6], insertInto: context)
                    try context.save()
                }
            }
        ),
        (
            "add, twice", 134080, ["already"],
            { stack in
                try stack.coordinator.addPersistentStore(type: .sqlite, at: stack.url)
            }
        ),
        (
            "add, configuration", 134060, ["no configuration 'X'"],
            { stack in
                try stack.coordinator.addPersistentStore(
                    type: .sqlite, configuration: "X", at: stack.folder.appendingPathComponent("x"))
            }
        ),
        (
            "add, type", 134000, ["Web"],
            { stack in
                try stack.coordinator.addPersistentStore(
                    type: .init(rawValue: "Web"), at: stack.folder.appendingPathComponent("x"))
            }
        ),
        (
            "add, no store", 134000, ["not made by Core Data"],
            { stack in
                let url = stack.folder.appendingPathComponent("other.sqlite")
                let other = try StoreSettings(nil).storeOptions(path: url.path)
                try SQLStore.makeDatabase(other.database).write { try $0.execute("CREATE TABLE a (b)") }
                try stack.coordinator.addPersistentStore(type: .sqlite, at: url)
            }
        ),
        (
            "remove", 134070, ["not attached"],
            { stack in
                try stack.coordinator.remove(LibraryStack().coordinator.persistentStores[0])
            }
        ),
        (
            "metadata", 260, ["There is no store at"],
            { stack in
                _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    type: .sqlite, at: stack.folder.appendingPathComponent("nothing"))
            }
        ),
        (
            "report", 260, ["There is no store at"],
            { stack in
                _ = try NSPersistentStoreCoordinator.report(
                    onPersistentStoreAt: stack.folder.appendingPathComponent("nothing"))
            }
        ),
        (
            "model", 134060, ["nothing.momd"],
            { stack in
                _ = try NSManagedObjectModel.load(contentsOf: stack.folder.appendingPathComponent("nothing.momd"))
            }
        ),
        (
            "model, reference", 134504, ["checksum"],
            { _ in
                _ = try NSManagedObjectModelReference(model: Library.model(), versionChecksum: "x").resolve()
            }
        ),
        (
            "model, wrong", 134060, ["The model cannot be used"],
            { _ in
                let model = Library.model()
                model.entities[0].name = model.entities[1].name
                _ = try NSPersistentStoreCoordinator(validating: model)
            }
        ),
        (
            "predicate, text", 2048, ["Unable to parse the format string"],
            { _ in
                _ = try NSPredicate(validating: "a ==")
            }
        ),
    ]

    @Test func everyWayOutHasItsError() throws {
        for way in Self.ways {
            let stack = try LibraryStack()
            do {
                try stack.story { _ in try way.run(stack) }
                Issue.record("\(way.name): no error")
            } catch {
                check(error, way.code, way.name, words: way.words)
            }
        }
    }

    @Test("A missing file of external data is 260, when it is read and when the save after it fails")
    func externalData() throws {
        let model = Library.model()
        model.entitiesByName["Book"]?.attributesByName["cover"]?.allowsExternalBinaryDataStorage = true
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let book = Book(context: context)
            book.title = "a"
            book.cover = Data(count: 300_000)
            try context.save()
            let id = book.objectID
            context.reset()
            let files = stack.folder.appendingPathComponent(".Library_SUPPORT")
            try FileManager.default.removeItem(at: files)
            stack.coordinator.attachedStores.forEach { $0.cache.removeAll() }
            do {
                let book = try #require(try context.existingObject(with: id) as? Book)
                #expect(book.cover == nil)
                try context.save()
            } catch {
                check(error, 260, "missing file", words: ["_EXTERNAL_DATA"])
            }
        }
    }

    // MARK: Stores

    @Test("134100 has the store's metadata with UUID and type, and tells each difference once")
    func incompatibleModel() throws {
        let stack = try LibraryStack()
        let identifier = stack.coordinator.persistentStores[0].identifier
        let model = Library.model()
        let tag = try #require(model.entitiesByName["Tag"])
        tag.properties.append(Library.attribute("colour", .stringAttributeType))
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        do {
            try coordinator.addPersistentStore(type: .sqlite, at: stack.url)
            Issue.record("no error")
        } catch {
            check(error, 134100, "134100", words: ["changed: Tag", "Tag.colour is only in the model"])
            #expect(error.localizedDescription.components(separatedBy: "Tag.colour").count == 2, "\(error)")
            let metadata = (error as NSError).userInfo["metadata"] as? [String: Any]
            #expect(metadata?[NSStoreUUIDKey] as? String == identifier)
            #expect(metadata?[NSStoreTypeKey] as? String == NSSQLiteStoreType)
            #expect((metadata?[NSStoreModelVersionHashesKey] as? [String: Data])?.count == 7)
        }
    }

    @Test("H9: what is inserted, changed or deleted in a read-only store is error 513", arguments: 0..<3)
    func readOnlyStores(change: Int) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            Tag(context: context).name = "a"
            try context.save()
        }
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        try coordinator.addPersistentStore(
            type: .sqlite, at: stack.url, options: [NSReadOnlyPersistentStoreOption: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let tag = try #require(try context.all(Tag.self, "Tag").first)
            switch change {
            case 0: Tag(context: context).name = "b"
            case 1: tag.name = "b"
            default: context.delete(tag)
            }
            do {
                try context.save()
                Issue.record("no error")
            } catch {
                check(error, 513, "read-only", words: ["Library.sqlite", "read-only"])
                #expect((error as? CocoaError)?.affectedStores?.first === coordinator.persistentStores[0])
            }
        }
    }

    @Test("No space left is error 640, without the statement")
    func fullStores() throws {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        try coordinator.addPersistentStore(
            type: .sqlite, at: folder.appendingPathComponent("Full.sqlite"),
            options: [NSSQLitePragmasOption: ["max_page_count": "60"]])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            for index in 0..<2000 { Tag(context: context).name = String(repeating: "\(index)", count: 50) }
            do {
                try context.save()
                Issue.record("no error")
            } catch {
                check(error, 640, "full", words: ["Full.sqlite", "no space"])
                #expect(!"\((error as NSError).userInfo)".contains("INSERT"))
                #expect(context.insertedObjects.count == 2000)
            }
        }
    }
}

extension NSFetchRequest where ResultType == Tag {
    /// Executes the request on another thread, which no context owns.
    fileprivate func executeOutside() throws -> [Tag] {
        nonisolated(unsafe) var result: Result<[Tag], any Error> = .success([])
        nonisolated(unsafe) let request = self
        let end = DispatchSemaphore(value: 0)
        Thread {
            result = Result { try request.execute() }
            end.signal()
        }.start()
        end.wait()
        return try result.get()
    }
}
