import CoreData
import Foundation
import Measuring

/// Core Data with generated classes, on a store that records its history, as SwiftData's do.
final class ManagedContender: Contender {
    private let model = ManagedModel.make()
    private var container: NSPersistentContainer?
    private var context: NSManagedObjectContext?
    private var folders: [ManagedFolder] = []
    private var notes: [ManagedNote] = []
    private var entries: [ManagedEntry] = []

    private func current() throws -> NSManagedObjectContext {
        guard let context else { throw MeasuringFailure("No store is open.") }
        return context
    }

    func open(_ file: String, _ work: Work, _ samples: [Sample]) throws {
        (notes, entries, folders, context) = ([], [], [], nil)
        let made = NSPersistentContainer(name: "Notes", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: file))
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        description.setOption(NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        made.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        made.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        container = made
        context = made.newBackgroundContext()
        let context = try current()
        try context.performAndWait {
            for number in 0..<Sample.folders { ManagedFolder(context: context).name = String(format: "%03d", number) }
            try context.save()
            folders = try allFolders(context)
            if !samples.isEmpty { try work.isOfEntries ? insertEntries(samples, context) : insert(samples, context) }
            folders = []
        }
        self.context = made.newBackgroundContext()
        let next = try current()
        folders = try next.performAndWait { try allFolders(next) }
    }

    private func allFolders(_ context: NSManagedObjectContext) throws -> [ManagedFolder] {
        let request = NSFetchRequest<ManagedFolder>(entityName: "Folder")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    func prepare(_ work: Work) throws {
        let context = try current()
        try context.performAndWait {
            switch work {
            case .insert, .insertEnumerations, .fetchAll, .fetchPage, .fetchFew: notes = []
            case .readEnumeration:
                if entries.isEmpty { entries = try context.fetch(NSFetchRequest<ManagedEntry>(entityName: "Entry")) }
            default:
                if notes.isEmpty { notes = try context.fetch(NSFetchRequest<ManagedNote>(entityName: "Note")) }
                for note in notes where note.weight < 0 { throw MeasuringFailure("A note has no weight.") }
            }
        }
    }

    private func insert(_ samples: [Sample], _ context: NSManagedObjectContext) throws {
        for sample in samples {
            let note = ManagedNote(context: context)
            note.title = sample.title
            note.stars = Int64(sample.stars)
            note.weight = sample.weight
            note.isDone = sample.isDone
            note.folder = folders[sample.folder]
        }
        try context.save()
    }

    private func insertEntries(_ samples: [Sample], _ context: NSManagedObjectContext) throws {
        for sample in samples {
            let entry = ManagedEntry(context: context)
            entry.title = sample.title
            entry.mood = sample.mood
        }
        try context.save()
    }

    private static func page() -> NSFetchRequest<ManagedNote> {
        let request = NSFetchRequest<ManagedNote>(entityName: "Note")
        request.predicate = NSPredicate(format: "stars > %@ AND title != %@", NSNumber(value: 4), "Note" as NSString)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        request.fetchLimit = 20
        return request
    }

    func run(_ work: Work, _ samples: [Sample]) throws -> Digest {
        let context = try current()
        return try context.performAndWait { try run(work, samples, context) }
    }

    private func run(_ work: Work, _ samples: [Sample], _ context: NSManagedObjectContext) throws -> Digest {
        var digest = Digest()
        switch work {
        case .insert: try insert(samples, context)
        case .insertEnumerations: try insertEntries(samples, context)
        case .fetchAll:
            for note in try context.fetch(NSFetchRequest<ManagedNote>(entityName: "Note")) { digest.add(note) }
        case .fetchPage, .fetchFew: for note in try context.fetch(Self.page()) { digest.add(note) }
        case .update:
            for note in notes { note.weight += 1 }
            try context.save()
        case .readNumber: for note in notes { digest.number += note.weight }
        case .readText: for note in notes { digest.bytes += note.title.utf8.count }
        case .readEnumeration: for entry in entries where entry.mood == .calm { digest.rows += 1 }
        case .writeNumber: for note in notes { note.stars = 3 }
        }
        return digest
    }

    func contents() throws -> Digest {
        guard let container else { throw MeasuringFailure("No store is open.") }
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            var digest = Digest()
            for note in try context.fetch(NSFetchRequest<ManagedNote>(entityName: "Note")) { digest.add(note) }
            for entry in try context.fetch(NSFetchRequest<ManagedEntry>(entityName: "Entry")) {
                digest.number += Double(entry.mood.rawValue)
            }
            return digest
        }
    }
}

extension Digest {
    fileprivate mutating func add(_ note: ManagedNote) {
        rows += 1
        number += note.weight + (note.isDone ? 1 : 0)
        bytes += note.title.utf8.count
    }
}
