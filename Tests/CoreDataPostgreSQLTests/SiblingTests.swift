import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

/// A fault is read with its siblings: what counts is how often something is sent to the server.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct SiblingTests {
    private static func makeModel() -> NSManagedObjectModel {
        func name() -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = ("name", .stringAttributeType, true)
            return attribute
        }
        func relationship(_ name: String, toMany: Bool) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            (relationship.name, relationship.isOptional, relationship.maxCount) = (name, true, toMany ? 0 : 1)
            return relationship
        }
        let (author, book, tag) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (author.name, book.name, tag.name) = ("Author", "Book", "Tag")
        let (books, writer) = (relationship("books", toMany: true), relationship("author", toMany: false))
        let (tags, tagged) = (relationship("tags", toMany: true), relationship("books", toMany: true))
        (books.destinationEntity, books.inverseRelationship) = (book, writer)
        (writer.destinationEntity, writer.inverseRelationship) = (author, books)
        (tags.destinationEntity, tags.inverseRelationship) = (tag, tagged)
        (tagged.destinationEntity, tagged.inverseRelationship) = (book, tags)
        author.properties = [name(), books]
        book.properties = [name(), writer, tags]
        tag.properties = [name(), tagged]
        let model = NSManagedObjectModel()
        model.entities = [author, book, tag]
        return model
    }

    private struct Library {
        let coordinator: NSPersistentStoreCoordinator
        let relay: PacketRelay
        let sent: Sent

        func newContext() -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return context
        }
    }

    private final class Sent: Sendable {
        let count = Atomic<Int>(0)

        /// How often something was sent while the body ran.
        func during(_ body: () throws -> Void) rethrows -> Int {
            let before = count.load(ordering: .relaxed)
            try body()
            return count.load(ordering: .relaxed) - before
        }
    }

    /// 60 authors with a book each, which has two of five tags.
    private func makeLibrary(_ count: Int = 60) throws -> Library {
        let server = try PostgreSQLServer.shared
        PostgreSQLStore.register()
        let sent = Sent()
        let relay = try PacketRelay(to: server) { packet in
            if !packet.isFromServer { sent.count.wrappingAdd(1, ordering: .relaxed) }
            return .pass
        }
        let url = server.url(schema: Notes.newSchema("i"), folder: relay.folder)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        let library = Library(coordinator: coordinator, relay: relay, sent: sent)
        let context = library.newContext()
        try context.performAndWait {
            func make(_ entity: String, _ name: String) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                object.setValue(name, forKey: "name")
                return object
            }
            let tags = (0..<5).map { make("Tag", "tag \($0)") }
            for index in 0..<count {
                let book = make("Book", String(format: "book %02d", index))
                book.setValue(make("Author", "author \(index)"), forKey: "author")
                book.setValue(NSSet(array: [tags[index % 5], tags[(index + 1) % 5]]), forKey: "tags")
            }
            try context.save()
            context.reset()
        }
        return library
    }

    private func books(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    private func names(_ objects: [NSManagedObject]) -> [String] {
        objects.map { $0.value(forKeyPath: "author.name") as? String ?? "" }
    }

    @Test(arguments: [false, true])
    func destinationsOfAToOneAreReadTogether(_ isChild: Bool) throws {
        let expected = (0..<60).map { "author \($0)" }
        for readsSiblings in [true, false] {
            // With nothing in memory yet.
            let library = try makeLibrary()
            let parent = library.newContext()
            let context = isChild ? NSManagedObjectContext(.privateQueue) : parent
            if isChild { context.parent = parent }
            context.readsSiblingsOfFaults = readsSiblings
            try context.performAndWait {
                let found = try books(context)
                let count = library.sent.during { #expect(names(found) == expected) }
                if readsSiblings { #expect(count <= 6, "\(count)") } else { #expect(count >= 60, "\(count)") }
                // What is refreshed is read together, too.
                context.refreshAllObjects()
                let again = library.sent.during {
                    #expect(found.map { $0.value(forKey: "name") as? String ?? "" }.first == "book 00")
                    for book in found { _ = book.value(forKey: "name") }
                }
                if readsSiblings { #expect(again <= 6, "\(again)") }
            }
        }
    }

    /// What comes by the way, list by list, does not put out of mind the list that is gone through.
    @Test func aLongListKeepsItsSiblingsToTheEnd() throws {
        let library = try makeLibrary(1200)
        let context = library.newContext()
        try context.performAndWait {
            let found = try books(context)
            let count = library.sent.during { #expect(Set(names(found)).count == 1200) }
            #expect(count <= 40, "\(count)")
        }
    }

    @Test func membersOfToManysAreReadTogether() throws {
        for readsSiblings in [true, false] {
            let library = try makeLibrary()
            let context = library.newContext()
            context.readsSiblingsOfFaults = readsSiblings
            try context.performAndWait {
                let found = try books(context)
                let count = library.sent.during {
                    for (index, book) in found.enumerated() {
                        let tags = (book.value(forKey: "tags") as? Set<NSManagedObject>)?.map {
                            $0.value(forKey: "name") as? String ?? ""
                        }
                        #expect(Set(tags ?? []) == ["tag \(index % 5)", "tag \((index + 1) % 5)"])
                    }
                }
                if readsSiblings { #expect(count <= 6, "\(count)") } else { #expect(count >= 60, "\(count)") }
                // One-to-many, from the members of a relationship.
                let tag = try #require((found[0].value(forKey: "tags") as? Set<NSManagedObject>)?.first)
                let tagged = try #require(tag.value(forKey: "books") as? Set<NSManagedObject>)
                #expect(tagged.count == 24)
                let further = library.sent.during {
                    for book in tagged { #expect((book.value(forKeyPath: "author.books") as? NSSet)?.count == 1) }
                }
                if readsSiblings { #expect(further <= 12, "\(further)") }
            }
        }
    }

    /// Delete rules ask for the members of each; a rule that denies does, too.
    @Test(arguments: [false, true])
    func membersOfWhatIsDeletedAreReadTogether(_ isChild: Bool) throws {
        let library = try makeLibrary(1200)
        let parent = library.newContext()
        let context = isChild ? NSManagedObjectContext(.privateQueue) : parent
        if isChild { context.parent = parent }
        try context.performAndWait {
            let found = try books(context)
            let tag = try #require((found[0].value(forKey: "tags") as? Set<NSManagedObject>)?.first)
            let count = try library.sent.during {
                for book in found.prefix(1000) { context.delete(book) }
                for book in found.suffix(100) { book.setValue("kept", forKey: "name") }
                try context.save()
                if isChild { try parent.performAndWait { try parent.save() } }
            }
            #expect(count <= 100, "\(count)")
            let left = try books(context)
            #expect(left.count == 200)
            let tagged = left.filter { ($0.value(forKey: "tags") as? Set<NSManagedObject>)?.contains(tag) == true }
            #expect((tag.value(forKey: "books") as? Set<NSManagedObject>) == Set(tagged) && !tagged.isEmpty)
        }
        let other = library.newContext()
        try other.performAndWait {
            let left = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).map {
                ($0.value(forKey: "books") as? NSSet)?.count ?? 0
            }
            #expect(left.count == 5 && left.reduce(0, +) == 400, "\(left)")
        }
    }

    /// What is unsaved stays, whoever is read beside it.
    @Test func unsavedChangesAreNotTouched() throws {
        let library = try makeLibrary()
        let context = library.newContext()
        try context.performAndWait {
            let found = try books(context)
            let other = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            other.setValue("new", forKey: "name")
            found[3].setValue(other, forKey: "author")
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            found[4].mutableSetValue(forKey: "tags").add(tag)
            context.delete(found[5])
            #expect(names([found[0]]) == ["author 0"])
            #expect((found[0].value(forKey: "tags") as? NSSet)?.count == 2)
            #expect(names([found[3]]) == ["new"])
            #expect((found[4].value(forKey: "tags") as? NSSet)?.count == 3)
            #expect((found[6].value(forKey: "tags") as? NSSet)?.count == 2)
            try context.save()
            context.refreshAllObjects()
            let after = try books(context)
            #expect(after.count == 59)
            #expect(names([after[3], after[4]]) == ["new", "author 4"])
            #expect((after[4].value(forKey: "tags") as? NSSet)?.count == 3)
        }
    }
}
