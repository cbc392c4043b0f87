import CoreData
import Foundation
import TestSupport
import Testing

/// What runs in each place from which a save calls the program back.
private final class Script: @unchecked Sendable {
    // Safe because one test uses one, on one thread.

    enum Place: String, CaseIterable {
        case willSave, didSave, validateForInsert, validateForUpdate, validateForDelete, validateValue, willSaveNote
        case didSaveNote, didSaveIDsNote, didChangeNote, transformer, mergePolicy, prepareForDeletion
    }

    /// The places that have been reached.
    var reached: Set<Place> = []
    /// What is done, once.
    var actions: [Place: () -> Void] = [:]

    func reach(_ place: Place) {
        reached.insert(place)
        actions.removeValue(forKey: place)?()
    }
}

/// A note that runs a script in its hooks.
private final class Jotting: NSManagedObject {
    nonisolated(unsafe) static var script = Script()  // Safe because the suite is serialized.

    var text: String? {
        get { value(forKey: "text") as? String }
        set { setValue(newValue, forKey: "text") }
    }

    override func willSave() { Self.script.reach(.willSave) }
    override func didSave() { Self.script.reach(.didSave) }
    override func prepareForDeletion() { Self.script.reach(.prepareForDeletion) }

    override func validateForInsert() throws {
        try super.validateForInsert()
        Self.script.reach(.validateForInsert)
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        Self.script.reach(.validateForUpdate)
    }

    override func validateForDelete() throws {
        try super.validateForDelete()
        Self.script.reach(.validateForDelete)
    }

    override func validateValue(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws {
        try super.validateValue(value, forKey: key)
        Self.script.reach(.validateValue)
    }
}

private final class ScriptedTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
        Jotting.script.reach(.transformer)
        return (value as? String).map { Data($0.utf8) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(decoding: $0, as: UTF8.self) }
    }
}

private final class ScriptedPolicy: NSMergePolicy, @unchecked Sendable {
    override func resolve(mergeConflicts list: [Any]) throws {
        Jotting.script.reach(.mergePolicy)
        try super.resolve(mergeConflicts: list)
    }
}

