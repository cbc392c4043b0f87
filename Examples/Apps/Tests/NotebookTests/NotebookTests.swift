import CoreData
import Notebook
import NotebookKinds
import Synchronization
import Testing

/// The store and the model of one test, in a folder of its own.
struct Desk {
    let container: NSPersistentContainer
    let folder: URL

    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try self.init(in: folder)
    }

    private init(in folder: URL) throws {
        self.folder = folder
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Notebook")
        let model = try NSManagedObjectModel.load(contentsOf: sources.appendingPathComponent("Notebook.xcdatamodeld"))
        container = NSPersistentContainer(name: "Notebook", managedObjectModel: model)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: folder.appendingPathComponent("Notebook.sqlite"))
        ]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
    }

    /// The same store, opened anew.
    func reopened() throws -> Desk { try Desk(in: folder) }

    func close() { try? FileManager.default.removeItem(at: folder) }
}

@MainActor @Suite struct NotebookTests {
    @Test func everyKindOfAttributeIsKept() throws {
        let desk = try Desk()
        defer { desk.close() }
        let note = Note(context: desk.context)
        #expect(note.title == "Untitled")
        #expect(note.created == Date(timeIntervalSinceReferenceDate: 1000))
        let identifier = UUID()
        note.title = "Bread"
        note.title! += " and butter"
        note.body = nil
        note.identifier = identifier
        note.source = URL(string: "https://example.org/bread")
        note.attachment = Data([1, 2, 3])
        note.rating = -5
        note.views += 7
        note.length = .max
        note.progress = 0.25
        note.weight = 1.5
        note.isPinned.toggle()
        note.mood = .cross
        note.status = .published
        note.keywords = ["flour"]
        note.keywords.append("water")
        note.links = ["shop": "example.org"]
        note.place = .init(name: "Kitchen", latitude: 51.5)
        note.style = Style(font: "Serif", size: 12)
        note.cost = Decimal(string: "1.20")
        note.fee = NSDecimalNumber(string: "0.05")
        note.reminders = 3
        note.whispered = "yeast"
        try desk.context.save()

        let later = try desk.reopened()
        let read = try #require(try later.context.fetch(Note.fetchRequest()).first)
        #expect(read.isFault || read.title != nil)
        #expect(read.title == "Bread and butter")
        #expect(read.body == nil)
        #expect(read.identifier == identifier)
        #expect(read.source?.absoluteString == "https://example.org/bread")
        #expect(read.attachment == Data([1, 2, 3]))
        #expect(read.rating == -5)
        #expect(read.views == 7)
        #expect(read.length == .max)
        #expect(read.progress == 0.25)
        #expect(read.weight == 1.5)
        #expect(read.isPinned)
        #expect(read.mood == .cross)
        #expect(read.status == .published)
        #expect(read.keywords == ["flour", "water"])
        #expect(read.links == ["shop": "example.org"])
        #expect(read.place == .init(name: "Kitchen", latitude: 51.5))
        #expect(read.style == Style(font: "Serif", size: 12))
        #expect(read.cost == Decimal(string: "1.2"))
        #expect(read.fee == NSDecimalNumber(string: "0.05"))
        #expect(read.reminders == 3)
        #expect(read.whispered == "yeast")
        #expect(read.value(forKey: "secret") as? String == "tsaey")
    }

    @Test func aNewNoteHasTheModelsDefaults() throws {
        let desk = try Desk()
        defer { desk.close() }
        let note = Note(context: desk.context)
        #expect(note.mood == .calm)
        #expect(note.status == nil)
        #expect(note.keywords.isEmpty)
        #expect(note.place == nil)
        #expect(note.tags.isEmpty)
        #expect(note.reminders == nil)
        #expect(!note.hasFault(forRelationshipNamed: "tags"))
    }

