import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// What undo takes back and redo does again, whatever the rows stand on.
@Suite struct UndoSpecification {
    @Test(arguments: SpecifiedStore.all)
    func valuesInsertionsAndDeletionsAreTakenBack(_ store: SpecifiedStore) throws {
        try story(store) { graph throws in
            let context = graph.context
            let (ann, book) = graph.step {
                let ann = context.insert("Author", ["name": "Ann"])
                return (ann, context.insert("Book", ["title": "One", "author": ann]))
            }
            graph.step { book.setValue("Two", forKey: "title") }
            graph.step { context.delete(ann) }
            #expect(book.object("author") == nil)
            graph.checkEveryStep()
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func aSaveInBetweenChangesNothingOfIt(_ store: SpecifiedStore) throws {
        // J3, H7: the same instance and, once it is permanent, the same ID.
        try story(store) { graph throws in
            let context = graph.context
            let book = graph.step {
                let book = context.insert("Novel", ["title": "One", "genre": "Crime"])
                for title in ["a", "b", "c"] { _ = context.insert("Chapter", ["title": title, "book": book]) }
                book.setValue(NSOrderedSet(array: [context.insert("Tag", ["name": "t"])]), forKey: "tags")
                return book
            }
            try context.save()
            let identifier = book.objectID
            graph.step { context.delete(book) }
            try context.save()
            #expect(book.managedObjectContext == nil)
            context.undo()
            #expect(book.managedObjectContext === context && book.objectID == identifier && book.isInserted)
            #expect(book.names(of: "chapters", by: "title") == ["a", "b", "c"] && book.names(of: "tags") == ["t"])
            try context.save()
            try graph.stack.story { other throws in
                let found = try other.existingObject(with: identifier)
                #expect(found.text("genre") == "Crime")
                #expect(
                    found.names(of: "chapters", by: "title") == ["a", "b", "c"] && found.names(of: "tags") == ["t"])
            }
            context.redo()
            try context.save()
            try graph.stack.story { other throws in #expect(try other.all("Book").isEmpty) }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func cascadesAndOrderComeBack(_ store: SpecifiedStore) throws {
        try story(store, rules: [("Book", "chapters", .cascadeDeleteRule)]) { graph throws in
            let context = graph.context
            let book = graph.step {
                let book = context.insert("Book", ["title": "One"])
                for title in ["a", "b", "c", "d"] { _ = context.insert("Chapter", ["title": title, "book": book]) }
                return book
            }
            try context.save()
            graph.step {
                book.mutableOrderedSetValue(forKey: "chapters").moveObjects(at: IndexSet([0, 1]), to: 2)
            }
            #expect(book.names(of: "chapters", by: "title") == ["c", "d", "a", "b"])
            graph.step { context.delete(book) }
            #expect(try context.all("Chapter").isEmpty)
            graph.checkEveryStep()
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func hooksHearOfWhatIsTakenBack(_ store: SpecifiedStore) throws {
        try story(store) { graph throws in
            let context = graph.context
            let tag = graph.step { context.insert("Tag", ["name": "a"]) }
            graph.step { tag.setValue("b", forKey: "name") }
            let changes = ObservedChanges(of: context)
            context.undo()
            context.undo()
            context.redo()
            #expect(changes.sets == [["updated": [tag]], ["deleted": [tag]], ["inserted": [tag]]])
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func whatIsUndoneToItsBeginningIsNoChange(_ store: SpecifiedStore) throws {
        try story(store) { graph throws in
            let context = graph.context
            let tag = context.insert("Tag", ["name": "a"])
            let book = context.insert("Book", ["title": "One", "tags": NSOrderedSet(array: [tag])])
            try context.save()
            graph.manager.removeAllActions()
            graph.step { tag.setValue("b", forKey: "name") }
            graph.step { book.setValue(nil, forKey: "author") }
            graph.step { context.delete(tag) }
            for _ in 0..<3 { context.undo() }
            #expect(!tag.hasChanges && !tag.isDeleted && context.deletedObjects.isEmpty)
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func rollbackAndResetForgetWhatCouldBeUndone(_ store: SpecifiedStore) throws {
        try story(store) { graph throws in
            let context = graph.context
            graph.step { _ = context.insert("Tag", ["name": "a"]) }
            context.undo()
            context.rollback()
            context.redo()
            #expect(try context.all("Tag").isEmpty)  // J4
            #expect(!graph.manager.canRedo)
            graph.step { _ = context.insert("Tag", ["name": "a"]) }
            context.reset()
            #expect(!graph.manager.canUndo)
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func changesAreNotKeptWhileRegistrationIsOff(_ store: SpecifiedStore) throws {
        try story(store) { graph throws in
            let context = graph.context
            let tag = graph.step { context.insert("Tag", ["name": "a"]) }
            context.processPendingChanges()
            graph.manager.disableUndoRegistration()  // J2
            tag.setValue("b", forKey: "name")
            context.processPendingChanges()
            graph.manager.enableUndoRegistration()
            graph.step { tag.setValue("c", forKey: "name") }
            context.undo()
            #expect(tag.text("name") == "b")
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func anEditIsSavedWhoseDeletionWasTakenBack(_ store: SpecifiedStore) throws {
        // J3, D1, D3
        try story(store) { graph throws in
            let context = graph.context
            let tag = graph.step { context.insert("Tag", ["name": "t"]) }
            try context.save()
            graph.step { tag.setValue(3, forKey: "heft") }
            graph.step {
                tag.setValue("edited with its deletion", forKey: "name")
                context.delete(tag)
            }
            context.undo()
            #expect(tag.value(forKey: "heft") as? Int == 3 && tag.text("name") == "t")
            #expect(tag.isUpdated && context.hasChanges && context.updatedObjects == [tag])
            #expect(tag.changedValues()["heft"] as? Int == 3)
            try context.save()
            try graph.stack.story { fresh throws in #expect(try fresh.one("Tag").value(forKey: "heft") as? Int == 3) }
            context.undo()
            try context.save()
            try graph.stack.story { fresh throws in #expect(try fresh.one("Tag").value(forKey: "heft") == nil) }
        }
    }

    /// What is done to an object, to one at its other end, and its deletion, in any order and in one event.
    @Test(arguments: SpecifiedStore.all)
    func aDeletionAndAnEditOfItsOtherSideAreTakenBackTogether(_ store: SpecifiedStore) throws {
        // J3, E5
        typealias Edit = (_ mentor: NSManagedObject, _ pupil: NSManagedObject, _ friend: NSManagedObject) -> Void
        let edits: [Edit] = [
            { mentor, pupil, _ in mentor.mutableSetValue(forKey: "pupils").remove(pupil) },
            { mentor, _, _ in mentor.setValue(Set<NSManagedObject>(), forKey: "pupils") },
            { _, pupil, _ in pupil.setValue(nil, forKey: "mentor") },
            { mentor, pupil, _ in pupil.setValue(mentor, forKey: "mentor") },
            { _, pupil, friend in friend.mutableSetValue(forKey: "friends").remove(pupil) },
            { _, pupil, friend in pupil.mutableSetValue(forKey: "friends").add(friend) },
            { _, pupil, friend in pupil.setValue(friend, forKey: "mentor") },
        ]
        var stories: [(isSaved: Bool, isRelated: Bool, number: Int, deleted: Int, deletesFirst: Bool)] = []
        for isSaved in [true, false] {
            for isRelated in [true, false] {
                for number in edits.indices {
                    for deleted in 0..<3 {
                        for deletesFirst in [true, false] where !(deletesFirst && number == 6 && deleted == 2) {
                            stories.append((isSaved, isRelated, number, deleted, deletesFirst))
                        }
                    }
                }
            }
        }
        for (isSaved, isRelated, number, deleted, deletesFirst) in Trials.some(of: Trials.some(of: stories)) {
            try story(store) { graph throws in
                let context = graph.context
                let people = graph.step {
                    ["mentor", "pupil", "friend"].map { context.insert("Person", ["name": $0]) }
                }
                graph.step {
                    guard isRelated else { return }
                    people[1].setValue(people[0], forKey: "mentor")
                    people[1].setValue(Set([people[2]]), forKey: "friends")
                }
                if isSaved { try context.save() }
                graph.step {
                    if deletesFirst { context.delete(people[deleted]) }
                    edits[number](people[0], people[1], people[2])
                    if !deletesFirst { context.delete(people[deleted]) }
                }
                graph.checkEveryStep(
                    "edit \(number), \(deleted) deleted, first \(deletesFirst), saved \(isSaved), "
                        + "related \(isRelated):")
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func anyEditsAreTakenBackAndDoneAgain(_ store: SpecifiedStore) throws {
        for seed in Trials.some(of: store.seeds(12), atLeast: 2) {
            try story(store, rules: [("Book", "chapters", .cascadeDeleteRule)]) { graph throws in
                var edits = RandomEdits(seed: seed, context: graph.context)
                for _ in 0..<25 { try randomStep(graph, &edits) }
                graph.checkEveryStep("seed \(seed)")
            }
        }
    }

    /// A few edits, and perhaps a save and faults behind them.
    private func randomStep(_ graph: UndoneGraph, _ edits: inout RandomEdits) throws {
        let count = 1 + edits.below(4)
        try graph.step {
            for _ in 0..<count { try edits.edit() }
        }
        if edits.below(4) == 0 { try graph.context.save() }
        guard edits.below(4) == 0 else { return }
        for entity in ["Book", "Chapter", "Tag", "Person"] {
            for object in try graph.context.all(entity) where !object.hasChanges && edits.below(2) == 0 {
                graph.context.refresh(object, mergeChanges: false)
            }
        }
    }

    private func story(
        _ store: SpecifiedStore, rules: [(String, String, NSDeleteRule)] = [],
        _ body: (UndoneGraph) throws -> Void
    ) throws {
        try store.checkContexts(rules: rules) { stack in
            try stack.story { context in
                let manager = UndoManager()
                manager.groupsByEvent = false
                context.undoManager = manager
                try body(UndoneGraph(stack: stack, context: context, manager: manager))
                context.undoManager = nil
            }
        }
    }
}

/// What a context says that changed, from the moment that this is made.
final class ObservedChanges {
    private final class Entries: @unchecked Sendable {
        // Safe because the context posts on the queue that the test waits for.
        var sets: [[String: Set<NSManagedObject>]] = []
    }

    private let entries = Entries()
    private let token: any NSObjectProtocol

    init(of context: NSManagedObjectContext) {
        token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { [entries] note in
            var sets: [String: Set<NSManagedObject>] = [:]
            for (key, value) in note.userInfo ?? [:] {
                if let objects = value as? Set<NSManagedObject> { sets["\(key)"] = objects }
            }
            entries.sets.append(sets)
        }
    }

    deinit { NotificationCenter.default.removeObserver(token) }

    var sets: [[String: Set<NSManagedObject>]] { entries.sets }
}

/// A context whose graph is written down after each step.
private final class UndoneGraph {
    let stack: SpecifiedStack
    let context: NSManagedObjectContext
    let manager: UndoManager
    private var pictures: [String] = []
    private var labels: [ObjectIdentifier: Int] = [:]
    private var objects: [NSManagedObject] = []

    init(stack: SpecifiedStack, context: NSManagedObjectContext, manager: UndoManager) {
        self.stack = stack
        self.context = context
        self.manager = manager
        pictures = [picture]
    }

    /// Makes changes that are undone together.
    func step<R>(_ body: () throws -> R) rethrows -> R {
        let count = manager.undoCount
        manager.beginUndoGrouping()
        let result = try body()
        context.processPendingChanges()
        manager.endUndoGrouping()
        // What changes nothing is no step.
        let now = picture
        if manager.undoCount > count { pictures.append(now) }
        expect(now, pictures[pictures.count - 1], "not recorded", #_sourceLocation)
        return result
    }

    /// The graph with its objects by their instances.
    var picture: String {
        var lines: [String] = []
        for entity in ["Author", "Book", "Chapter", "Tag", "Shelf", "Person", "Club"] {
            for object in (try? context.all(entity)) ?? [] {
                let properties = object.entity.propertiesByName.keys.sorted().map { key in
                    "\(key): \(text(object.value(forKey: key)))"
                }
                lines.append("\(label(object)) \(entity) {\(properties.joined(separator: ", "))}")
            }
        }
        return lines.sorted().joined(separator: "\n")
    }

    private func text(_ value: Any?) -> String {
        switch value {
        case let object as NSManagedObject: label(object)
        case let ordered as NSOrderedSet:
            "[" + ordered.compactMap { ($0 as? NSManagedObject).map { label($0) } }.joined(separator: ",") + "]"
        case let members as Set<NSManagedObject>: "{" + members.map { label($0) }.sorted().joined(separator: ",") + "}"
        default: value.map { "\($0)" } ?? "nil"
        }
    }

    private func label(_ object: NSManagedObject) -> String {
        if let known = labels[ObjectIdentifier(object)] { return "#\(known)" }
        objects.append(object)
        labels[ObjectIdentifier(object)] = objects.count
        return "#\(objects.count)"
    }

    /// Undoes everything, and does it again, looking at each step.
    func checkEveryStep(_ comment: String = "", location: SourceLocation = #_sourceLocation) {
        for round in ["first", "second"] {
            for index in pictures.indices.dropLast().reversed() {
                context.undo()
                expect(picture, pictures[index], "\(comment) \(round) undo to \(index)", location)
            }
            for index in pictures.indices.dropFirst() {
                context.redo()
                expect(picture, pictures[index], "\(comment) \(round) redo to \(index)", location)
            }
        }
    }

    private func expect(_ picture: String, _ wanted: String, _ comment: String, _ location: SourceLocation) {
        guard picture != wanted else { return }
        let (is_, was) = (Set(picture.split(separator: "\n")), Set(wanted.split(separator: "\n")))
        Issue.record(
            """
            \(comment): is
            \(is_.subtracting(was).sorted().joined(separator: "\n"))
            was
            \(was.subtracting(is_).sorted().joined(separator: "\n"))
            """, sourceLocation: location)
    }
}
