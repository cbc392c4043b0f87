import CoreData
import Foundation
import Testing

/// What a child context asks of its parent, and what it does not show.
@Suite struct ChildContextTests {
    private func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        return child
    }

    @Test("K5: contexts have queues, so parents have: a child may have a parent of either kind, and its stores")
    func kindsOfParents() throws {
        let stack = try LibraryStack()
        let main = NSManagedObjectContext(.mainQueue)
        main.persistentStoreCoordinator = stack.coordinator
        for parent in [stack.context, main] {
            let child = child(of: parent)
            #expect(child.parent === parent)
            #expect(child.persistentStoreCoordinator === stack.coordinator)
            #expect(child.concurrencyType == .privateQueueConcurrencyType)
        }
    }

    @Test("K8: dictionaries that a child fetches are of saved rows, whatever it or its parent has pending")
    func dictionariesArePlain() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            (book.title, book.pages) = ("Saved", 1)
            try context.save()
            let id = book.objectID
            let child = child(of: context)
            try child.performAndWait { () throws in
                (child.object(with: id) as? Book)?.title = "Changed"
                let new = Book(context: child)
                new.title = "New"
                let request = NSFetchRequest<NSDictionary>(entityName: "Book")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = ["title"]
                #expect(try child.fetch(request).map { $0["title"] as? String } == ["Saved"])
                #expect(try child.all(Book.self, "Book").compactMap(\.title).sorted() == ["Changed", "New"])
            }
        }
    }

    @Test("K8: a batch size in a child leaves out none of what is pending")
    func batches() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for index in 0..<7 {
                let book = Book(context: context)
                (book.title, book.pages) = ("\(index)", Int32(index))
            }
            try context.save()
            let child = child(of: context)
            try child.performAndWait {
                let request = NSFetchRequest<Book>(entityName: "Book")
                request.fetchBatchSize = 2
                request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
                let new = Book(context: child)
                (new.title, new.pages) = ("new", 3)
                let titles = try child.fetch(request).compactMap(\.title)
                #expect(titles.count == 8 && titles.contains("new") && titles.first == "0" && titles.last == "6")
            }
        }
    }

    /// What the parent does to a member that the child leaves alone.
    enum Loss: CaseIterable { case deletion, savedDeletion, foreignDeletion, removal }

    @Test(
        "K2: a save of a child brings nobody back into an ordered relationship whom the parent has lost",
        arguments: ["items", "likes", "friends", "children"], Loss.allCases)
    func lostMembers(_ key: String, _ loss: Loss) throws {
        let stack = try LibraryStack(model: Nodes.model())
        try stack.story { parent in
            let nodes = ["owner", "a", "b", "c"].map { Nodes.insert($0, into: parent) }
            let isOrdered = key == "items" || key == "likes"
            func members(of node: NSManagedObject) -> [String] {
                let names = Nodes.targets(node.value(forKey: key)).map(Nodes.name)
                return isOrdered ? names : names.sorted()
            }
            func add(_ member: NSManagedObject, to owner: NSManagedObject) {
                if isOrdered {
                    owner.mutableOrderedSetValue(forKey: key).add(member)
                } else {
                    owner.mutableSetValue(forKey: key).add(member)
                }
            }
            for node in nodes[1...2] { add(node, to: nodes[0]) }
            try parent.save()
            // What another context deletes has changed the owner's row.
            parent.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let child = child(of: parent)
            try child.performAndWait {
                let owner = child.object(with: nodes[0].objectID)
                #expect(members(of: owner) == ["a", "b"])
                add(child.object(with: nodes[3].objectID), to: owner)
                try parent.performAndWait {
                    switch loss {
                    case .deletion, .savedDeletion:
                        parent.delete(nodes[1])
                        parent.processPendingChanges()
                        if loss == .savedDeletion { try parent.save() }
                    case .foreignDeletion:
                        let other = stack.newContext()
                        let id = nodes[1].objectID
                        try other.performAndWait {
                            other.delete(other.object(with: id))
                            try other.save()
                        }
                        NSManagedObjectContext.mergeChanges(
                            fromRemoteContextSave: [NSDeletedObjectsKey: [id]], into: [parent])
                    case .removal:
                        if isOrdered {
                            nodes[0].mutableOrderedSetValue(forKey: key).remove(nodes[1])
                        } else {
                            nodes[0].mutableSetValue(forKey: key).remove(nodes[1])
                        }
                    }
                }
                try child.save()
            }
            #expect(members(of: nodes[0]) == ["b", "c"])
            try parent.save()
            #expect(members(of: nodes[0]) == ["b", "c"] && !parent.hasChanges)
            nodes[0].setValue(1, forKey: "note")
            try parent.save()
            parent.refreshAllObjects()
            #expect(members(of: nodes[0]) == ["b", "c"])
            #expect(try Nodes.differences(in: parent).isEmpty)
        }
    }
}
