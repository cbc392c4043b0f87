import Foundation
import Measuring
import SwiftData

/// SwiftData.
final class ModelContender: Contender {
    private var container: ModelContainer?
    private var context: ModelContext?
    private var folders: [Folder] = []
    private var notes: [Note] = []
    private var entries: [Entry] = []

    private func current() throws -> ModelContext {
        guard let context else { throw MeasuringFailure("No store is open.") }
        return context
    }

    func open(_ file: String, _ work: Work, _ samples: [Sample]) throws {
        (notes, entries, folders, context) = ([], [], [], nil)
        let made = try ModelContainer(
            for: Note.self, Entry.self, configurations: ModelConfiguration(url: URL(fileURLWithPath: file)))
        container = made
        let context = ModelContext(made)
        for number in 0..<Sample.folders { context.insert(Folder(name: String(format: "%03d", number))) }
        try context.save()
        folders = try context.fetch(FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)]))
        self.context = context
        if !samples.isEmpty { try work.isOfEntries ? insertEntries(samples) : insert(samples) }
        folders = []
        self.context = ModelContext(made)
        folders = try current().fetch(FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)]))
    }

    func prepare(_ work: Work) throws {
        switch work {
        case .insert, .insertEnumerations, .fetchAll, .fetchPage, .fetchFew: notes = []
        case .readEnumeration:
            if entries.isEmpty { entries = try current().fetch(FetchDescriptor<Entry>()) }
        default:
            if notes.isEmpty { notes = try current().fetch(FetchDescriptor<Note>()) }
            for note in notes where note.weight < 0 { throw MeasuringFailure("A note has no weight.") }
        }
    }

    private func insert(_ samples: [Sample]) throws {
        let context = try current()
        for sample in samples {
            context.insert(
                Note(
                    title: sample.title, stars: sample.stars, weight: sample.weight, isDone: sample.isDone,
                    folder: folders[sample.folder]))
        }
        try context.save()
    }

    private func insertEntries(_ samples: [Sample]) throws {
        let context = try current()
        for sample in samples { context.insert(Entry(title: sample.title, mood: sample.mood)) }
        try context.save()
    }

    private static func page() -> FetchDescriptor<Note> {
        var descriptor = FetchDescriptor<Note>(
            predicate: #Predicate { $0.stars > 4 && $0.title != "Note" }, sortBy: [SortDescriptor(\.title)])
        descriptor.fetchLimit = 20
        return descriptor
    }

    func run(_ work: Work, _ samples: [Sample]) throws -> Digest {
        var digest = Digest()
        switch work {
        case .insert: try insert(samples)
        case .insertEnumerations: try insertEntries(samples)
        case .fetchAll: for note in try current().fetch(FetchDescriptor<Note>()) { digest.add(note) }
        case .fetchPage, .fetchFew:
            for note in try current().fetch(Self.page()) { digest.add(note) }
        case .update:
            for note in notes { note.weight += 1 }
            try current().save()
        case .readNumber: for note in notes { digest.number += note.weight }
        case .readText: for note in notes { digest.bytes += note.title.utf8.count }
        case .readEnumeration: for entry in entries where entry.mood == .calm { digest.rows += 1 }
        case .writeNumber: for note in notes { note.stars = 3 }
        }
        return digest
    }

    func contents() throws -> Digest {
        var digest = Digest()
        let context = try ModelContext(current().container)
        for note in try context.fetch(FetchDescriptor<Note>()) { digest.add(note) }
        for entry in try context.fetch(FetchDescriptor<Entry>()) { digest.number += Double(entry.mood.rawValue) }
        return digest
    }
}

extension Digest {
    fileprivate mutating func add(_ note: Note) {
        rows += 1
        number += note.weight + (note.isDone ? 1 : 0)
        bytes += note.title.utf8.count
    }
}