// semantics H: what a save calls may call the context again
@Suite(.serialized) struct ReentrantSaveTests {
    private static func model() -> NSManagedObjectModel {
        let note = Library.entity("Jotting", nil)
        note.managedObjectClassName = String(reflecting: Jotting.self)
        let label = Library.attribute("label", .transformableAttributeType)
        label.valueTransformerName = "ScriptedTransformer"
        let code = Library.attribute("code", .stringAttributeType)
        note.properties = [Library.attribute("text", .stringAttributeType), label, code]
        note.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    /// What a place does with the context, and whether that has to show afterwards.
    private enum Action: String, CaseIterable {
        case save, reset, rollback, undo, delete, insert, set, fetch, fetchAfterInserting, process, performAndWait
        case refresh, refreshAll, saveChild, saveParent
    }

    private struct World {
        let parent: NSManagedObjectContext
        let context: NSManagedObjectContext
        let child: NSManagedObjectContext
        let changed: Jotting
        let deleted: Jotting
        let new: Jotting
        let bystander: Jotting
        let tokens: [any NSObjectProtocol]
    }

    /// A context with an object of each state, whose save meets a conflict.
    private func makeWorld(_ coordinator: NSPersistentStoreCoordinator, nested: Bool) throws -> World {
        Jotting.script = Script()
        ValueTransformer.setValueTransformer(
            ScriptedTransformer(), forName: NSValueTransformerName("ScriptedTransformer"))
        let parent = NSManagedObjectContext(.mainQueue)
        parent.persistentStoreCoordinator = coordinator
        let context = NSManagedObjectContext(.mainQueue)
        if nested { context.parent = parent } else { context.persistentStoreCoordinator = coordinator }
        context.mergePolicy = ScriptedPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        let child = NSManagedObjectContext(.mainQueue)
        child.parent = context
        context.undoManager = UndoManager()
        let (changed, deleted) = (make(context, "changed"), make(context, "deleted"))
        let bystander = make(context, "bystander")
        try context.save()
        if nested { try parent.save() }
        if !nested {
            let other = NSManagedObjectContext(.mainQueue)
            other.persistentStoreCoordinator = coordinator
            (other.object(with: changed.objectID) as? Jotting)?.setValue("other", forKey: "code")
            try other.save()
        }
        changed.text = "changed!"
        context.delete(deleted)
        let new = make(context, "new")
        Jotting.script = Script()
        return World(
            parent: parent, context: context, child: child, changed: changed, deleted: deleted, new: new,
            bystander: bystander, tokens: observe(context))
    }

    private func make(_ context: NSManagedObjectContext, _ text: String) -> Jotting {
        let note = Jotting(context: context)
        note.text = text
        note.setValue(text as NSString, forKey: "label")
        return note
    }

    private func observe(_ context: NSManagedObjectContext) -> [any NSObjectProtocol] {
        let places: [(Notification.Name, Script.Place)] = [
            (.NSManagedObjectContextWillSave, .willSaveNote), (.NSManagedObjectContextDidSave, .didSaveNote),
            (.NSManagedObjectContextDidSaveObjectIDs, .didSaveIDsNote),
            (.NSManagedObjectContextObjectsDidChange, .didChangeNote),
        ]
        return places.map { name, place in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { _ in
                Jotting.script.reach(place)
            }
        }
    }

    private func run(_ action: Action, in world: World) throws {
        let context = world.context
        switch action {
        case .save: try context.save()
        case .reset: context.reset()
        case .rollback: context.rollback()
        case .undo: context.undo()
        case .delete: context.delete(world.bystander)
        case .insert: _ = make(context, "inserted")
        case .set: world.bystander.text = "set"
        case .fetch: _ = try context.fetch(NSFetchRequest<Jotting>(entityName: "Jotting")).map(\.text)
        case .fetchAfterInserting:
            _ = make(context, "inserted")
            _ = try context.fetch(NSFetchRequest<Jotting>(entityName: "Jotting")).map(\.text)
        case .process: context.processPendingChanges()
        case .performAndWait: context.performAndWait { world.bystander.text = "set" }
        case .refresh: context.refresh(world.bystander, mergeChanges: false)
        case .refreshAll: context.refreshAllObjects()
        case .saveChild:
            _ = make(world.child, "inserted")
            try world.child.save()
        case .saveParent: try world.parent.save()
        }
    }

    /// Every place and action; then a save that has to succeed writes what is pending.
    @Test(
        "H2: whatever runs inside a save, nothing crashes and nothing is lost",
        arguments: Trials.some(of: [false, true]))
    @MainActor func everythingEverywhere(nested: Bool) throws {
        for place in Script.Place.allCases {
            for action in Action.allCases {
                let stack = try LibraryStack(model: Self.model())
                let world = try makeWorld(stack.coordinator, nested: nested)
                defer { world.tokens.forEach(NotificationCenter.default.removeObserver) }
                var failure: (any Error)?
                Jotting.script.actions[place] = {
                    do { try self.run(action, in: world) } catch { failure = error }
                }
                let what = "\(action.rawValue) in \(place.rawValue), nested: \(nested)"
                if place == .prepareForDeletion {
                    world.context.delete(world.changed)
                } else if place == .didChangeNote {
                    world.context.processPendingChanges()
                    world.bystander.text = "told"
                    Jotting.script.actions[place] = {
                        do { try self.run(action, in: world) } catch { failure = error }
                    }
                }
                do { try world.context.save() } catch { Issue.record("\(what): the outer save failed: \(error)") }
                if nested, place == .mergePolicy || place == .transformer { continue }
                guard Jotting.script.reached.contains(place) else {
                    Issue.record("\(what): the place was not reached")
                    continue
                }
                try check(place, action, failure, in: world, stack, what)
            }
        }
    }

    private func check(
        _ place: Script.Place, _ action: Action, _ failure: (any Error)?, in world: World, _ stack: LibraryStack,
        _ what: String
    ) throws {
        let isAfter = [.didSave, .didSaveNote, .didSaveIDsNote].contains(place)
        let mayThrow = place == .prepareForDeletion
        if action == .save, !isAfter, !mayThrow {
            #expect((failure as? CocoaError)?.code.rawValue == 132001, "\(what): \(failure.debugDescription)")
        } else {
            #expect(failure == nil, "\(what): \(failure.debugDescription)")
        }
        // What was done is there, now or after the next save.
        try world.context.save()
        #expect(!world.context.hasChanges, "\(what)")
        if world.context.parent != nil { try world.parent.save() }
        let fresh = NSManagedObjectContext(.mainQueue)
        fresh.persistentStoreCoordinator = stack.coordinator
        let texts = try fresh.fetch(NSFetchRequest<Jotting>(entityName: "Jotting")).map { $0.text ?? "nil" }.sorted()
        let isTakenBack =
            action == .undo || [.reset, .rollback].contains(action) && !isAfter
        if isTakenBack { return }
        let isDeleted = place == .prepareForDeletion
        if !isDeleted { #expect(texts.contains("changed!"), "\(what): \(texts)") }
        #expect(texts.contains("new"), "\(what): \(texts)")
        #expect(!texts.contains("deleted"), "\(what): \(texts)")
        switch action {
        case .insert, .saveChild, .fetchAfterInserting: #expect(texts.contains("inserted"), "\(what): \(texts)")
        case .delete: #expect(!texts.contains("bystander") && !texts.contains("told"), "\(what): \(texts)")
        case .set, .performAndWait: #expect(texts.contains("set"), "\(what): \(texts)")
        default: break
        }
    }

    @Test("H2: save() in a hook is error 132001, and the save that runs goes on")
    func saveInWillSave() throws {
        let stack = try LibraryStack(model: Self.model())
        try stack.story { context in
            Jotting.script = Script()
            let note = make(context, "one")
            var errors: [CocoaError] = []
            Jotting.script.actions[.willSave] = {
                note.text = "two"
                do { try context.save() } catch {
                    errors.append(error as? CocoaError ?? CocoaError(.coderInvalidValue))
                }
            }
            try context.save()
            #expect(errors.map(\.code.rawValue) == [132001])
            #expect(errors.first?.localizedDescription.contains("recursively") == true)
            #expect(!note.hasChanges)
            context.refresh(note, mergeChanges: false)
            #expect(note.text == "two")
        }
    }

    @Test("H4: a didSave that changes and saves without end is stopped by error 132001")
    func endlessDidSave() throws {
        let stack = try LibraryStack(model: Self.model())
        try stack.story { context in
            Jotting.script = Script()
            let note = make(context, "one")
            let endless = Endless(context, note)
            try context.save()
            endless.end()
            #expect(endless.errors == [132001])
            #expect(endless.count > 1 && endless.count < 100)
            try context.save()
            #expect(!context.hasChanges)
        }
    }

    @Test("G7: an object that a hook inserts before it fetches is validated and has its hook called")
    func validatesWhatAFetchProcessed() throws {
        let stack = try LibraryStack(model: Library.model())
        try stack.story { context in
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextWillSave, object: context, queue: nil
            ) { _ in }
            defer { NotificationCenter.default.removeObserver(token) }
            let hooked = HookedBook.make(in: context)
            hooked.title = "one"
            var invalid: Book?
            hooked.hook = { book in
                guard invalid == nil, let context = book.managedObjectContext else { return }
                invalid = Book(context: context)
                _ = try? context.count(for: NSFetchRequest<Tag>(entityName: "Tag"))
                context.processPendingChanges()
            }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .validationMissingMandatoryProperty)
            invalid?.title = "two"
            try context.save()
            #expect(invalid?.events.contains("willSave") == true)
        }
    }

