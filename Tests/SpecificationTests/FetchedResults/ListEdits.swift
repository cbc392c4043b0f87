import CoreData
import Foundation
import TestSupport

/// Edits of every kind to books, and to authors and tags that lists of books look at; equal for equal seeds.
struct ListEdits {
    var numbers: SeededNumbers
    private let context: NSManagedObjectContext
    private let sibling: NSManagedObjectContext
    /// Whether the store takes batch requests.
    private let batches: Bool
    private var count = 0
    /// Has another process save, and this context told of it; `nil` where there is none.
    var editInProcess: ((_ number: Int) throws -> Void)?
    /// What was done, for messages.
    private(set) var log: [String] = []

    init(seed: UInt64, context: NSManagedObjectContext, sibling: NSManagedObjectContext, batches: Bool) {
        self.batches = batches
        numbers = SeededNumbers(seed: seed)
        self.context = context
        self.sibling = sibling
        for context in [context, sibling] { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
    }

    /// One event with one edit or several, or something that befalls the whole context.
    mutating func step(undoes: Bool) throws {
        let kind = numbers.below(24)
        log.append("step \(kind)")
        switch kind {
        case 0, 1: try context.save()
        case 2: context.rollback()
        case 3 where undoes: context.undo()
        case 4 where undoes: context.redo()
        case 5 where editInProcess != nil && !undoes:
            count += 1
            try editInProcess?(count)
        case 5...7 where !undoes: try editElsewhere()
        case 8 where !undoes: if batches { try editByBatch() } else { try editElsewhere() }
        case 9:
            for book in try context.all("Book", by: "code") where numbers.chance(4) && !context.hasChanges {
                context.refresh(book, mergeChanges: numbers.chance(2))
            }
        case 10: for _ in 0..<numbers.below(12) { try edit(context) }
        case 11: try swapShelves()
        default: try edit(context)
        }
        context.processPendingChanges()
    }

    /// Another context saves, and this one is told.
    private mutating func editElsewhere() throws {
        try sibling.performAndWait {
            sibling.reset()
            for _ in 0...numbers.below(4) { try edit(sibling) }
            let saved = Box()
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSaveObjectIDs, object: sibling, queue: nil
            ) { saved.note = $0 }
            defer { NotificationCenter.default.removeObserver(observer) }
            try sibling.save()
            if let note = saved.note { context.mergeChanges(fromContextDidSave: note) }
        }
    }

    /// A batch request writes past all contexts, and this one is told of the IDs.
    private mutating func editByBatch() throws {
        let (short, pages, kind) = (numbers.below(5), numbers.below(8), numbers.below(4))
        log.append("batch \(kind)")
        let changes: [String: [NSManagedObjectID]] = try sibling.performAndWait {
            sibling.reset()
            switch kind {
            case 0:
                let rows = (0...short).map { number -> [String: Any] in
                    ["title": "title \(short)", "code": "code \(count + number + 1)", "pages": pages, "place": count]
                }
                count += rows.count
                let request = NSBatchInsertRequest(entityName: "Book", objects: rows)
                request.resultType = .objectIDs
                let result = try sibling.execute(request) as? NSBatchInsertResult
                return [NSInsertedObjectIDsKey: result?.result as? [NSManagedObjectID] ?? []]
            case 1:
                let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
                fetch.predicate = NSPredicate(format: "pages == %d AND title == %@", pages, "title \(short)")
                let request = NSBatchDeleteRequest(fetchRequest: fetch)
                request.resultType = .resultTypeObjectIDs
                let result = try sibling.execute(request) as? NSBatchDeleteResult
                return [NSDeletedObjectIDsKey: result?.result as? [NSManagedObjectID] ?? []]
            default:
                let request = NSBatchUpdateRequest(entityName: "Book")
                request.predicate = NSPredicate(format: "title == %@", "title \(short)")
                let author = try any("Author", sibling)
                request.propertiesToUpdate = kind == 2 || author == nil ? ["pages": pages] : ["author": author as Any]
                request.resultType = .updatedObjectIDsResultType
                let result = try sibling.execute(request) as? NSBatchUpdateResult
                return [NSUpdatedObjectIDsKey: result?.result as? [NSManagedObjectID] ?? []]
            }
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
    }

    private final class Box: @unchecked Sendable {
        // Safe because the notification is posted on the thread that saves.
        var note: Notification?
    }

    private mutating func swapShelves() throws {
        for book in try context.all("Book", "shelf == %@", ["shelf 1"]) { book.setValue("shelf 9", forKey: "shelf") }
    }

    private mutating func any(_ entity: String, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        // In an order that does not depend on keys.
        let sort = entity == "Book" ? "code" : "name"
        let found = try context.all(entity, by: sort).filter { !$0.isDeleted }
        return found.isEmpty ? nil : found[numbers.below(found.count)]
    }

    private mutating func edit(_ context: NSManagedObjectContext) throws {
        count += 1
        let short = numbers.below(5)
        let kind = numbers.below(17)
        log.append("\(context === sibling ? "elsewhere" : "edit") \(kind)")
        switch kind {
        case 0, 1, 2, 3:
            let entity = numbers.pick(["Book", "Book", "Novel"])
            let book = context.insert(
                entity, ["title": "title \(short)", "code": "code \(count)", "pages": numbers.below(8)])
            if numbers.chance(2) { book.setValue(try any("Author", context), forKey: "author") }
            if numbers.chance(2) { book.setValue("shelf \(short)", forKey: "shelf") }
            book.setValue(count, forKey: "place")
        case 4, 5: if let book = try any("Book", context) { context.delete(book) }
        case 6, 7: try any("Book", context)?.setValue("title \(short)", forKey: "title")
        case 8, 9: try any("Book", context)?.setValue(numbers.below(8), forKey: "pages")
        case 10: try any("Book", context)?.setValue(numbers.chance(4) ? nil : "shelf \(short)", forKey: "shelf")
        case 11:
            try any("Book", context)?.setValue(
                numbers.chance(4) ? nil : try any("Author", context), forKey: "author")
        case 12: _ = context.insert("Author", ["name": "author \(count)", "rating": Double(short)])
        case 13: try any("Author", context)?.setValue("author \(count)", forKey: "name")
        case 14:
            guard let author = try any("Author", context) else { return }
            if numbers.chance(3) { context.delete(author) } else { author.setValue(Double(short), forKey: "rating") }
        case 15:
            guard let tag = numbers.chance(2) ? try any("Tag", context) : nil else {
                _ = context.insert("Tag", ["name": "tag \(count)", "heft": short])
                return
            }
            tag.setValue(short, forKey: "heft")
        default:
            guard let book = try any("Book", context), let tag = try any("Tag", context) else { return }
            let tags = book.mutableOrderedSetValue(forKey: "tags")
            if tags.contains(tag) { tags.remove(tag) } else { tags.add(tag) }
        }
    }
}
