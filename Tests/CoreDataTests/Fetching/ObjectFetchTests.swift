import CoreData
import Foundation
import Testing

/// Semantics M15, M16: blocks, comparators and transient properties, which stores in memory ask objects for, and SQL cannot.
@Suite struct ObjectFetchTests {
    static let types: [NSPersistentStore.StoreType] = [.inMemory, .xml, .binary]

    /// Six books with pages 0 … 5, of which the even ones have been saved and forgotten.
    private func stack(_ type: NSPersistentStore.StoreType) throws -> (NSManagedObjectContext, LibraryStack) {
        let stack = try LibraryStack()
        try stack.coordinator.remove(try #require(stack.coordinator.persistentStores.first))
        _ = try stack.coordinator.addPersistentStore(type: type, at: stack.folder.appendingPathComponent("store"))
        try stack.story { context in
            for pages in 0..<6 {
                let book = Book(context: context)
                (book.title, book.pages, book.note) = ("\(pages)", Int32(pages), pages == 3 ? "three" : nil)
                if pages == 4 {
                    try context.save()
                    context.reset()
                }
            }
        }
        return (stack.context, stack)
    }

    private let isOdd = NSPredicate { object, _ in (object as? Book).map { $0.pages % 2 == 1 } ?? false }

    private func request(_ configure: (NSFetchRequest<Book>) -> Void) -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        configure(request)
        return request
    }

    @Test("Blocks find saved and unsaved objects, with limits, in counts, for IDs, and in children", arguments: types)
    func blocks(_ type: NSPersistentStore.StoreType) throws {
        let (context, stack) = try stack(type)
        let byTitle = [NSSortDescriptor(key: "title", ascending: false)]
        try context.performAndWait { () throws in
            let odd = request { ($0.predicate, $0.sortDescriptors) = (isOdd, byTitle) }
            #expect(try context.fetch(odd).map(\.title) == ["5", "3", "1"])
            #expect(try context.count(for: odd) == 3)
            (odd.fetchLimit, odd.fetchOffset) = (1, 1)
            #expect(try context.fetch(odd).map(\.title) == ["3"] && context.count(for: odd) == 1)
            (odd.fetchLimit, odd.fetchOffset) = (0, 0)
            odd.predicate = NSCompoundPredicate(
                andPredicateWithSubpredicates: [isOdd, NSPredicate(format: "pages > 1")])
            #expect(try context.fetch(odd).map(\.title) == ["5", "3"])
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
            (ids.resultType, ids.predicate) = (.managedObjectIDResultType, isOdd)
            #expect(try context.fetch(ids).count == 3)
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            try child.performAndWait { () throws in
                let book = Book(context: child)
                (book.title, book.pages) = ("7", 7)
                #expect(try child.fetch(odd).map(\.title) == ["7", "5", "3"] && child.count(for: odd) == 3)
            }
        }
        withExtendedLifetime(stack) {}
    }

    @Test("Comparators sort, transient properties are looked for and sorted by", arguments: types)
    func comparatorsAndTransientProperties(_ type: NSPersistentStore.StoreType) throws {
        let (context, stack) = try stack(type)
        try context.performAndWait { () throws in
            let byRemainder = NSSortDescriptor(key: "pages", ascending: true) { a, b in
                let (a, b) = (((a as? NSNumber)?.intValue ?? 0) % 3, ((b as? NSNumber)?.intValue ?? 0) % 3)
                return a < b ? .orderedAscending : a > b ? .orderedDescending : .orderedSame
            }
            let sorted = request {
                $0.sortDescriptors = [byRemainder, NSSortDescriptor(key: "title", ascending: true)]
            }
            #expect(try context.fetch(sorted).map(\.title) == ["0", "3", "1", "4", "2", "5"])
            sorted.fetchLimit = 2
            #expect(try context.fetch(sorted).map(\.title) == ["0", "3"])
            // Transient values are gone with the objects.
            #expect(try context.fetch(request { $0.predicate = NSPredicate(format: "note == 'three'") }).isEmpty)
            let three = try #require(try context.all(Book.self, "Book", "pages == 3").first)
            three.note = "three"
            #expect(
                try context.fetch(request { $0.predicate = NSPredicate(format: "note == 'three'") }).map(\.title)
                    == ["3"])
            let byNote = request {
                $0.sortDescriptors = ["note", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
            }
            #expect(try context.fetch(byNote).last === three)
        }
        withExtendedLifetime(stack) {}
    }