    @Test func bothSidesOfARelationshipAgree() throws {
        let desk = try Desk()
        defer { desk.close() }
        let folder = Folder(context: desk.context)
        folder.name = "Kitchen"
        let notes = ["Bread", "Soup", "Cake"].map { title in
            let note = Note(context: desk.context)
            note.title = title
            return note
        }
        folder.addToNotes(notes[0])
        notes[1].folder = folder
        folder.insertIntoNotes(notes[2], at: 0)
        #expect(folder.notes.array as? [Note] == [notes[2], notes[0], notes[1]])
        folder.removeFromNotes(at: 1)
        #expect(notes[0].folder == nil)
        folder.replaceNotes(at: 0, with: notes[0])
        #expect(folder.notes.array as? [Note] == [notes[0], notes[1]])
        folder.removeFromNotes(NSOrderedSet(array: notes))
        #expect(folder.notes.count == 0)
        folder.addToNotes(NSOrderedSet(array: notes))
        folder.removeFromNotes(at: NSIndexSet(index: 2))
        folder.insertIntoNotes([notes[2]], at: NSIndexSet(index: 0))
        folder.replaceNotes(at: NSIndexSet(index: 0), with: [notes[2]])
        #expect(notes.allSatisfy { $0.folder == folder })

        folder.removeObjectFromNotesAtIndex(0)
        folder.insertObject(notes[2], inNotesAtIndex: 0)
        folder.removeNotesAtIndexes(NSIndexSet(index: 0))
        folder.insertNotes([notes[2]], atIndexes: NSIndexSet(index: 0))
        folder.replaceObjectInNotesAtIndex(0, withObject: notes[2])
        folder.replaceNotesAtIndexes(NSIndexSet(index: 0), withNotes: [notes[2]])
        folder.removeNotes(NSOrderedSet(object: notes[2]))
        #expect(folder.notes.array as? [Note] == [notes[0], notes[1]])
        folder.addNotesObject(notes[2])
        #expect(folder.notes.array as? [Note] == notes)
        folder.insertIntoNotes(notes[2], at: 0)
        folder.removeFromNotes(notes[2])
        folder.insertIntoNotes(notes[2], at: 0)

        let tag = Tag(context: desk.context)
        tag.label = "warm"
        notes[0].addToTags(tag)
        notes[1].tags.insert(tag)
        #expect(tag.notes?.count == 2)
        notes[1].removeFromTags(NSSet(object: tag))
        #expect(notes[1].tags.isEmpty)
        #expect(notes[0].tags == [tag])
        try desk.context.save()

        let later = try desk.reopened()
        let read = try #require(try later.context.fetch(NSFetchRequest<Folder>(entityName: "Folder")).first)
        #expect((read.notes.array as? [Note])?.map(\.title) == ["Cake", "Bread", "Soup"])
        #expect((read.notes.array as? [Note])?[1].tags.first?.label == "warm")
    }

    @Test func foldersAreATree() throws {
        let desk = try Desk()
        defer { desk.close() }
        let folders = ["Home", "Kitchen", "Oven"].map { name in
            let folder = Folder(context: desk.context)
            folder.name = name
            return folder
        }
        folders[1].parent = folders[0]
        folders[1].children = [folders[2]]
        #expect(folders[2].path == "Home/Kitchen/Oven")
        try desk.context.save()
        desk.context.delete(folders[0])
        try desk.context.save()
        #expect(try desk.context.count(for: NSFetchRequest<Folder>(entityName: "Folder")) == 0)
    }

    @Test func aFolderNeedsAName() throws {
        let desk = try Desk()
        defer { desk.close() }
        let folder = Folder(context: desk.context)
        #expect(throws: CocoaError.self) { try desk.context.save() }
        folder.name = "Kitchen"
        try desk.context.save()
        folder.name = String(repeating: "x", count: 41)
        #expect(throws: CocoaError.self) { try desk.context.save() }
    }

