import CoreData
import Foundation
import TestSupport
import Testing

/// Semantics E5 and J4: relationships that were changed and are read again, seen from both sides.
@Suite struct RefreshedRelationshipTests {
    @Test("E5: a to-one that is given up with a refresh is given up on its other side, too", arguments: [false, true])
    func toOnes(_ knowsMembers: Bool) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let (ann, bob) = (Author(context: context), Author(context: context))
            (ann.name, bob.name) = ("Ann", "Bob")
            let book = Book(context: context)
            (book.title, book.author) = ("One", ann)
            try context.save()
            for object in [ann, bob, book] { context.refresh(object, mergeChanges: false) }
            if knowsMembers { #expect(ann.books == [book] && bob.books.isEmpty) }
            for target in [bob, nil] {
                book.author = target
                context.processPendingChanges()
                context.refresh(book, mergeChanges: false)
                #expect(ann.books == [book] && bob.books.isEmpty && book.author === ann)
                #expect(ann.changedValues().isEmpty && bob.changedValues().isEmpty)
            }
            try context.save()
            let other = stack.newContext()
            try other.performAndWait { () throws in
                #expect(try other.all(Author.self, "Author", "books.@count == 1").map(\.name) == ["Ann"])
            }
        }
    }

    @Test("E5: a many-to-many that is given up with a refresh is given up on its other side, too")
    func manyToManys() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let tags = ["a", "b", "c"].map { name in
                let tag = Tag(context: context)
                tag.name = name
                return tag
            }
            let book = Book(context: context)
            (book.title, book.tags) = ("One", [tags[0], tags[1]])
            try context.save()
            #expect(tags.map(\.books.count) == [1, 1, 0])
            book.tags = [tags[1], tags[2]]
            context.processPendingChanges()
            context.refresh(book, mergeChanges: false)
            #expect(tags.map(\.books.count) == [1, 1, 0] && book.tags == [tags[0], tags[1]])
            try context.save()
            #expect(tags.map(\.books.count) == [1, 1, 0] && book.tags == [tags[0], tags[1]])
        }
    }

    @Test("E5: of a to-many that is given up the members' own side decides")
    func toManys() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Ann"
            let book = Book(context: context)
            book.title = "One"
            try context.save()
            author.books = [book]
            context.processPendingChanges()
            context.refresh(author, mergeChanges: false)
            #expect(book.author === author && author.books == [book])
            context.refresh(book, mergeChanges: false)
            #expect(book.author == nil && author.books.isEmpty)
        }
    }

    @Test(
        "E5, B5: relationships of every kind stay even, whoever is refreshed one at a time", arguments: [false, true],
        [false, true])
    func oneAtATime(_ hasUndo: Bool, _ mayDelete: Bool) throws {
        for seed in Trials.some(of: Trials.seeds(40), atLeast: 4) {
            let stack = try LibraryStack(model: Nodes.model())
            var numbers = SeededNumbers(seed: seed)
            try stack.story { context in
                for name in ["a", "b", "c", "d", "e"] { _ = Nodes.insert(name, into: context) }
                try context.save()
                if hasUndo { context.undoManager = UndoManager() }
                for round in 0..<25 {
                    try Nodes.edit(context, &numbers, name: "n\(round)", mayDelete: mayDelete)
                    if numbers.chance(2) { context.processPendingChanges() }
                    if numbers.chance(6) { try context.save() }
                    guard numbers.chance(2) else { continue }
                    // A new one would lose its name.
                    let nodes = try Nodes.all(in: context).filter { !$0.isInserted }
                    if nodes.isEmpty { continue }
                    context.refresh(numbers.pick(nodes), mergeChanges: numbers.chance(3))
                    let differences = try Nodes.differences(in: context)
                    #expect(differences == [], "seed \(seed), round \(round)")
                    guard differences.isEmpty else { return }
                }
                try context.save()
                let picture = try Nodes.picture(of: context)
                let other = stack.newContext()
                try other.performAndWait { () throws in
                    #expect(try Nodes.picture(of: other) == picture, "seed \(seed)")
                }
                context.undoManager = nil
            }
        }
    }

    /// Person.pupil ↔ Person.teacher of four, edited at random in two contexts.
    @Test("E2, L4: one-to-ones stay even, whatever two contexts set and whoever is refreshed")
    func oneToOnes() throws {
        let model = NSManagedObjectModel()
        let person = Library.entity("Person", nil)
        let (forth, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        for (relationship, name, inverse) in [(forth, "pupil", back), (back, "teacher", forth)] {
            relationship.name = name
            (relationship.maxCount, relationship.isOptional) = (1, true)
            relationship.destinationEntity = person
            relationship.inverseRelationship = inverse
            relationship.deleteRule = .nullifyDeleteRule
        }
        person.properties = [Library.attribute("name", .stringAttributeType), forth, back]
        model.entities = [person]
        for seed in Trials.some(of: Trials.seeds(60), atLeast: 5) {
            let stack = try LibraryStack(model: model)
            let other = stack.newContext()
            var numbers = SeededNumbers(seed: seed)
            let context = stack.context
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let mine = try ["a", "b", "c", "d"].map { name in
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue(name, forKey: "name")
                try context.obtainPermanentIDs(for: [person])
                return person
            }
            func set(_ people: [NSManagedObject]) {
                let key = numbers.below(2) == 0 ? "pupil" : "teacher"
                let value = numbers.below(4) == 0 ? nil : people[numbers.below(4)]
                people[numbers.below(4)].setValue(value, forKey: key)
            }
            for _ in 0..<3 { set(mine) }
            try context.save()
            let theirs = mine.map { other.object(with: $0.objectID) }
            for round in 0..<6 {
                for _ in 0..<2 { set(mine) }
                for _ in 0..<2 { set(theirs) }
                other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                try other.save()
                switch numbers.below(3) {
                case 0: context.refreshAllObjects()
                case 1: for person in mine where numbers.below(2) == 0 { context.refresh(person, mergeChanges: true) }
                default: context.refresh(mine[numbers.below(4)], mergeChanges: false)
                }
                if round % 2 == 0 { context.refreshAllObjects() }
                guard round % 2 == 0 else { continue }
                for person in mine {
                    let pupil = person.value(forKey: "pupil") as? NSManagedObject
                    let teacher = person.value(forKey: "teacher") as? NSManagedObject
                    let comment: Comment = "seed \(seed), round \(round), \(person.value(forKey: "name") ?? "")"
                    #expect(pupil == nil || pupil?.value(forKey: "teacher") as? NSManagedObject === person, comment)
                    #expect(teacher == nil || teacher?.value(forKey: "pupil") as? NSManagedObject === person, comment)
                }
                try context.save()
                other.refreshAllObjects()
            }
        }
    }

    @Test(
        "E7: an ordered to-many gets a member beside a fault that another save has led elsewhere", arguments: [0, 1, 2])
    func newMemberBesideOneThatLeft(position: Int) throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context in
            let (book, second) = (Book(context: context), Book(context: context))
            (book.title, second.title) = ("one", "two")
            let chapters = ["a", "b"].map { title in
                let chapter = Chapter(context: context)
                chapter.title = title
                return chapter
            }
            book.chapters = chapters
            try context.save()
            #expect(book.chapters.count == 2)
            for chapter in chapters { context.refresh(chapter, mergeChanges: true) }
            try other.performAndWait {
                for chapter in chapters {
                    (other.object(with: chapter.objectID) as? Chapter)?.book =
                        other.object(with: second.objectID) as? Book
                }
                try other.save()
            }
            let new = Chapter(context: context)
            new.title = "new"
            book.mutableOrderedSetValue(forKey: "chapters").insert(new, at: position)
            do { try context.save() } catch let error as NSError where error.code == NSManagedObjectMergeError {
                context.refreshAllObjects()
                try context.save()
            }
            #expect(book.chapters.map(\.title) == ["new"])
            #expect(second.chapters.map(\.title) == ["a", "b"])
        }
    }

    @Test("B5: a fault whose members were read forgets them when it is refreshed", arguments: [false, true])
    func membersOfAFault(all: Bool) throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context in
            let (book, chapter) = (Book(context: context), Chapter(context: context))
            (book.title, chapter.title, chapter.book) = ("one", "old", book)
            try context.save()
            let same = try other.performAndWait { () throws in
                let same = try #require(other.object(with: book.objectID) as? Book)
                other.delete(other.object(with: chapter.objectID))
                try other.save()
                return same
            }
            context.refreshAllObjects()
            let new = Chapter(context: context)
            (new.title, new.book) = ("new", book)
            try context.save()
            other.performAndWait {
                if all { other.refreshAllObjects() } else { other.refresh(same, mergeChanges: true) }
                #expect(same.chapters.map(\.title) == ["new"])
            }
        }
    }
}
