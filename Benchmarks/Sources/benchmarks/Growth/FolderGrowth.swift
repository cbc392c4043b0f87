import CoreData
import Foundation
import Measuring
import Sides

/// One to-many relationship with many members; each round begins with an empty store.
struct FolderGrowth {
    let kind: GrowthKind
    let count: Int
    let stores: Stores

    /// Changes to a relationship of `count` members, for what is done to one of them at a time.
    private static let changes = 100

    func work() throws -> () throws -> Lap {
        try FileManager.default.createDirectory(at: stores.folder, withIntermediateDirectories: true)
        let model = FolderModel.make()
        return {
            let store = stores.folder.appendingPathComponent("folders-\(UUID().uuidString).sqlite")
            defer { try? stores.remove(store) }
            let container = try Containers.open(model, at: [store])
            let context = container.newBackgroundContext()
            let lap = try context.performAndWait { try round(context) }
            try CoreDataSide.close(container)
            return lap
        }
    }

    private func round(_ context: NSManagedObjectContext) throws -> Lap {
        let folder = Folder(context: context)
        switch kind {
        case .append, .appendOrdered: return try append(to: folder, context)
        case .insertInMiddle, .saveInMiddle:
            try fill(folder, context)
            return try insertInMiddle(of: folder, context)
        case .saveAppended, .saveAppendedOrdered:
            try fill(folder, context)
            return try appendAndSave(to: folder, context)
        default:
            try fill(folder, context)
            return try remove(from: folder, context)
        }
    }

    private func append(to folder: Folder, _ context: NSManagedObjectContext) throws -> Lap {
        let entries = entries(count, context)
        let (seconds, _) = Stopwatch.time {
            if kind == .append {
                for entry in entries { folder.add(entry, to: Folder.entriesKey) }
            } else {
                for entry in entries { folder.add(entry, to: Folder.orderedEntriesKey) }
            }
        }
        try check(kind == .append ? folder.entries.count : folder.orderedEntries.count, count)
        return Lap(seconds: seconds, pieces: count)
    }

    private func appendAndSave(to folder: Folder, _ context: NSManagedObjectContext) throws -> Lap {
        let changes = Self.changes / 10
        let entries = entries(changes, context)
        try context.save()
        let (seconds, _) = try Stopwatch.time {
            for entry in entries {
                if kind == .saveAppended {
                    folder.add(entry, to: Folder.entriesKey)
                } else {
                    folder.add(entry, to: Folder.orderedEntriesKey)
                }
                try context.save()
            }
        }
        try check(max(folder.entries.count, folder.orderedEntries.count), count + changes)
        return Lap(seconds: seconds, pieces: changes)
    }

    private func insertInMiddle(of folder: Folder, _ context: NSManagedObjectContext) throws -> Lap {
        let saves = kind == .saveInMiddle
        let changes = saves ? Self.changes / 10 : Self.changes
        let entries = entries(changes, context)
        if saves { try context.save() }
        let (seconds, _) = try Stopwatch.time {
            for entry in entries {
                folder.insert(entry, into: Folder.orderedEntriesKey, at: count / 2)
                if saves { try context.save() }
            }
        }
        let found = folder.orderedEntries
        try check(found.count, count + changes)
        // The one that was put there last comes first.
        guard Array(found[count / 2..<count / 2 + changes]) == entries.reversed() else {
            throw MeasuringFailure("\(kind.rawValue): the members are in another order.")
        }
        return Lap(seconds: seconds, pieces: changes)
    }

    private func remove(from folder: Folder, _ context: NSManagedObjectContext) throws -> Lap {
        switch kind {
        case .remove:
            let victims = Array(folder.entries.prefix(Self.changes))
            let (seconds, _) = Stopwatch.time { for entry in victims { folder.remove(entry, from: Folder.entriesKey) } }
            try check(folder.entries.count, count - victims.count)
            return Lap(seconds: seconds, pieces: victims.count)
        case .removeFromMiddle:
            let first = folder.orderedEntries.first
            let (seconds, _) = Stopwatch.time {
                for _ in 0..<Self.changes { folder.remove(at: count / 2, from: Folder.orderedEntriesKey) }
            }
            let found = folder.orderedEntries
            try check(found.count, count - Self.changes)
            guard found.first === first else { throw MeasuringFailure("\(kind.rawValue): another entry is first.") }
            return Lap(seconds: seconds, pieces: Self.changes)
        case .removeAll:
            let (seconds, _) = Stopwatch.time { folder.entries = [] }
            try check(folder.entries.count, 0)
            return Lap(seconds: seconds, pieces: count)
        default:
            let (seconds, _) = Stopwatch.time { folder.orderedEntries = [] }
            try check(folder.orderedEntries.count, 0)
            return Lap(seconds: seconds, pieces: count)
        }
    }

    /// Saves a folder with `count` members and reads them.
    private func fill(_ folder: Folder, _ context: NSManagedObjectContext) throws {
        let entries = entries(count, context)
        switch kind {
        case .remove, .removeAll, .saveAppended: for entry in entries { folder.add(entry, to: Folder.entriesKey) }
        default: for entry in entries { folder.add(entry, to: Folder.orderedEntriesKey) }
        }
        try context.save()
        try check(max(folder.entries.count, folder.orderedEntries.count), count)
    }

    private func entries(_ count: Int, _ context: NSManagedObjectContext) -> [Entry] {
        (0..<count).map { number in
            let entry = Entry(context: context)
            entry.number = Int64(number)
            return entry
        }
    }

    private func check(_ found: Int, _ expected: Int) throws {
        guard found == expected else {
            throw MeasuringFailure("\(kind.rawValue): \(found) members instead of \(expected).")
        }
    }
}

/// Stacks of the growth's own.
enum Containers {
    static func open(_ model: NSManagedObjectModel, at stores: [URL]) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Growth", managedObjectModel: model)
        container.persistentStoreDescriptions = stores.map { NSPersistentStoreDescription(url: $0) }
        var failures: [any Error] = []
        container.loadPersistentStores { _, error in if let error { failures.append(error) } }
        if let failure = failures.first { throw failure }
        return container
    }
}