    @Test("What a transformer makes of a value is asked for its members", arguments: types)
    func transformables(_ type: NSPersistentStore.StoreType) throws {
        let note = Library.entity("Note", nil)
        let tags = Library.attribute("tags", .transformableAttributeType)
        tags.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        note.properties = [Library.attribute("name", .stringAttributeType), tags]
        let model = NSManagedObjectModel()
        model.entities = [note]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: url) }
        _ = try coordinator.addPersistentStore(type: type, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            for (name, tags) in [("one", ["a", "b"]), ("two", ["b"]), ("none", nil)] {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(name, forKey: "name")
                note.setValue(tags.map { NSArray(array: $0) }, forKey: "tags")
            }
            try context.save()
            context.reset()
            for (format, found) in [
                ("ANY tags == 'a'", ["one"]), ("ANY tags == 'b'", ["one", "two"]), ("'b' IN tags", ["one", "two"]),
                ("tags == nil", ["none"]), ("tags.@count == 2", ["one"]),
            ] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.predicate = NSPredicate(format: format)
                let names = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
                #expect(names == found, "\(format)")
                #expect(try context.count(for: request) == found.count, "\(format)")
            }
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Note")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.predicate = NSPredicate(format: "name == 'one'")
            let renamed = NSExpressionDescription()
            (renamed.name, renamed.expression) = ("labels", NSExpression(forKeyPath: "tags"))
            renamed.expressionResultType = .transformableAttributeType
            for properties in [nil, ["name", "tags"], [renamed]] as [[Any]?] {
                dictionaries.propertiesToFetch = properties
                let row = try #require(try context.fetch(dictionaries).first)
                #expect((row["tags"] ?? row["labels"]) as? [String] == ["a", "b"], "\(row)")
            }
        }
    }

    @Test("A list follows what a block selects", arguments: types)
    func lists(_ type: NSPersistentStore.StoreType) throws {
        let (context, stack) = try stack(type)
        try context.performAndWait { () throws in
            let request = request {
                ($0.predicate, $0.sortDescriptors) = (isOdd, [NSSortDescriptor(key: "title", ascending: true)])
            }
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let listener = Listener()
            list.delegate = listener
            try list.performFetch()
            #expect(list.fetchedObjects?.map(\.title) == ["1", "3", "5"])
            list.fetchedObjects?[1].pages = 4
            let book = Book(context: context)
            (book.title, book.pages) = ("2", 9)
            context.processPendingChanges()
            #expect(list.fetchedObjects?.map(\.title) == ["1", "2", "5"])
            try context.save()
            #expect(list.fetchedObjects?.map(\.title) == ["1", "2", "5"])
            let sorted = request.copy() as? NSFetchRequest<Book> ?? request
            sorted.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true) { _, _ in .orderedSame }]
            let other = NSFetchedResultsController(
                fetchRequest: sorted, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            #expect(throws: CocoaError.self) { try other.performFetch() }
            #expect(listener.count == 1)
        }
        withExtendedLifetime(stack) {}
    }

    @Test("An SQL store refuses all of them, with and without unsaved changes")
    func refusals() throws {
        try LibraryStack().story { context in
            for isUnsaved in [false, true] {
                if isUnsaved { Book(context: context).title = "unsaved" }
                let requests = [
                    request { $0.predicate = isOdd }, request { $0.predicate = NSPredicate(format: "note == ''") },
                    request { $0.sortDescriptors = [NSSortDescriptor(key: "note", ascending: true)] },
                    request {
                        $0.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true) { _, _ in .orderedSame }]
                    },
                ]
                for request in requests {
                    #expect(throws: CocoaError.self) { try context.fetch(request) }
                    #expect(throws: CocoaError.self) { try context.count(for: request) }
                }
            }
        }
    }
}

private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
    var count = 0

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { count += 1 }
}