    @Test func keyPathsSortInTheStore() throws {
        let desk = try Desk()
        defer { desk.close() }
        for (folderName, title, mood) in [("B", "one", Mood.merry), ("A", "two", .calm), ("A", "three", .cross)] {
            let folder = Folder(context: desk.context)
            folder.name = folderName
            let note = Note(context: desk.context)
            note.title = title
            note.mood = mood
            note.folder = folder
        }
        try desk.context.save()
        let request = Note.fetchRequest()
        request.sortDescriptors = [
            NSSortDescriptor(keyPath: \Note.folder?.name, ascending: true),
            NSSortDescriptor(keyPath: \Note.title, ascending: false),
        ]
        #expect(request.sortDescriptors?.map(\.key) == ["folder.name", "title"])
        #expect(try desk.context.fetch(request).map(\.title) == ["two", "three", "one"])
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Note.mood, ascending: false)]
        #expect(try desk.context.fetch(request).map(\.mood) == [.cross, .merry, .calm])
    }

    @Test func keyPathsOfEveryTypeHaveNames() {
        func check<Root, Value>(_ keyPath: KeyPath<Root, Value>, _ name: String?) {
            #expect(NSSortDescriptor(keyPath: keyPath, ascending: true).key == name)
        }
        check(\Note.title, "title")
        check(\Note.created, "created")
        check(\Note.identifier, "identifier")
        check(\Note.source, "source")
        check(\Note.attachment, "attachment")
        check(\Note.rating, "rating")
        check(\Note.views, "views")
        check(\Note.length, "length")
        check(\Note.progress, "progress")
        check(\Note.weight, "weight")
        check(\Note.isPinned, "isPinned")
        check(\Note.mood, "mood")
        check(\Note.status, "status")
        check(\Note.keywords, "keywords")
        check(\Note.place, "place")
        check(\Note.cost, "cost")
        check(\Note.fee, "fee")
        check(\Note.folder, "folder")
        check(\Note.tags, "tags")
        check(\Folder.notes, "notes")
        check(\Folder.parent?.parent?.name, "parent.parent.name")
        check(\Note.folder?.parent?.children, "folder.parent.children")
        check(\Checklist.title, "title")
        check(\Checklist.isFinished, "isFinished")
        // Computed from properties, not properties.
        check(\Note.whispered, nil)
        check(\Folder.path, nil)
    }

    @Test func keyValueCodingAndAccessorsSeeTheSame() throws {
        let desk = try Desk()
        defer { desk.close() }
        let note = Note(context: desk.context)
        note.setValue("Bread", forKey: "title")
        #expect(note.title == "Bread")
        note[keyPath: \Note.title] = "Soup"
        #expect(note.value(forKey: "title") as? String == "Soup")
        note.setValue(2, forKey: "mood")
        #expect(note.mood == .cross)
        #expect(note.changedValues().keys.sorted() == ["created", "mood", "title"])
    }

    @Test func aSubclassOverridesAProperty() throws {
        let desk = try Desk()
        defer { desk.close() }
        let list = Checklist(context: desk.context)
        let note: Note = list
        note.isPinned = true
        note.isPinned = false
        #expect(list.timesPinned == 2)
        #expect(!note.isPinned)
        list.isFinished = true
        #expect(note.isPinned)
        #expect(list.value(forKey: "isPinned") as? Bool == false)
    }

    @Test func primitiveValuesChangeNothingElse() throws {
        let desk = try Desk()
        defer { desk.close() }
        let note = Note(context: desk.context)
        try desk.context.save()
        #expect(!note.hasChanges)
        note.awakeFromInsert()
        #expect(!note.hasChanges)
        #expect(note.title == "Untitled")
    }

    @Test func accessorsKeepReferencesInBalance() throws {
        let gone = Mutex(0)
        weak var lastTag: Notebook.Tag?
        weak var lastNote: Note?
        do {
            let desk = try Desk()
            defer { desk.close() }
            let note = Note(context: desk.context)
            for number in 1...100 {
                note.sticker = Sticker(name: "\(number)") { gone.withLock { $0 += 1 } }
                #expect(note.sticker === note.sticker)
                let tag = Tag(context: desk.context)
                tag.label = "\(number)"
                note.addToTags(tag)
                note.tags.remove(tag)
                note.tags.insert(tag)
                lastTag = tag
            }
            lastNote = note
            try desk.context.save()
            #expect(gone.withLock { $0 } == 99)
            #expect(note.sticker?.name == "100")
            note.sticker = nil
            try desk.context.save()
            #expect(note.tags.count == 100)
        }
        #expect(gone.withLock { $0 } == 100)
        #expect(lastTag == nil)
        #expect(lastNote == nil)
    }
}