    @Test("K2: what an observer of the parent changes in the child during its save is the child's next change")
    func changesWhileTheParentTakesOver() throws {
        let stack = try LibraryStack()
        try stack.story { parent in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            try child.performAndWait {
                let book = Book(context: child)
                book.title = "one"
                let tag = Tag(context: child)
                tag.name = "crime"
                let once = Once {
                    book.title = "two"
                    book.pages = 7
                    book.tags = [tag]
                }
                let token = NotificationCenter.default.addObserver(
                    forName: .NSManagedObjectContextObjectsDidChange, object: parent, queue: nil
                ) { _ in once.run() }
                defer { NotificationCenter.default.removeObserver(token) }
                try child.save()
                #expect(once.hasRun && book.isUpdated && book.title == "two" && book.tags == [tag])
                try child.save()
                #expect(!child.hasChanges)
            }
            try parent.save()
            let books = try stack.newContext().performAndWait { () throws -> [String] in
                let context = stack.newContext()
                return try context.performAndWait {
                    try context.all(Book.self, "Book").map { "\($0.title ?? "") \($0.pages) \($0.tags.count)" }
                }
            }
            #expect(books == ["two 7 1"])
        }
    }
}

/// A book whose hook is the test's.
private enum HookedBook {
    static func make(in context: NSManagedObjectContext) -> HookBook {
        let entity = NSEntityDescription.entity(forEntityName: "Book", in: context) ?? NSEntityDescription()
        return HookBook(entity: entity, insertInto: context)
    }
}

private final class HookBook: NSManagedObject {
    var hook: (HookBook) -> Void = { _ in }
    var title: String? {
        get { value(forKey: "title") as? String }
        set { setValue(newValue, forKey: "title") }
    }
    override func willSave() { hook(self) }
}

private final class Once: @unchecked Sendable {
    // Safe because one thread uses it.
    private(set) var hasRun = false
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    func run() {
        if hasRun { return }
        hasRun = true
        body()
    }
}

/// Sets and saves again whenever the context has saved.
private final class Endless: @unchecked Sendable {
    // Safe because one thread uses it.
    var count = 0
    var errors: [Int] = []
    private var token: (any NSObjectProtocol)?
    private let note: NSManagedObject

    init(_ context: NSManagedObjectContext, _ note: NSManagedObject) {
        self.note = note
        token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { [unowned self] _ in
            count += 1
            self.note.setValue("\(count)", forKey: "text")
            do { try context.save() } catch { errors.append((error as? CocoaError)?.code.rawValue ?? 0) }
        }
    }

    func end() { token.map(NotificationCenter.default.removeObserver) }
}
